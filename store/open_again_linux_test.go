package store_test

import (
	"os"
	"syscall"
	"testing"

	"memd"
	"memd/store"
)

// Where a rollover cannot open the next database for reading, no reading passes
// for one of an empty store, and the next write opens it again.
func TestOpenedAgainAfterRollover(t *testing.T) {
	s := openBare(t, t.TempDir())
	defer s.Close()
	kept := row(memd.Short, 1, "common row")
	put(t, s, kept)
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	_, err := s.Rollover(store.WithSteps(ctx, func(reached string) {
		if reached == "rollover/placed" { // few more files can be opened
			open, err := os.ReadDir("/proc/self/fd")
			must(t, err)
			must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(len(open)), Max: was.Max}))
		}
	}))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was))
	codeIs(t, err, memd.CodeStoreFailed)
	codeIs(t, s.View(ctx, func(*store.View) error { return nil }), memd.CodeStoreFailed)
	put(t, s, row(memd.Short, 2, "common row of after"))
	finds(t, s, memd.Short, "common", kept, row(memd.Short, 2, ""))
	healthy(t, s)
}
