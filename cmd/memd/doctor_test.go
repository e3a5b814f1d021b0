package main

import (
	"bytes"
	"encoding/json"
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
