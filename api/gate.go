package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"memd"
)

type callerKey struct{}

// callerOf returns who sent the request: nobody, without a role, unless a gate
// let them in.
func callerOf(ctx context.Context) memd.Caller {
	c, _ := ctx.Value(callerKey{}).(memd.Caller)
	return c
}

func withCaller(r *http.Request, c memd.Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// local lets everyone in as the administrator of this machine.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, withCaller(r, memd.LocalAdmin()))
	})
}

// sameOrigin refuses what a web page of another site makes a browser send. The
// Host must be one of this daemon's names, or a page whose name was pointed at
// this machine could speak to it as its own origin (DNS rebinding; CVE-2026-34742
// is one of many). An Origin must be that Host, and Sec-Fetch-Site, where a
// browser sends it, must not tell of another site.
func (s *Server) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var what string
		switch {
		case !s.knows(hostname(r.Host)):
			what = "Host"
		case !originIs(r.Header.Values("Origin"), r.Host):
			what = "Origin"
		case !siteIs(r.Header.Values("Sec-Fetch-Site")):
			what = "Sec-Fetch-Site"
		default:
			next.ServeHTTP(w, r)
			return
		}
		s.farewell(w, r)
		s.refuse(w, r, memd.Errorf(memd.CodeForbidden, "the request's %s is foreign", what).
			WithHint("use localhost or 127.0.0.1, or add the name under hosts: in memd.yaml"))
	})
}

// knows reports whether a Host names this daemon: as a loopback address or
// localhost, or by a name of Options.Hosts. No page can rebind an address.
func (s *Server) knows(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || s.hosts[canonical(host)]
}

// canonical is the one spelling of a host: an address as net.IP writes it, a
// name in lower case.
func canonical(host string) string {
	if ip := net.ParseIP(host); ip != nil {
		return ip.String()
	}
	return strings.ToLower(host)
}

// hostname is the name in a Host header, without port and brackets; "" where
// the header is malformed. Only an IPv6 address stands in brackets (RFC 3986
// section 3.2.2).
func hostname(host string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
		if inner, ok := strings.CutPrefix(host, "["); ok {
			if name, ok = strings.CutSuffix(inner, "]"); !ok {
				return ""
			}
		}
	}
	if strings.Trim(port, "0123456789") != "" || strings.HasPrefix(host, "[") && !strings.Contains(name, ":") {
		return ""
	}
	return name
}

// originIs reports whether a request has no Origin, or that of host, port
// included.
func originIs(origins []string, host string) bool {
	for _, origin := range origins {
		if !strings.EqualFold(origin, "http://"+host) && !strings.EqualFold(origin, "https://"+host) {
			return false
		}
	}
	return true
}

func siteIs(sites []string) bool {
	for _, site := range sites {
		if site != "same-origin" && site != "none" {
			return false
		}
	}
	return true
}

// drained is how much of a refused request's body is read, so that the client,
// still sending it, sees the answer and no reset: more than any call takes.
const drained = 4 * maxBody

// farewell ends the connection with the answer: who may not ask keeps none of
// the places that others could use.
func (s *Server) farewell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	if !oversized(r) {
		s.readRest(w, r)
	}
}

// oversized reports whether a request announces a body that no call takes. It is
// answered at once, and what it sends is read after that.
func oversized(r *http.Request) bool { return r.ContentLength > maxBody }

// readRest reads what is left of a refused request's body, unless reading would ask
// for it, and no more than drained nor longer than refused bodies may take: net/http
// would wait as long as for any other.
func (s *Server) readRest(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	conn := http.NewResponseController(w) // fails where there is no connection, and nothing to wait for
	if r.Header.Get("Expect") == "" {
		_ = conn.SetReadDeadline(s.wall().Add(s.bounds.refused))
		if _, err := io.CopyN(io.Discard, r.Body, drained); err == io.EOF {
			return
		}
	}
	_ = conn.SetReadDeadline(time.Unix(1, 0))
	w.Header().Set("Connection", "close")
	r.Body = http.NoBody // all that is wanted of it
}

// bare is the path of a request where it is written without escapes, else "".
func bare(r *http.Request) string {
	if r.URL.RawPath != "" {
		return ""
	}
	return r.URL.Path
}

// open are the paths that need no token.
func open(path string) bool { return path == "/healthz" || path == "/readyz" }

// authenticate finds the caller that holds the request's token.
func (s *Server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.authNone {
			next.ServeHTTP(w, withCaller(r, memd.LocalAdmin()))
			return
		}
		token, given := bearer(r.Header.Values("Authorization"))
		if given && s.tokens != nil {
			if c, ok := s.tokens.Caller(token); ok {
				r = withCaller(r, c)
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
				return
			}
		}
		s.farewell(w, r)
		if open(bare(r)) {
			next.ServeHTTP(w, r)
			return
		}
		s.failed(w, r, given)
	})
}

type tokenKey struct{}

// again asks anew who sent a request, whose body may have taken its time: a token that
// was revoked meanwhile writes nothing.
func (s *Server) again(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	token, ok := r.Context().Value(tokenKey{}).(string)
	if !ok { // not known by a token
		return r, nil
	}
	c, ok := s.tokens.Caller(token)
	if !ok {
		s.metrics.authFailed("invalid")
		return nil, unauthorized(w, true)
	}
	return withCaller(r, c), nil
}

// bearer reads the token of the one Authorization header.
func bearer(headers []string) (token string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token = strings.TrimSpace(token)
	return token, token != ""
}
