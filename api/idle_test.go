package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// A server is idle once nobody used it for as long as is asked, a request that
// runs is use for all of its time, and what watches the daemon is none.
func TestIdle(t *testing.T) {
	for name, tt := range map[string]struct {
		path  string
		at    time.Duration // when the request begins
		takes time.Duration
		want  time.Duration // when the server is idle
	}{
		"nobody asks":           {want: time.Minute},
		"a request puts it off": {path: "/v1/stats", at: 50 * time.Second, want: 110 * time.Second},
		"a long one too":        {path: "/mcp", at: 10 * time.Second, takes: time.Hour, want: time.Hour + 70*time.Second},
		"liveness is no use":    {path: "/healthz", at: 50 * time.Second, want: time.Minute},
		"readiness is no use":   {path: "/readyz", at: 50 * time.Second, takes: time.Hour, want: time.Minute},
		"figures are no use":    {path: "/metrics", at: 50 * time.Second, want: time.Minute},
		"other spellings are":   {path: "/health%7A", at: 50 * time.Second, want: 110 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Server{use: newUse()}
				h := s.used(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(tt.takes) }))
				if tt.path != "" {
					go func() {
						time.Sleep(tt.at)
						h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, tt.path, nil))
					}()
				}
				began := time.Now()
				if !s.Idle(t.Context(), time.Minute) || time.Since(began) != tt.want {
					t.Errorf("idle after %s, want %s", time.Since(began), tt.want)
				}
				time.Sleep(2 * time.Hour) // for the request to end
			})
		})
	}
}

// Requests that overlap are use until the last one ends.
func TestIdleOverlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{use: newUse()}
		h := s.used(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(40 * time.Second) }))
		for i := range 5 {
			go func() {
				time.Sleep(time.Duration(i) * 30 * time.Second)
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/stats", nil))
			}()
		}
		began := time.Now()
		if !s.Idle(t.Context(), time.Minute) || time.Since(began) != (4*30+40+60)*time.Second {
			t.Errorf("idle after %s", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s.Idle(ctx, time.Minute) {
			t.Error("idle although its context ended first")
		}
	})
}

// On real sockets: whoever may not ask does not keep the daemon.
func TestUseIsByThoseWhoMayAsk(t *testing.T) {
	d := start(t, nil, nil)
	_, changed := d.server.use.now()
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true}).want(http.StatusUnauthorized)
	d.do(ask{method: "GET", path: "/v1/stats", token: "wrong"}).want(http.StatusUnauthorized)
	d.get("/healthz").want(http.StatusOK)
	if _, now := d.server.use.now(); now != changed {
		t.Error("a request without a valid token, or for health, is use")
	}
	d.do(ask{method: "GET", path: "/v1/stats", token: d.admin}).want(http.StatusOK)
	if _, now := d.server.use.now(); now == changed {
		t.Error("a request with the token is no use")
	}
	_, changed = d.server.use.now()
	d.get("/v1/stats").want(http.StatusOK)
	if _, now := d.server.use.now(); now == changed {
		t.Error("a request at the socket is no use")
	}
}
