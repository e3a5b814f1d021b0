package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"memd"
	"memd/store"
)

// everything is what a snapshot exports.
func everything(t testing.TB, x *store.Snapshot) (all []memd.Record) {
	t.Helper()
	must(t, x.Export(store.Wanted{Namespace: func(string) bool { return true }, Memory: func(*memd.Memory) bool { return true }},
		func(rec *memd.Record) error { all = append(all, *rec); return nil }))
	return all
}

func snapshot(t testing.TB, s *store.Set) *store.Snapshot {
	t.Helper()
	x, err := s.Snapshot(ctx)
	must(t, err)
	return x
}

// While rows change their database, each is in every snapshot once.
func TestSnapshotIsOneState(t *testing.T) {
	s := layered(t, t.TempDir())
	defer s.Close()
	moving := []string{id(10), id(20), id(30)}
	var moves atomic.Int64
	var done atomic.Bool
	var movers sync.WaitGroup
	movers.Go(func() {
		for n := 0; !done.Load(); n++ {
			write(t, s, func(tx *store.Tx) error { // to the archive in place, back into the active database
				m, ok, err := tx.Get(moving[n%3])
				if err != nil || !ok {
					return fmt.Errorf("%s is not there: %w", moving[n%3], err)
				}
				from := m.Tier
				if m.Tier = memd.Archive; from == memd.Archive {
					m.Tier = memd.Short
				}
				return tx.Move(&m, from)
			})
			if n%16 == 15 {
				roll(t, s)
			}
			moves.Add(1)
		}
	})
	for i := range 6 {
		await(t, "moves", func() bool { return moves.Load() >= int64(i*8) })
		x := snapshot(t, s)
		seen := map[string]int{}
		for _, rec := range everything(t, x) {
			seen[rec.ID]++
		}
		must(t, x.Close())
		for _, want := range moving {
			if seen[want] != 1 {
				t.Errorf("%s is %d times in a snapshot", want, seen[want])
			}
		}
		if len(seen) != 12 {
			t.Errorf("%d rows in a snapshot, want 12", len(seen))
		}
	}
	done.Store(true)
	movers.Wait()
}

// A snapshot is as the store was, whatever becomes of it, and has no name on the disk.
// There is one at a time.
func TestSnapshotLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := layered(t, dir)
	defer s.Close()
	x := snapshot(t, s)
	before := everything(t, x)
	if left, err := os.ReadDir(filepath.Join(dir, store.BackupDir)); err != nil || len(left) > 0 {
		t.Errorf("on the disk while it is open: %v, %v", left, err)
	}
	if _, err := s.Snapshot(ctx); memd.CodeOf(err) != memd.CodeStoreBusy {
		t.Errorf("a second one: %v", err)
	}
	bury(t, s, id(10), id(30))
	roll(t, s)
	if after := everything(t, x); len(after) != len(before) || !slices.EqualFunc(before, after, func(a, b memd.Record) bool { return a.ID == b.ID && a.Summary == b.Summary }) {
		t.Error("it changed with the store")
	}
	backup(t, s) // beside it
	must(t, x.Close())
	must(t, x.Close())
	x = snapshot(t, s)
	tombs := 0
	for _, rec := range everything(t, x) {
		if rec.Type == memd.TombstoneRecord {
			tombs++
		}
	}
	must(t, x.Close())
	if tombs != 2 {
		t.Errorf("%d tombstones", tombs)
	}
}

// A historical database that cannot be read is named; the rest is there.
func TestSnapshotOfDamaged(t *testing.T) {
	dir := t.TempDir()
	s := layered(t, dir)
	must(t, s.Close())
	damage(t, filepath.Join(dir, older))
	s, err := open(dir)
	must(t, err)
	defer s.Close()
	x := snapshot(t, s)
	defer x.Close()
	if !slices.Equal(x.Missing, []string{older}) {
		t.Errorf("missing %v", x.Missing)
	}
	if got := everything(t, x); len(got) != 8 {
		t.Errorf("%d rows of the rest", len(got))
	}
}

// Without room for a copy there is no snapshot, nothing of one is left, and the next can be
// taken. What helps is said: an export goes nowhere else.
func TestSnapshotWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	s := layered(t, dir)
	defer s.Close()
	s.SetFreeSpace(1 << 20)
	_, err := s.Snapshot(ctx)
	codeIs(t, err, memd.CodeBudgetExceeded)
	if hint := errorHint(err); hint == "" || strings.Contains(hint, "--to") {
		t.Errorf("hint %q", hint)
	}
	left, err := os.ReadDir(filepath.Join(dir, store.BackupDir))
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	s.SetFreeSpace(1 << 40)
	must(t, snapshot(t, s).Close())
	s.SetFreeSpace(1 << 20)
	if _, err := s.Backup(ctx, t.TempDir()); !strings.Contains(errorHint(err), "--to") {
		t.Errorf("a backup hints at %q", errorHint(err))
	}
}
