package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// rootsTimeout bounds the wait for a client's roots. Calls that wait with it
	// still have time once the client has closed its end: see lastAnswers.
	rootsTimeout = 500 * time.Millisecond
	// maxRoots bounds how many are looked at.
	maxRoots = 64
)

// asksRoots reports whether the client's roots may say the project.
func (s *Server) asksRoots() bool { return s.opts.ProjectOf != nil && s.opts.Project == "" }

// initialized asks the client for its roots, where they may say the project and it
// has some. Roots are deprecated: without an answer all is as without them.
func (s *Server) initialized(_ context.Context, req *sdk.InitializedRequest) {
	about := req.Session.InitializeParams()
	//lint:ignore SA1019 nothing depends on it, and older clients say nothing else
	if about == nil || about.Capabilities == nil || about.Capabilities.RootsV2 == nil {
		return
	}
	ctx, settled := context.WithTimeout(s.ending, s.patience)
	s.mu.Lock()
	s.rooting = ctx
	s.mu.Unlock()
	go func() {
		defer settled()
		defer func() {
			if thrown := recover(); thrown != nil {
				s.panicked("roots/list", thrown)
			}
		}()
		if id := s.rootsProject(ctx, req.Session); id != "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			if ctx.Err() == nil { // or calls went on without it
				s.opts.Project, s.seen = id, nil
			}
		}
	}()
}

// rootsProject is the project of the first of the client's roots that has one.
func (s *Server) rootsProject(ctx context.Context, session *sdk.ServerSession) string {
	//lint:ignore SA1019 nothing depends on it, and older clients say nothing else
	listed, err := session.ListRoots(ctx, nil)
	if err != nil {
		return ""
	}
	for _, root := range listed.Roots[:min(len(listed.Roots), maxRoots)] {
		if root == nil {
			continue
		}
		if folder := folderOf(root.URI); folder != "" {
			if id := s.opts.ProjectOf(folder); id != "" {
				return id
			}
		}
	}
	return ""
}

// folderOf is the folder of this machine that a URI names, "" for none.
func folderOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" { // /C:/src
		path = strings.TrimPrefix(path, "/")
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// settle waits until the project is known, where the client was asked.
func (s *Server) settle(ctx context.Context) {
	s.mu.Lock()
	rooting := s.rooting
	s.mu.Unlock()
	if rooting == nil {
		return
	}
	select {
	case <-rooting.Done():
	case <-ctx.Done():
	}
}

// defaults are those of the session by now.
func (s *Server) defaults() Defaults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Defaults
}
