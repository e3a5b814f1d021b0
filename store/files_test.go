package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// openBare opens a store that the test closes, in a state no check would pass.
func openBare(t testing.TB, dir string) *store.Set {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: configs.DefaultBudgets()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A file put in the place of the database, or a log taken away, stops writes
// at once: SQLite would go on, and what it answered would be lost.
func TestReplacedFilesStopWrites(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"log removed": func(t *testing.T, path string) { must(t, os.Remove(path+"-wal")) },
		"database replaced": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".other", nil, 0o600))
			must(t, os.Rename(path+".other", path))
		},
		"database removed": func(t *testing.T, path string) { must(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openBare(t, dir)
			insert := func(n int) error {
				m := row(memd.Short, n, "kept")
				return s.Update(context.Background(), func(tx *store.Tx) error { return tx.Insert(&m) })
			}
			must(t, insert(1))
			harm(t, filepath.Join(dir, store.ActiveName))
			if err := insert(2); memd.CodeOf(err) != memd.CodeStoreFailed {
				t.Errorf("a write after it: %v", err)
			}
			if err := s.Probe(context.Background()); err == nil {
				t.Error("the probe finds the store ready")
			}
			findings, err := s.Check(context.Background(), true)
			if err != nil || len(findings) != 1 || findings[0].Check != "files" || findings[0].Fix == "" {
				t.Errorf("the check finds %+v, %v", findings, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// A whole database put in place by hand is not spoiled by the log of the one
// it replaced.
func TestReplacedDatabaseStaysWhole(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write := func(s *store.Set, n int, text string) {
		m := row(memd.Short, n, text)
		must(t, s.Update(context.Background(), func(tx *store.Tx) error { return tx.Insert(&m) }))
	}
	backup := openBare(t, other)
	write(backup, 1, "of the backup")
	must(t, backup.Close())

	s := openBare(t, dir)
	write(s, 2, "of the running store")
	must(t, os.Rename(filepath.Join(other, store.ActiveName), filepath.Join(dir, store.ActiveName)))
	must(t, s.Close())

	s = openBare(t, dir)
	defer s.Close()
	healthy(t, s)
	finds(t, s, memd.Short, "running")
	if findings, err := s.Check(context.Background(), false); err != nil || len(findings) > 0 {
		t.Errorf("the restored store has %+v, %v", findings, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
