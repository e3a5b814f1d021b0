package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
)

func TestReadiness(t *testing.T) {
	clock := memtest.NewClock()
	var p readiness
	probes, outcome := 0, error(nil)
	check := func() error {
		return p.check(context.Background(), clock.Now, func(context.Context) error { probes++; return outcome })
	}
	for _, step := range []struct {
		advance time.Duration
		outcome error
		probes  int
		fails   bool
	}{
		{0, nil, 1, false},
		{29 * time.Second, errors.New("full"), 1, false},
		{time.Second, errors.New("full"), 2, true},
		{29 * time.Second, nil, 2, true},
		{time.Second, nil, 3, false},
		{-time.Hour, errors.New("full"), 4, true}, // a clock that was put back
		{time.Second, nil, 4, true},
	} {
		clock.Advance(step.advance)
		outcome = step.outcome
		if err := check(); probes != step.probes || (err != nil) != step.fails {
			t.Errorf("after %v: %d probes, %v", step.advance, probes, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	clock.Advance(time.Minute)
	if err := p.check(ctx, clock.Now, func(ctx context.Context) error { return ctx.Err() }); err != nil {
		t.Errorf("a client that left failed everyone's probe: %v", err)
	}
}

// The clock is read while the outcome is held: of two callers that race, the
// one with the earlier time would else find the outcome of the future, and
// probe again.
func TestReadinessReadsTheClockOnce(t *testing.T) {
	clock := memtest.NewClock()
	var p readiness
	probes := 0
	for range 2 {
		now := func() time.Time {
			if p.mu.TryLock() {
				t.Error("the clock is read before the mutex is taken")
				p.mu.Unlock()
			}
			return clock.Now()
		}
		if err := p.check(context.Background(), now, func(context.Context) error { probes++; return nil }); err != nil {
			t.Error(err)
		}
	}
	if probes != 1 {
		t.Errorf("%d probes", probes)
	}
}

func TestHealth(t *testing.T) {
	d := start(t, nil, nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		r := d.do(ask{method: "GET", path: path, tcp: true}).want(200)
		if string(r.Body) != "{\"ok\":true}\n" {
			t.Errorf("%s: %q", path, r.Body)
		}
	}
	d.server.ready.last, d.server.ready.err = d.clock.Now(), &memd.Error{Code: memd.CodeBudgetExceeded, Message: "disk"}
	d.get("/readyz").refused(503, memd.CodeBudgetExceeded, "")
	d.get("/healthz").want(200)
	d.clock.Advance(time.Minute)
	d.get("/readyz").want(200)
}

func TestMetrics(t *testing.T) {
	d := start(t, nil, nil)
	m := d.short("a fact about metrics")
	d.get("/v1/memories/" + m.ID).want(200)
	d.get("/v1/memories/" + m.ID).want(200)
	d.get("/v1/nothing-here-" + m.ID).want(404)
	d.do(ask{method: "GET", path: "/v1/stats", tcp: true}).want(401)
	d.do(ask{method: "X" + strings.ReplaceAll(m.ID, "-", ""), path: "/v1/stats"}).want(405)
	d.post("/v1/recall", `{"query":"metrics"}`).want(200)
	d.post("/v1/recall", `{"query":"metrics","limit":1,"kinds":["event"]}`).want(200)
	d.post("/v1/recall", `{"query":"metrics","kinds":["rule"]}`).want(200)
	d.post("/v1/recall", `{"query":"zebra"}`).want(200)
	d.post("/v1/recall", `{"query":"zebra","limit":0}`).want(400)
	r := d.get("/metrics").want(200)
	text := string(r.Body)
	for _, line := range []string{
		`memd_http_requests_total{method="GET",route="/v1/memories/{id}",status="200"} 2`,
		`memd_http_requests_total{method="GET",route="none",status="404"} 1`,
		`memd_http_requests_total{method="GET",route="none",status="401"} 1`,
		`memd_http_request_duration_seconds_count{method="GET",route="/v1/memories/{id}"} 2`,
		`memd_recall_total{outcome="hit"} 2`,
		`memd_recall_total{outcome="empty"} 1`,
		`memd_recall_total{outcome="filtered"} 1`,
		`memd_recall_total{outcome="degraded"} 0`,
		`memd_rows{tier="short"} 1`,
		`memd_vectors 0`,
		`memd_vectors_pending 0`,
		`memd_vectors_parked 0`,
		`memd_store_readable 1`,
		`memd_store_bytes{state="used"} `,
		`memd_write_queue 0`,
		`memd_build_info{version="test"} 1`,
		`go_goroutines `,
		`process_open_fds `,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("metrics lack %s", line)
		}
	}
	if strings.Contains(text, m.ID) || strings.Contains(text, strings.ReplaceAll(m.ID, "-", "")) {
		t.Error("a label carries an id")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// What counts the whole store is not for who sees a part of it.
func TestMetricsOfTheConfined(t *testing.T) {
	d := start(t, nil, nil)
	for name, c := range map[string]struct {
		role       memd.Role
		namespaces []string
		status     int
	}{
		"prometheus": {memd.RoleRead, nil, 200}, "writer": {memd.RoleWrite, nil, 200}, "admins": {memd.RoleAdmin, nil, 200},
		"reader-of-one": {memd.RoleRead, []string{"default"}, 403}, "admin-of-one": {memd.RoleAdmin, []string{"default"}, 403},
	} {
		token := d.token(name, c.role, c.namespaces...)
		for _, method := range []string{"GET", "HEAD"} {
			if r := d.do(ask{method: method, path: "/metrics", token: token}); r.Status != c.status {
				t.Errorf("%s %s: %d, want %d", method, name, r.Status, c.status)
			}
		}
		if c.status != 200 {
			p := d.do(ask{method: "GET", path: "/metrics", token: token}).refused(403, memd.CodeForbidden, "")
			if !strings.Contains(p.Hint, "memd token new") {
				t.Errorf("%s: hint %q", name, p.Hint)
			}
		}
	}
}

func TestDocs(t *testing.T) {
	d := start(t, nil, nil)
	r := d.get("/docs").want(200)
	text := string(r.Body)
	for _, needle := range []string{"POST /v1/remember_long_term", `id="version_conflict"`, "409", "/openapi.json", "GET /readyz"} {
		if !strings.Contains(text, needle) {
			t.Errorf("docs lack %s", needle)
		}
	}
	for _, needle := range []string{"http:", "https:", "<script", "<img", "<link", "url(", "@import", "//"} {
		if strings.Contains(text, needle) {
			t.Errorf("docs hold %s", needle)
		}
	}
	policy := r.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "style-src 'sha256-") {
		t.Errorf("policy %q", policy)
	}
	for _, r := range []reply{d.get("/v1/stats"), d.get("/none"), d.do(ask{method: "GET", path: "/v1/stats", tcp: true})} {
		if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Cache-Control") != "no-store" ||
			r.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%d: headers %v", r.Status, r.Header)
		}
	}
	if got := r.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Error(got)
	}
	if http.DetectContentType(r.Body) != "text/html; charset=utf-8" {
		t.Error("docs are no HTML")
	}
}
