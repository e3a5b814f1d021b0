package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"memd"
)

// aside is a route outside /v1: it serves operators and their tools, and agents.
type aside struct {
	method, path, id, summary string
	contentType               string // of the answer, "" for none
	serve                     http.HandlerFunc
}

func (s *Server) beside() []aside {
	const get, post, end = http.MethodGet, http.MethodPost, http.MethodDelete
	return []aside{
		{get, "/healthz", "healthz", "Whether the process answers; needs no token", "application/json", s.healthz},
		{get, "/readyz", "readyz", "Whether the store takes writes; needs no token", "application/json", s.readyz},
		{get, "/metrics", "metrics", "Counts and durations for Prometheus; not for callers confined to namespaces", "text/plain", s.serveMetrics},
		{get, "/openapi.json", "openapi", "This document", "application/json", s.serveOpenAPI},
		{get, "/docs", "docs", "The calls and the error codes, for people", "text/html", s.serveDocs},
		{post, mcpPath, "mcp", "Send a message of the Model Context Protocol (streamable HTTP)", eventStream, s.serveMCP},
		{get, mcpPath, "mcpStream", "Listen to a session of the Model Context Protocol, or resume a stream of it", eventStream, s.serveMCP},
		{end, mcpPath, "mcpEnd", "End a session of the Model Context Protocol with its notes", "", s.serveMCP},
	}
}

// state is the answer of the health checks.
type state struct {
	OK bool `json:"ok"`
}

func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, http.StatusOK, state{OK: true})
}

// readyz answers 503 while the store takes no writes.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	err := s.ready.check(r.Context(), s.now, func(ctx context.Context) error {
		err := s.store.Probe(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "write probe failed", "request_id", requestID(ctx), "error", err)
		}
		return err
	})
	if err != nil {
		s.write(w, r, http.StatusServiceUnavailable,
			memd.Errorf(memd.CodeOf(err), "the store takes no writes").WithHint("the log names the cause; `memd doctor` looks for faults"))
		return
	}
	s.answer(w, r, http.StatusOK, state{OK: true})
}

// Bounds on the write probe.
const (
	probeEvery   = 30 * time.Second // at most one probe in this time (contract section 5)
	probeTimeout = 5 * time.Second
)

// readiness remembers the outcome of the last write probe.
type readiness struct {
	mu   sync.Mutex
	last time.Time // zero before the first probe
	err  error
}

// check returns the outcome of a probe that is at most probeEvery old, running
// one if there is none. Concurrent callers share it.
func (p *readiness) check(ctx context.Context, clock func() time.Time, probe func(context.Context) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock() // not before: another caller may have probed while this one waited
	// A clock that was put back makes an outcome as old as none.
	if age := now.Sub(p.last); !p.last.IsZero() && age >= 0 && age < probeEvery {
		return p.err
	}
	// The outcome is everyone's: it must not depend on one client's patience.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	p.last, p.err = now, probe(ctx)
	return p.err
}

// serveMetrics counts the whole store, other namespaces with it.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if callerOf(r.Context()).Namespaces != nil {
		s.refuse(w, r, memd.Errorf(memd.CodeForbidden, "the metrics count all namespaces, and this caller is confined to some").
			WithHint("use a token that sees all of them: memd token new prometheus --role read"))
		return
	}
	s.metrics.ServeHTTP(w, r)
}

func (s *Server) serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, "application/json", s.openapi)
}

func (s *Server) serveDocs(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Security-Policy", s.docs.policy)
	send(w, http.StatusOK, "text/html; charset=utf-8", s.docs.body)
}
