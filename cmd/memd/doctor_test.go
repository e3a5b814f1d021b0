package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/internal/dirlock"
	"memd/store"
)

func TestDoctor(t *testing.T) {
	b := newBox(t)
	if r := b.run("doctor", "--quick"); r.code != memd.ExitFailed || !strings.Contains(r.out, "memd serve") {
		t.Errorf("quick without a daemon: exit code %d: %s", r.code, r.out)
	}
	d := b.serve()
	if r := b.run("doctor", "--quick"); r.code != 0 {
		t.Errorf("quick with a daemon: exit code %d: %s", r.code, r.out)
	}
	token := filepath.Join(b.dir, "token")
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	r := b.run("doctor", "--json")
	if r.code != memd.ExitFailed || !strings.Contains(r.out, `{"ok":false,"findings":[{"check":"mode"`) || !strings.Contains(r.out, token) {
		t.Errorf("an open token: exit code %d: %s%s", r.code, r.out, r.err)
	}
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
	d.stop()

	other := newBox(t)
	if err := os.MkdirAll(other.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(other.dir, "agent_memory.db")
	if err := os.WriteFile(db, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, code := range map[string]int{"doctor": memd.ExitFailed, "list": memd.ExitFailed, "serve": memd.ExitFailed} {
		if r := other.run(args); r.code != code || !strings.Contains(r.out+r.err, db) {
			t.Errorf("%s of no database: exit code %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	if data, err := os.ReadFile(db); err != nil || !strings.HasPrefix(string(data), "no database") {
		t.Errorf("the file was touched: %.20q %v", data, err)
	}
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
}

// A damaged database is found out, whatever else there is to find, and the way
// out is not the doctor.
func TestDoctorOfADamagedDatabase(t *testing.T) {
	b := newBox(t)
	for i := range 20 {
		b.must("remember", fmt.Sprintf("event %d: %s", i, strings.Repeat("words that fill pages ", 100)))
	}
	db, token := filepath.Join(b.dir, "agent_memory.db"), filepath.Join(b.dir, "token")
	whole, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	b.must("token", "list") // writes the token file
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte("event 7: words"))
	if at < 0 {
		t.Fatal("the row is not in the database")
	}
	for what, noise := range map[string][2]int{ // from, to
		"a page of rows, which opens":    {at &^ 4095, at&^4095 + 100},
		"all but the first pages":        {1 << 15, len(whole)},
		"all but the header of the file": {100, len(whole)},
	} {
		broken := slices.Clone(whole)
		for i := noise[0]; i < noise[1]; i++ {
			broken[i] = byte(i*7 + 1)
		}
		if err := os.WriteFile(db, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		var answer struct {
			OK       bool
			Findings []store.Finding
		}
		r := b.run("doctor", "--json")
		if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != memd.ExitFailed {
			t.Errorf("%s: exit code %d: %v: %s%s", what, r.code, err, r.out, r.err)
		}
		if answer.OK || len(answer.Findings) < 2 || answer.Findings[0].Check != "mode" {
			t.Errorf("%s: %+v", what, answer)
		}
		r = b.run("doctor")
		if r.code != memd.ExitFailed || !strings.Contains(r.out, token) || strings.Count(r.out, "\n") < 3 ||
			strings.Contains(r.out+r.err, "run `memd doctor`") {
			t.Errorf("%s: exit code %d: %s%s", what, r.code, r.out, r.err)
		}
	}
	for _, name := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(db + name)
	}
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What was found before something barred the way is said too.
func TestDoctorBarred(t *testing.T) {
	b := newBox(t)
	b.must("token", "list")
	token := filepath.Join(b.dir, "token")
	if err := os.Chmod(token, 0o644); err != nil {
		t.Fatal(err)
	}
	lock, err := dirlock.Acquire(t.Context(), b.dir, 0, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := b.run("doctor", "--wait", "0s"); r.code != memd.ExitBusy || !strings.Contains(r.out, token) || !strings.Contains(r.err, "in use") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(token, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A historical database that is not there: the daemon starts and serves the
// rest, whoever asks for what it held is told of a failure, and put back it is
// served again.
func TestDoctorOfAMissingHistory(t *testing.T) {
	b := newBox(t)
	old := b.field("id", "remember", "the quokka of old")
	b.must("remember-long-term", "--key", "old/key", "--source", "AGENTS.md#x", "a fact of old")
	file := b.field("file", "rollover")
	b.must("remember", "the quokka of today")
	path := filepath.Join(b.dir, filepath.FromSlash(file))
	if err := os.Rename(path, b.dir+".away"); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(b.dir, "history", "notes.txt")
	if err := os.WriteFile(stray, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := b.serve()
	if r := b.run("get", old); r.code != memd.ExitFailed || !strings.Contains(r.err, filepath.Base(file)) {
		t.Errorf("get: exit code %d: %s", r.code, r.err)
	}
	if r := b.run("remember-long-term", "--key", "old/key", "--source", "AGENTS.md#x", "a newer fact"); r.code != memd.ExitFailed || !strings.Contains(r.err, filepath.Base(file)) {
		t.Errorf("a write to a key in it: exit code %d: %s", r.code, r.err)
	}
	if r := b.run("get", "01900000-0000-7000-8000-000000000999"); r.code != memd.ExitFailed {
		t.Errorf("get of an id that no readable file has: exit code %d: %s", r.code, r.err)
	}
	if out := b.must("recall", "quokka"); !strings.Contains(out, "of today") || !strings.Contains(out, "degraded: "+file+": 2 rows unavailable") {
		t.Errorf("recall: %s", out)
	}
	if r := b.run("context", "quokka"); r.code != 0 || !strings.Contains(r.out, "of today") || !strings.Contains(r.err, file+": 2 rows unavailable") {
		t.Errorf("context: exit code %d: %s%s", r.code, r.out, r.err)
	}
	if out := b.must("stats", "--json"); !strings.Contains(out, `"file":"`+file+`","state":"unavailable"`) {
		t.Errorf("stats: %s", out)
	}
	r := b.run("doctor")
	if r.code != memd.ExitFailed || !strings.Contains(r.out, "history_file: "+file+": 2 rows unavailable: it is missing") || !strings.Contains(r.out, "stray_file: history/notes.txt") {
		t.Errorf("doctor: exit code %d: %s%s", r.code, r.out, r.err)
	}
	d.stop()
	if r := b.run("doctor", "--repair"); r.code != memd.ExitFailed || strings.Contains(r.out, "mended") || !strings.Contains(r.out, "it is missing") {
		t.Errorf("doctor --repair: exit code %d: %s%s", r.code, r.out, r.err)
	}
	if text, err := os.ReadFile(stray); err != nil || string(text) != "somebody's" {
		t.Errorf("the stray file: %q, %v", text, err)
	}
	if err := errors.Join(os.Remove(stray), os.Rename(b.dir+".away", path)); err != nil {
		t.Fatal(err)
	}
	d = b.serve()
	if out := b.must("recall", "quokka"); !strings.Contains(out, "of old") || strings.Contains(out, "degraded") {
		t.Errorf("put back: %s", out)
	}
	b.must("remember-long-term", "--key", "old/key", "--source", "AGENTS.md#x", "a newer fact")
	d.stop()
}
