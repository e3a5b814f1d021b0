package store_test

import (
	"os"
	"syscall"
	"testing"

	"memd"
	"memd/store"
)

// Where a rollover cannot open the active database again, be it the next one or
// that of before, no reading passes for one of an empty store, and the next write
// opens it.
func TestOpenedAgainAfterRollover(t *testing.T) {
	for name, c := range map[string]struct {
		step string // from which on few more files can be opened
		held bool   // whether a shell has the database open
	}{"next": {"rollover/placed", false}, "same": {"rollover/unlogged", true}} {
		t.Run(name, func(t *testing.T) {
			s := openBare(t, t.TempDir())
			defer s.Close()
			kept := row(memd.Short, 1, "common row")
			put(t, s, kept)
			if c.held {
				defer lockingShell(t, s.Dir(), "")()
			}
			var was syscall.Rlimit
			must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
			_, err := s.Rollover(store.WithSteps(ctx, func(reached string) {
				if reached == c.step {
					open, err := os.ReadDir("/proc/self/fd")
					must(t, err)
					must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(len(open)), Max: was.Max}))
				}
			}))
			must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was))
			if err == nil {
				t.Fatal("the rollover did not fail: the test shows nothing")
			}
			if s.View(ctx, func(*store.View) error { return nil }) == nil {
				t.Error("a reading of nothing is no error")
			}
			put(t, s, row(memd.Short, 2, "common row of after"))
			finds(t, s, memd.Short, "common", kept, row(memd.Short, 2, ""))
			healthy(t, s)
		})
	}
}
