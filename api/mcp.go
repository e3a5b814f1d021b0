package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"unicode/utf8"

	"memd"
	"memd/api/mcp"
)

// mcpPath is where the Model Context Protocol is spoken.
const mcpPath = "/mcp"

// eventStream is the content type of server-sent events.
const eventStream = "text/event-stream"

// newMCP makes the handler of /mcp. Its calls go through the table of calls like
// any other, as the caller of the session and within that caller's limits.
func (s *Server) newMCP(opts *Options) *mcp.Handler {
	limited := s.limited(s.mux)
	return mcp.NewHandler(mcp.HandlerOptions{
		REST: s.outer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isLimited(r.Context()) {
				limited.ServeHTTP(w, r)
				return
			}
			s.mux.ServeHTTP(w, r)
		})),
		Caller: func(r *http.Request) memd.Caller { return callerOf(r.Context()) },
		As: func(ctx context.Context, c memd.Caller) context.Context {
			return context.WithValue(ctx, callerKey{}, c)
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *memd.Error) { s.refuse(w, r, e) },
		Fence:  opts.Fence, Version: opts.Version, Log: s.log,
	})
}

// serveMCP answers a request of the Model Context Protocol. Its body is read here,
// within the bounds of any other; the answer may be a stream that lives as long as
// its session.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, err := readBody(w, r, false)
		if err == nil && !utf8.Valid(body) { // JSON would silently carry another text
			err = memd.Errorf(memd.CodeInvalidRequest, "the body is not valid UTF-8")
		}
		if err == nil && !mcp.HasOwnID(body) {
			err = memd.FieldErrorf(memd.CodeInvalidRequest, "id", "an id is a string or a whole number of at most 53 bits")
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	s.mcp.ServeHTTP(w, r)
}
