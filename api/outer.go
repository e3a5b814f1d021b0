package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/go-chi/chi/v5"

	"memd"
)

type requestKey struct{}

// requestID returns the id of a request: random, made by the daemon, in every
// problem and in the header X-Request-Id.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// routeOf returns the pattern of the route that took the request, "" before or
// without one.
func routeOf(r *http.Request) string {
	if rctx := chi.RouteContext(r.Context()); rctx != nil {
		return rctx.RoutePattern()
	}
	return ""
}

// outer is what surrounds every request: an id, the headers that keep a
// browser from doing more than it was asked for, a net for panics, a count.
func (s *Server) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.now()
		rec := &recorder{ResponseWriter: w}
		// The router writes the route's pattern into this context, where it
		// can still be read when the request is done.
		rctx := chi.NewRouteContext()
		rctx.Routes = s.mux
		ctx := context.WithValue(r.Context(), chi.RouteCtxKey, rctx)
		ctx = context.WithValue(ctx, requestKey{}, rand.Text())
		r = r.WithContext(ctx)
		secure(rec.Header())
		rec.Header().Set("X-Request-Id", requestID(ctx))

		defer func() {
			took := s.now().Sub(began)
			s.metrics.served(rctx.RoutePattern(), r.Method, rec.code(), took)
			s.log.LogAttrs(ctx, slog.LevelDebug, "request served", slog.String("request_id", requestID(ctx)),
				slog.String("route", rctx.RoutePattern()), slog.String("method", knownMethod(r.Method)),
				slog.Int("status", rec.code()), slog.Duration("took", took))
		}()
		defer s.catch(rec, r)
		next.ServeHTTP(rec, r)
	})
}

// catch turns a panic into a refusal. What was thrown may hold a body, so only
// its type is logged.
func (s *Server) catch(rec *recorder, r *http.Request) {
	thrown := recover()
	if thrown == nil {
		return
	}
	if thrown == http.ErrAbortHandler {
		panic(thrown)
	}
	s.log.ErrorContext(r.Context(), "request panicked", "request_id", requestID(r.Context()),
		"route", routeOf(r), "panic_type", fmt.Sprintf("%T", thrown), "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler) // too late to answer: cut the connection
	}
	s.write(rec, r, http.StatusInternalServerError,
		memd.Errorf(memd.CodeStoreFailed, "the request failed inside memd").WithHint("the log names the cause beside the request_id"))
}

// secure sets the headers of every answer.
func secure(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int // 0 until one was sent
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	return rec.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController through.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

func (rec *recorder) code() int {
	if rec.status == 0 {
		return http.StatusOK
	}
	return rec.status
}

// getForHead routes a HEAD request as a GET; net/http leaves out the body.
func getForHead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// knownMethod bounds what a method can be in a log or a label.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete,
		http.MethodPut, http.MethodOptions:
		return method
	}
	return "other"
}

// allowed lists the methods that the path of r takes.
func (s *Server) allowed(r *http.Request) []string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if !s.mux.Match(chi.NewRouteContext(), method, path) {
			continue
		}
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	return methods
}
