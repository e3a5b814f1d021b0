// Package memtest gives tests real stores in temporary folders under a clock
// that they move. It is imported by tests alone.
package memtest

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/store"
)

// start is where a test's clock begins.
var start = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)

// Clock is a clock that moves when told to. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at a fixed instant.
func NewClock() *Clock { return &Clock{now: start} }

// Now reads the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d, which may be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Store opens a store in dir ("" for a new temporary folder) under budgets
// that edit may change, and checks it when the test ends: integrity, keyword
// index and invariants must hold after every test.
func Store(t testing.TB, dir string, clock *Clock, edit func(*configs.Budgets)) *store.Set {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	if clock == nil {
		clock = NewClock()
	}
	budgets := configs.DefaultBudgets()
	if edit != nil {
		edit(&budgets)
	}
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: budgets, Now: clock.Now})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() {
		findings, err := s.Check(context.Background(), false)
		if err != nil && memd.CodeOf(err) != memd.CodeStoreBusy {
			t.Errorf("check store: %v", err)
		}
		for _, f := range findings {
			t.Errorf("store is damaged: %s: %s", f.Check, f.Detail)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return s
}

// ReadFile returns the bytes of a file that a store may have open. Another
// process reads it: a process that closes any descriptor of a database file
// loses the locks that SQLite in C holds on it.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := exec.Command("cat", "--", path).Output()
	if err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	return content
}
