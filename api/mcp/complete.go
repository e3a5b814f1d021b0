package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

// Bounds of a completion.
const (
	maxCompletions = 100 // the protocol's
	maxLooked      = 10  // pages of each namespace
)

// complete offers the values of an argument that begin with what is written.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	ctx, cancel := s.until(ctx)
	defer cancel()
	found := finding{begins: req.Params.Argument.Value, values: []string{}}
	var err error
	switch req.Params.Argument.Name {
	case "namespace":
		for _, ns := range s.reads() {
			found.add(ns)
		}
		if s.opts.Caller != nil {
			for _, ns := range s.opts.Caller().Namespaces {
				found.add(ns)
			}
		}
	case "session", "session_id":
		found.add(s.session)
	case "memory_key":
		err = s.look(ctx, req, &found, func(m *memd.Memory) { found.add(m.MemoryKey) })
	case "tag", "tags":
		err = s.look(ctx, req, &found, func(m *memd.Memory) {
			for _, tag := range m.Tags {
				if s.fence.Line(tag) == tag { // one that needs changing would find nothing
					found.add(tag)
				}
			}
		})
	}
	if err != nil {
		return nil, protocolError(s.told(ctx, "completion/complete", err))
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: found.values, HasMore: found.more}}, nil
}

// finding gathers values.
type finding struct {
	begins string
	values []string
	more   bool // there are others
}

func (f *finding) add(value string) {
	switch {
	case value == "" || !strings.HasPrefix(value, f.begins) || slices.Contains(f.values, value):
	case len(f.values) == maxCompletions:
		f.more = true
	default:
		f.values = append(f.values, value)
	}
}

// look goes through the memories of the namespace that the request has chosen
// already, or of those that the session reads, until enough is found.
func (s *Server) look(ctx context.Context, req *sdk.CompleteRequest, found *finding, each func(*memd.Memory)) error {
	var named []string
	if c := req.Params.Context; c != nil && c.Arguments["namespace"] != "" {
		named = []string{c.Arguments["namespace"]}
	}
	c := s.client(ctx)
	_, err := reading(ctx, s, c, named, func(names []string) (struct{}, error) {
		for _, ns := range names {
			next := memd.List{Namespace: ns, Limit: memd.MaxListLimit, Access: s.opts.Access}
			for range maxLooked {
				reply, err := c.List(ctx, next)
				if err != nil {
					return struct{}{}, err
				}
				for i := range reply.Value.Memories {
					each(&reply.Value.Memories[i])
				}
				if next.Cursor = reply.Value.NextCursor; next.Cursor == "" || found.more {
					break
				}
			}
		}
		return struct{}{}, nil
	})
	return err
}
