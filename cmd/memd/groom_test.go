package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"memd"
	"memd/api/client"
	"memd/groom"
	"memd/internal/dirlock"
	"memd/store"
)

// shell runs SQL on the box's database in the stock shell.
func (b *box) shell(sql string) string {
	b.t.Helper()
	out, err := exec.Command("sqlite3", "-bail", "-cmd", ".timeout 5000", filepath.Join(b.dir, store.ActiveName), sql).CombinedOutput()
	if err != nil {
		b.t.Fatalf("sqlite3: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// hold has the stock shell keep writers off the box's database until release is
// called.
func (b *box) hold() (release func()) {
	b.t.Helper()
	cmd := exec.Command("sqlite3", "-batch", "-bail", "-cmd", ".timeout 5000", filepath.Join(b.dir, store.ActiveName))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	_, err = io.WriteString(in, "BEGIN IMMEDIATE; SELECT 'held';\n")
	if line, _ := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		b.t.Fatalf("the shell says %q, error %v", line, err)
	}
	return func() {
		b.t.Helper()
		_ = in.Close() // which ends the shell, and with it the transaction
		if err := cmd.Wait(); err != nil {
			b.t.Error(err)
		}
	}
}

// grooms are the last runs, newest first, by GET /v1/groom.
func (b *box) grooms() (past client.GroomReports) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.must("groom", "--reports", "--json")), &past); err != nil {
		b.t.Fatal(err)
	}
	return past
}

// A daemon over a fresh folder grooms nothing at its start; one whose last grooms
// are weeks ago makes up for them by itself, by one full run, and not again.
func TestScheduledGroom(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "MEMD_GROOM_SCHEDULE=@every 168h", "MEMD_GROOM_LIGHT=@every 1h")
	b.must("remember", "worth keeping")
	set := func(key string) {
		b.shell(`INSERT OR REPLACE INTO meta (key, value, updated_at) VALUES ('` + key + `', '2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05.000Z')`)
	}

	d := b.serve()
	eventually(t, "the schedule begins", func() bool {
		return b.shell(`SELECT count(*) FROM meta WHERE key = 'groom_scheduled_from'`) == "1"
	})
	d.stop()
	if past := b.grooms(); len(past.Reports) != 0 {
		t.Errorf("a first start groomed: %+v", past)
	}

	set("groom_scheduled_from")
	d = b.serve()
	eventually(t, "the missed groom", func() bool { return len(b.grooms().Reports) > 0 })
	d.stop()
	past := b.grooms().Reports
	if len(past) != 1 || past[0].Light || !past[0].Whole() || !strings.Contains(d.log.String(), `"msg":"scheduled job done","job":"groom"`) || strings.Contains(d.log.String(), "groom done") {
		t.Fatalf("%+v; logged %s", past, d.log.String())
	}

	set("last_light_groom_at")
	d = b.serve()
	eventually(t, "the missed light groom", func() bool { return len(b.grooms().Reports) > 1 })
	d.stop()
	if past := b.grooms().Reports; len(past) != 2 || !past[0].Light || past[1].Light {
		t.Errorf("%+v", past)
	}
}

// While the daemon grooms, a second groom is refused.
func TestGroomBesideGroom(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	release := b.hold()
	first := make(chan result, 1)
	go func() { first <- b.run("groom") }()
	eventually(t, "the first groom is under way", func() bool { return b.grooms().Running != nil })
	if r := b.run("groom", "--light"); r.code != memd.ExitBusy || !strings.Contains(r.err, "a groom is running") {
		t.Errorf("the second: exit code %d: %s%s", r.code, r.out, r.err)
	}
	release()
	// On a slow machine the shell may have had the database for too long.
	if r := <-first; r.code != 0 && (r.code != memd.ExitFailed || !strings.Contains(r.err, "(store_busy)")) {
		t.Errorf("the first: exit code %d: %s%s", r.code, r.out, r.err)
	}
	b.must("groom", "--light")
	d.stop()
}

// A daemon that is told to end cuts off a groom that was asked for, and says so.
func TestGroomIsCutOffByTheEnd(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	release := b.hold()
	asked := make(chan result, 1)
	go func() { asked <- b.run("groom") }()
	eventually(t, "the groom is under way", func() bool { return b.grooms().Running != nil })
	d.signal(syscall.SIGTERM)
	eventually(t, "the daemon takes no more requests", func() bool {
		c, err := net.Dial("unix", filepath.Join(b.dir, dirlock.SocketName))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	release()
	r := <-asked
	if r.code != memd.ExitBusy || !strings.Contains(r.err, "the next run goes on where this stopped") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	if code := d.wait(); code != 0 || strings.Contains(d.log.String(), "cut off") {
		t.Errorf("the daemon exits %d: %s", code, d.log.String())
	}
	if past := b.grooms(); len(past.Reports) != 0 {
		t.Errorf("%+v", past)
	}
	b.must("groom")
}

// A groom that was asked for leaves one line in the log, a dry one none.
func TestGroomIsLogged(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	b.must("remember", "worth keeping")
	b.must("groom", "--dry-run")
	b.must("groom", "--light")
	d.stop()
	log := d.log.String()
	if strings.Count(log, `"msg":"groom done"`) != 1 || !strings.Contains(log, `"msg":"groom done","light":true,"dry_run":false,"changed":`) {
		t.Error(log)
	}
}

// Without a daemon the second groom waits for the folder, and then runs.
func TestGroomsTakeTurns(t *testing.T) {
	b := newBox(t)
	b.must("remember", "worth keeping")
	lock, err := dirlock.Acquire(context.Background(), b.dir, patience, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan result, 2)
	for range 2 {
		go func() { done <- b.run("groom", "--wait", patience.String()) }()
	}
	if r := b.run("groom", "--wait", "0s"); r.code != memd.ExitBusy {
		t.Errorf("without a wait: exit code %d: %s", r.code, r.err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := <-done; r.code != 0 {
			t.Errorf("exit code %d: %s", r.code, r.err)
		}
	}
	past := b.grooms().Reports
	if len(past) != 2 || past[0].StartedAt.Before(past[1].FinishedAt.Time) {
		t.Errorf("%+v", past)
	}
}

// A groom in which a pass fails exits 1 and names it, after its report.
func TestGroomFails(t *testing.T) {
	b := newBox(t)
	b.must("remember", "expires", "--expires-at", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	b.shell(`UPDATE short SET expires_at = '2026-01-02T03:04:05.000Z'; CREATE TRIGGER stop BEFORE DELETE ON short BEGIN SELECT RAISE(ABORT, 'no'); END`)
	r := b.run("groom")
	if r.code != memd.ExitFailed || !strings.Contains(r.err, "expire_transient (store_failed)") || !strings.Contains(r.out, "vacuum") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	b.shell(`DROP TRIGGER stop`)
	b.must("groom")
}

// A report for people shows ids where it is asked to, and how many it leaves out.
func TestGroomText(t *testing.T) {
	var text strings.Builder
	r := groom.Report{Light: true, Passes: []groom.Pass{
		{Name: "expire_transient", Planned: 3, Changed: 2, Skipped: 1, Capped: true, Bytes: 4096, MS: 1.25, IDs: []string{"a", "b"}, MoreIDs: 7},
		{Name: "report_duplicates", Planned: 12, IDs: []string{}, Pairs: slices.Repeat([]groom.Pair{{Namespace: "ns", Keys: [2]string{"k1", "k2"}, Reason: "equal_content"}}, 11)},
		{Name: "vacuum", IDs: []string{}, Error: "store_busy"},
	}}
	groomed(&text, r, false)
	if got := text.String(); strings.Count(got, "  k1 and k2 in ns (equal_content)\n") != 10 || !strings.Contains(got, "  and 2 more; ") || !strings.Contains(got, "4096") || !strings.Contains(got, "capped") || !strings.Contains(got, "store_busy") {
		t.Error(got)
	}
	text.Reset()
	groomed(&text, r, true)
	if got := text.String(); !strings.HasSuffix(got, "expire_transient\n  a\n  b\n  and 7 more\n") {
		t.Error(got)
	}
}
