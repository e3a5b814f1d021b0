package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// roll rolls over and fails unless that made a historical database.
func roll(t testing.TB, s *store.Set) store.Rolled {
	t.Helper()
	r, err := s.Rollover(ctx)
	if err != nil {
		t.Fatalf("rollover: %v", err)
	}
	if !r.Rolled {
		t.Fatalf("rollover: %+v", r)
	}
	return r
}

// A row is found, read and listed wherever it stands, and a fresh start finds
// it as well.
func TestRollover(t *testing.T) {
	dir := t.TempDir()
	s := memtest.Store(t, dir, nil, nil)
	short, long, cold := row(memd.Short, 1, "alpha"), row(memd.Long, 2, "alpha beta"), row(memd.Archive, 3, "alpha gamma")
	note := row(memd.Transient, 4, "a note")
	put(t, s, short, long, cold, note)
	r := roll(t, s)
	if r.File != "history/agent_memory-20261130T020000Z.db" || r.Rows != 3 {
		t.Errorf("rolled %+v", r)
	}
	info, err := os.Stat(filepath.Join(dir, r.File))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != r.Bytes {
		t.Errorf("the file is %v, %v; rolled %+v", info, err, r)
	}
	again, err := s.Rollover(ctx)
	if err != nil || again.Rolled || again.Reason != "empty" {
		t.Errorf("rolled an empty database: %+v, %v", again, err)
	}
	look := func(s *store.Set) {
		t.Helper()
		finds(t, s, memd.Short, "alpha", short)
		finds(t, s, memd.Long, "alpha", long)
		finds(t, s, memd.Archive, "alpha", cold)
		for _, m := range []memd.Memory{short, long, cold, note} {
			if got, ok := get(t, s, m.ID); !ok || got.Summary != m.Summary || got.Tier != m.Tier {
				t.Errorf("read %+v, %v", got, ok)
			}
		}
		h, ok := head(t, s, long.MemoryKey)
		if !ok || h.ID != long.ID || h.Version != 1 {
			t.Errorf("head %+v, %v", h, ok)
		}
		healthy(t, s)
	}
	look(s)
	for n := 10; n < 13; n++ {
		put(t, s, row(memd.Short, n, fmt.Sprint("later ", n)))
		roll(t, s)
	}
	look(s)
	must(t, s.Close())
	look(memtest.Store(t, dir, nil, nil))
}

// A row that waits for its vector keeps its place in the outbox over a rollover
// and a move, and leaves it with its deletion, wherever it stands.
func TestOutboxOfHistory(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	deleted, buried, moved := row(memd.Short, 1, "to be deleted"), row(memd.Short, 2, "to be buried"), row(memd.Short, 3, "to be archived")
	put(t, s, deleted, buried, moved)
	write(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.Queue(deleted.ID, s.Now()), tx.Queue(buried.ID, s.Now()), tx.Queue(moved.ID, s.Now()))
	})
	roll(t, s)
	write(t, s, func(tx *store.Tx) error {
		for _, m := range []memd.Memory{deleted, buried, moved} {
			if _, ok, err := tx.Get(m.ID); !ok || err != nil {
				return fmt.Errorf("read %s: %v, %v", m.Summary, ok, err)
			}
		}
		moved.Tier = memd.Archive
		_, err := tx.Delete(memd.Short, deleted.ID)
		return errors.Join(err, tx.Bury(&buried, s.Now()), tx.Move(&moved, memd.Short))
	})
	if got := shell(t, s.Dir(), `SELECT memory_id FROM outbox`); got != moved.ID {
		t.Errorf("in the outbox: %q", got)
	}
}

// What a rollover could not take out of the historical database, since another
// program held that, the light groom does.
func TestShedLater(t *testing.T) {
	s, err := open(t.TempDir())
	must(t, err)
	defer s.Close()
	put(t, s, row(memd.Short, 1, "common row"), row(memd.Transient, 2, "note of a session"))
	release := func() {}
	defer func() { release() }()
	_, err = s.Rollover(store.WithSteps(ctx, func(reached string) {
		if reached == "rollover/placed" {
			release = lockedBy(t, historyFiles(t, s.Dir())[0], `BEGIN EXCLUSIVE;`)
		}
	}))
	must(t, err)
	release()
	_, err = s.Settle(ctx, false)
	must(t, err)
	if n := shellOn(t, historyFiles(t, s.Dir())[0], `SELECT count(*) FROM transient`); n != "0" {
		t.Errorf("%s notes are left in the historical database", n)
	}
}
