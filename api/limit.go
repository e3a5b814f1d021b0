package api

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"memd"
)

// crowded turns away who has a connection beyond the cap, but for what tells
// how the daemon fares.
func (s *Server) crowded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !linkOf(r.Context()).spare {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		if path := bare(r); open(path) || path == "/metrics" {
			next.ServeHTTP(w, r)
			return
		}
		s.metrics.limited("connections")
		s.refuse(w, r, memd.Errorf(memd.CodeStoreBusy, "too many connections are open").
			WithHint("close idle connections, or raise limits.connections in memd.yaml"))
	})
}

type boundedKey struct{}

// isLimited reports whether a request counts towards the limits.
func isLimited(ctx context.Context) bool { return ctx.Value(boundedKey{}) != nil }

// limited bounds how often a caller may ask, and has the requests that run
// count towards the cap.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callerOf(r.Context())
		if c.Role == "" { // on a path that needs no token
			next.ServeHTTP(w, r)
			return
		}
		if wait, ok := s.rates.Take(c.Identity(), s.now()); !ok {
			s.tooMany(w, r, "caller", wait, "this caller makes too many requests")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), boundedKey{}, true)))
	})
}

// tooMany answers 429 with when to come again.
func (s *Server) tooMany(w http.ResponseWriter, r *http.Request, limit string, wait time.Duration, what string) {
	s.metrics.limited(limit)
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	s.refuse(w, r, memd.Errorf(memd.CodeRateLimited, "%s", what).WithHint("wait as long as Retry-After says"))
}

// begin takes a place for a request that is to run. Its body has been read by
// then, so that none waits for a slow client.
func (s *Server) begin(ctx context.Context) (end func(), err error) {
	if !isLimited(ctx) { // the administrator of this machine
		return func() {}, nil
	}
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places }, nil
	default:
		s.metrics.limited("requests")
		return nil, memd.Errorf(memd.CodeStoreBusy, "too many requests run at a time").
			WithHint("try again, or raise limits.requests in memd.yaml")
	}
}

// failed answers a request without a valid token.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, given bool) {
	reason := "missing"
	if given {
		reason = "invalid"
	}
	s.metrics.authFailed(reason)
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address stands for those it is not
	if wait, ok := s.failures.Take(from.Addr(), s.now()); !ok {
		s.tooMany(w, r, "address", wait, "this address shows too many requests without a valid token")
		return
	}
	s.refuse(w, r, unauthorized(w, given))
}

// unauthorized is the refusal of a request without a valid token, whose challenge it
// sets.
func unauthorized(w http.ResponseWriter, given bool) error {
	challenge := `Bearer realm="memd"`
	if given {
		challenge += `, error="invalid_token"` // RFC 6750 section 3.1
	}
	w.Header().Set("WWW-Authenticate", challenge)
	return memd.Errorf(memd.CodeUnauthorized, "a valid token is needed").
		WithHint("send Authorization: Bearer with the text of the file token in the data directory, or a token made by `memd token new`")
}
