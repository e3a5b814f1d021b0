package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/groom"
	"memd/store"
)

// hold keeps the store's writer to itself until the function it returns is
// called.
func (d *daemon) hold() (release func()) {
	d.t.Helper()
	held, let, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- d.store.Update(context.Background(), func(*store.Tx) error { close(held); <-let; return nil })
	}()
	<-held
	return func() {
		d.t.Helper()
		close(let)
		if err := <-done; err != nil {
			d.t.Error(err)
		}
	}
}

// running is how far the groom under way has come, by GET /v1/groom.
func (d *daemon) running() *groom.Progress {
	d.t.Helper()
	var past groomReports
	d.get("/v1/groom").want(200).into(&past)
	return past.Running
}

// measured wants lines of /metrics, and none that begins as those without do.
func (d *daemon) measured(lines, without []string) {
	d.t.Helper()
	measured(d.t, string(d.get("/metrics").want(200).Body), lines, without)
}

func measured(t testing.TB, text string, lines, without []string) {
	t.Helper()
	text = "\n" + text
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
	for _, start := range without {
		if strings.Contains(text, "\n"+start) {
			t.Errorf("metrics have %s", start)
		}
	}
}

// While a groom is under way it tells how far it has come, and a second one is
// refused.
func TestGroomUnderWay(t *testing.T) {
	d := start(t, nil, nil)
	if p := d.running(); p != nil {
		t.Errorf("at rest: %+v", p)
	}
	expires := memd.At(d.clock.Now().Add(time.Hour))
	d.post("/v1/remember", `{"summary":"for an hour","expires_at":"`+expires.String()+`"}`).want(201)
	d.clock.Advance(2 * time.Hour)
	release := d.hold()
	first := make(chan reply)
	go func() { first <- d.post("/v1/groom", `{"light":true}`) }()
	var p *groom.Progress
	for deadline := time.Now().Add(20 * time.Second); p == nil && time.Now().Before(deadline); {
		p = d.running()
	}
	if p == nil || p.Pass != "expire_transient" || !p.Light || p.DryRun || p.StartedAt != d.store.Now() {
		t.Errorf("under way: %+v", p)
	}
	d.measured([]string{"memd_groom_running 1"}, nil)
	d.post("/v1/groom", "").refused(http.StatusServiceUnavailable, memd.CodeStoreBusy, "")
	release()
	(<-first).want(200)
	if p := d.running(); p != nil {
		t.Errorf("afterwards: %+v", p)
	}
	d.measured([]string{"memd_groom_running 0", `memd_groom_runs_total{kind="light",outcome="whole"} 1`}, nil)
}

func TestGroomMetrics(t *testing.T) {
	d := start(t, nil, nil)
	const last = "memd_groom_last_success_"
	d.measured([]string{
		`memd_groom_runs_total{kind="full",outcome="whole"} 0`, `memd_groom_runs_total{kind="full",outcome="failed"} 0`,
		`memd_groom_runs_total{kind="light",outcome="whole"} 0`, `memd_groom_runs_total{kind="light",outcome="failed"} 0`,
		`memd_groom_rows_total{pass="expire_transient"} 0`, `memd_groom_rows_total{pass="vacuum"} 0`,
		`memd_groom_skipped_total{pass="fold_access"} 0`, `memd_groom_freed_bytes_total 0`, `memd_groom_running 0`,
	}, []string{last, "memd_groom_pass_seconds"})

	expires := memd.At(d.clock.Now().Add(time.Hour))
	for _, text := range []string{"one", "two"} {
		d.post("/v1/remember", `{"summary":"`+text+`","expires_at":"`+expires.String()+`"}`).want(201)
	}
	d.clock.Advance(2 * time.Hour)
	d.post("/v1/groom", `{"dry_run":true}`).want(200)
	d.measured([]string{`memd_groom_runs_total{kind="full",outcome="whole"} 0`, `memd_groom_rows_total{pass="expire_transient"} 0`}, []string{last})
	d.post("/v1/groom", `{"light":true}`).want(200)
	d.measured([]string{
		`memd_groom_runs_total{kind="light",outcome="whole"} 1`, `memd_groom_runs_total{kind="full",outcome="whole"} 0`,
		`memd_groom_rows_total{pass="expire_transient"} 2`, `memd_groom_pass_seconds{pass="vacuum"} 0`,
		last + `age_seconds{kind="light"} 0`,
	}, []string{last + `age_seconds{kind="full"`, `memd_groom_pass_seconds{pass="enforce_budgets"`})
	d.clock.Advance(time.Hour)
	d.post("/v1/groom", "").want(200)
	d.clock.Advance(90 * time.Second)
	d.measured([]string{
		`memd_groom_runs_total{kind="full",outcome="whole"} 1`, `memd_groom_rows_total{pass="expire_transient"} 2`,
		last + `age_seconds{kind="full"} 90`, last + `age_seconds{kind="light"} 90`,
	}, nil)

	// Another process sees when that was, and nothing else.
	other := New(Options{Tiers: d.server.tiers, Recall: d.server.engine, Groom: groom.New(d.store, nil), Store: d.store, Version: "test"})
	answer := httptest.NewRecorder()
	other.Local().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	measured(t, answer.Body.String(), []string{
		last + `age_seconds{kind="full"} 90`, `memd_groom_runs_total{kind="full",outcome="whole"} 0`,
	}, nil)
}

// A groom in which a pass failed counts as failed, and is no success.
func TestFailedGroomMetrics(t *testing.T) {
	d := start(t, nil, nil)
	m := d.short("goes")
	d.patch("/v1/memories/"+m.ID, `{"expires_at":"`+memd.At(d.clock.Now().Add(time.Hour)).String()+`"}`).want(200)
	d.clock.Advance(2 * time.Hour)
	shell := func(sql string) {
		t.Helper()
		if out, err := exec.Command("sqlite3", "-cmd", ".timeout 5000", filepath.Join(d.dir, store.ActiveName), sql).CombinedOutput(); err != nil {
			t.Fatalf("sqlite3: %v: %s", err, out)
		}
	}
	shell(`CREATE TRIGGER stop BEFORE DELETE ON short BEGIN SELECT RAISE(ABORT, 'no'); END`)
	d.post("/v1/groom", "").want(200)
	d.measured([]string{`memd_groom_runs_total{kind="full",outcome="failed"} 1`, `memd_groom_runs_total{kind="full",outcome="whole"} 0`},
		[]string{"memd_groom_last_success_"})
	shell(`DROP TRIGGER stop`)
}
