package guard

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
)

// print is the n-th fingerprint of these tests.
func print(n int) string { return fmt.Sprintf("%032x", n) }

func openAllowed(t *testing.T, dir string) *Allowed {
	t.Helper()
	a, err := OpenAllowed(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What one process allows or revokes, another sees at its next question.
func TestAllowed(t *testing.T) {
	dir := t.TempDir()
	one, other := openAllowed(t, dir), openAllowed(t, dir)
	if !bytes.Equal(one.Key(), other.Key()) || len(one.Key()) != 32 {
		t.Errorf("keys of %d and %d bytes", len(one.Key()), len(other.Key()))
	}
	if other.Has(print(1)) {
		t.Error("allowed before anybody did")
	}
	if _, err := one.Allow(strings.ToUpper(print(10)), "a made-up key of the manual"); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Allow(print(1), "first"); err != nil {
		t.Fatal(err)
	}
	if !other.Has(print(1)) || !other.Has(print(10)) || other.Has(print(2)) {
		t.Error("another process does not see what was allowed")
	}
	if _, err := other.Allow(print(1), "second"); err != nil {
		t.Fatal(err)
	}
	list, err := one.List()
	if err != nil || len(list) != 2 || list[1].Fingerprint != print(1) || list[1].Reason != "second" || list[1].CreatedAt.IsZero() {
		t.Errorf("list %v, %v", list, err)
	}
	if err := other.Revoke(print(1)); err != nil || one.Has(print(1)) || !one.Has(print(10)) {
		t.Errorf("revoked: %v", err)
	}
	if err := other.Revoke(print(1)); memd.CodeOf(err) != memd.CodeNotFound {
		t.Errorf("revoked twice: %v", err)
	}
	for _, name := range []string{KeyFile, AllowedFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A change of the same size within one tick of the file system's clock is seen too.
func TestAllowedWithinATick(t *testing.T) {
	dir := t.TempDir()
	a := openAllowed(t, dir)
	path, tick := filepath.Join(dir, AllowedFile), time.Now()
	for _, c := range []struct{ now, before int }{{1, 2}, {2, 1}, {1, 2}} {
		line := fmt.Appendf(nil, `{"fingerprint":"%s","reason":"r","created_at":"2026-11-30T02:00:00.000Z"}`+"\n", print(c.now))
		if err := os.WriteFile(path, line, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, tick, tick); err != nil {
			t.Fatal(err)
		}
		if !a.Has(print(c.now)) || a.Has(print(c.before)) {
			t.Errorf("%d passes: %v, %d passes: %v", c.now, a.Has(print(c.now)), c.before, a.Has(print(c.before)))
		}
	}
}

func TestAllowRefuses(t *testing.T) {
	a := openAllowed(t, t.TempDir())
	for _, c := range []struct{ fingerprint, reason, field string }{
		{"", "r", "fingerprint"}, {print(1)[1:], "r", "fingerprint"}, {print(1) + "0", "r", "fingerprint"}, {"Tiger#2024x", "r", "fingerprint"},
		{print(1), "", "reason"}, {print(1), " r", "reason"}, {print(1), "two\nlines", "reason"}, {print(1), strings.Repeat("r", MaxReasonChars+1), "reason"},
	} {
		_, err := a.Allow(c.fingerprint, c.reason)
		if e, ok := err.(*memd.Error); !ok || e.Field != c.field || e.Code != memd.CodeInvalidRequest || strings.Contains(e.Message, "Tiger") {
			t.Errorf("%q, %q: %v", c.fingerprint, c.reason, err)
		}
	}
	if list, err := a.List(); err != nil || list == nil || len(list) != 0 {
		t.Errorf("list %v, %v", list, err)
	}
}

// The list is bounded, and a full one still takes a new reason.
func TestAllowedIsBounded(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for n := range MaxAllowed {
		fmt.Fprintf(&b, `{"fingerprint":"%s","reason":"r","created_at":"2026-11-30T02:00:00.000Z"}`+"\n", print(n))
	}
	if err := os.WriteFile(filepath.Join(dir, AllowedFile), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	a := openAllowed(t, dir)
	if _, err := a.Allow(print(MaxAllowed), "r"); memd.CodeOf(err) != memd.CodeBudgetExceeded {
		t.Errorf("one more: %v", err)
	}
	if _, err := a.Allow(print(7), "again"); err != nil || !a.Has(print(7)) {
		t.Errorf("one of them: %v", err)
	}
}

// While the file cannot be trusted nothing passes, and the log says why.
func TestAllowedDamaged(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	a, err := OpenAllowed(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Allow(print(1), "r"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, AllowedFile)
	for _, damage := range []func() error{
		func() error { return os.Chmod(path, 0o644) },
		func() error { return os.WriteFile(path, []byte("{}\n"), 0o600) },
		func() error { return os.WriteFile(path, []byte(`{"fingerprint":"Tiger#2024x"}`), 0o600) },
		func() error { return os.WriteFile(path, []byte(strings.Repeat("\n", 5<<20)), 0o600) },
	} {
		log.Reset()
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if a.Has(print(1)) || !strings.Contains(log.String(), "allow-list refused") || strings.Contains(log.String(), "Tiger") {
			t.Errorf("log %q", log.String())
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", "00", strings.Repeat("g", 64)} {
		if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenAllowed(dir, nil); memd.CodeOf(err) != memd.CodeStoreFailed {
			t.Errorf("the key %q: %v", key, err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, KeyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAllowed(dir, nil); err == nil {
		t.Error("a key that others may read is taken")
	}
}

// A key that was lost is made anew, and the log and the doctor tell what that costs.
func TestLostKey(t *testing.T) {
	dir := t.TempDir()
	first := openAllowed(t, dir)
	if _, err := first.Allow(print(1), "r"); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, KeyFile)
	old, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	found := func(says string) {
		t.Helper()
		if faults := Check(dir); len(faults) != 1 || !strings.Contains(faults[0].Error(), says) || strings.Contains(faults[0].Error(), print(1)) {
			t.Errorf("faults %v, want %q", faults, says)
		}
	}
	found("is gone")
	for _, says := range []string{"made anew", "another guard.key"} { // the start that makes it, and every other
		var log bytes.Buffer
		a, err := OpenAllowed(dir, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), says) || !strings.Contains(log.String(), "entries=1") {
			t.Errorf("the log: %q, want %q", log.String(), says)
		}
		found("another guard.key")
		if list, err := a.List(); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
	}
	if _, err := openAllowed(t, dir).Allow(print(1), "again"); err != nil {
		t.Fatal(err)
	}
	if faults := Check(dir); faults != nil {
		t.Errorf("allowed anew, and yet %v", faults)
	}
	if err := os.WriteFile(key, old, 0o600); err != nil {
		t.Fatal(err)
	}
	found("another guard.key")
	// What a person wrote, or an older memd, says nothing of its key.
	line := fmt.Appendf(nil, `{"fingerprint":"%s","reason":"r","created_at":"2026-11-30T02:00:00.000Z"}`+"\n", print(1))
	if err := os.WriteFile(filepath.Join(dir, AllowedFile), line, 0o600); err != nil {
		t.Fatal(err)
	}
	if faults := Check(dir); faults != nil || !openAllowed(t, dir).Has(print(1)) {
		t.Errorf("faults %v", faults)
	}
}
