package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// Two historical databases change in one group and the second cannot: what was
// to move into it stays where it was.
func TestGravesStayUntilMoved(t *testing.T) {
	s, err := open(t.TempDir())
	must(t, err)
	defer s.Close()
	forgotten, stays := row(memd.Short, 1, "forgotten"), row(memd.Short, 2, "stays")
	put(t, s, forgotten, stays)
	write(t, s, func(tx *store.Tx) error { return tx.Bury(&forgotten, s.Now()) })
	roll(t, s)
	write(t, s, func(tx *store.Tx) error { return tx.Exec(`DELETE FROM tombstone`) }) // as one that was not handed on
	put(t, s, row(memd.Short, 3, "of the next file"))
	roll(t, s)
	files := historyFiles(t, s.Dir())
	release := lockedBy(t, files[1], `BEGIN; SELECT count(*) FROM short;`)
	err = s.Update(ctx, func(tx *store.Tx) error {
		m, _, err := tx.Get(stays.ID)
		if err == nil {
			err = patched(tx, &m)
		}
		if err == nil {
			_, err = tx.MoveOwed(filepath.Base(files[0]), filepath.Base(files[1]))
		}
		return err
	})
	codeIs(t, err, memd.CodeStoreBusy)
	release()
	graves := shellOn(t, files[0], `SELECT id FROM tombstone`) + shellOn(t, files[1], `SELECT id FROM tombstone`)
	if graves != forgotten.ID {
		t.Errorf("the tombstones of the files are %q, want the one of the forgotten row", graves)
	}
}

// haunted is a store of which a keyed row of the oldest historical database has
// a copy in the next that the active one does not know of, as of a retirement's
// step that failed half done. What is put in step hears of steps from then on.
func haunted(t *testing.T, step *func(string)) (s *store.Set, files []string, keyed memd.Memory) {
	t.Helper()
	dir := t.TempDir()
	*step = func(string) {}
	s, err := store.Open(store.WithSteps(ctx, func(reached string) { (*step)(reached) }),
		store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	keyed = row(memd.Archive, 1, "common keyed row")
	keyed.MemoryKey, keyed.Version = "key-1", 1
	put(t, s, keyed)
	roll(t, s)
	put(t, s, row(memd.Short, 2, "common row of the next file"))
	roll(t, s)
	files = historyFiles(t, dir)
	err = s.Update(ctx, func(tx *store.Tx) error {
		*step = func(reached string) {
			if reached == "across/commit" { // which fails then
				*step = func(string) {}
				_ = tx.Exec(`ROLLBACK`)
			}
		}
		_, err := tx.MoveOwed(filepath.Base(files[0]), filepath.Base(files[1]))
		return err
	})
	if copies := shellOn(t, files[1], `SELECT id FROM archive`); err == nil || copies != keyed.ID {
		t.Fatalf("the move ends with %v and the copies %q: the test shows nothing", err, copies)
	}
	return s, files, keyed
}

// A row whose move to another historical database failed half done, and that
// is then forgotten or moves to the active one, has no copy that comes to life
// at the next start.
func TestGhostsStayDead(t *testing.T) {
	for name, change := range map[string]func(*store.Tx, *memd.Memory) error{"forget": forgetting, "promote": promoted} {
		t.Run(name, func(t *testing.T) {
			var step func(string)
			s, files, keyed := haunted(t, &step)
			release := lockedBy(t, files[1], `BEGIN; SELECT count(*) FROM short;`)
			defer release()
			write(t, s, func(tx *store.Tx) error {
				m, _, err := tx.Get(keyed.ID)
				if err != nil {
					return err
				}
				return change(tx, &m)
			})
			want := fmt.Sprint(get(t, s, keyed.ID))
			left := filepath.Join(t.TempDir(), "data") // as a kill leaves it
			must(t, os.CopyFS(left, os.DirFS(s.Dir())))
			again, err := open(left)
			must(t, err)
			defer again.Close()
			if got := fmt.Sprint(get(t, again, keyed.ID)); got != want {
				t.Errorf("after a restart the row is\n%s\nwant\n%s", got, want)
			}
			finds(t, again, memd.Archive, "keyed")
			healthy(t, again)
		})
	}
}

// The row itself outlives that the databases are opened anew meanwhile.
func TestGhostsOfReopened(t *testing.T) {
	var step func(string)
	s, files, keyed := haunted(t, &step)
	write(t, s, func(tx *store.Tx) error {
		return tx.Exec(`UPDATE history SET state = 'retiring' WHERE file = ?`, filepath.Base(files[0]))
	})
	next := filepath.Join(s.Dir(), store.ActiveName) + ".next"
	failing := store.WithSteps(ctx, func(reached string) {
		if reached == "rollover/moved" {
			must(t, os.Rename(next, next+".away"))
		}
	})
	put(t, s, row(memd.Short, 3, "common row to roll over"))
	if _, err := s.Rollover(failing); err == nil {
		t.Fatal("the rollover did not fail: the test shows nothing")
	}
	must(t, os.Rename(next+".away", next))
	put(t, s, row(memd.Short, 4, "common row of after"))
	finds(t, s, memd.Archive, "keyed", keyed)
}

// A step that fails again takes no ghost for a row.
func TestGhostsOfFailedStep(t *testing.T) {
	var step func(string)
	s, files, keyed := haunted(t, &step)
	began, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	go func() {
		done <- s.Update(ctx, func(*store.Tx) error {
			close(began)
			<-release
			return nil
		})
	}()
	<-began
	for n, fn := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error {
			if _, err := tx.MoveOwed(filepath.Base(files[0]), filepath.Base(files[1])); err != nil {
				return err
			}
			return errors.New("fails half done")
		},
		func(tx *store.Tx) error {
			m, _, err := tx.Get(row(memd.Short, 2, "").ID)
			if err != nil {
				return err
			}
			return patched(tx, &m)
		},
	} {
		go func() { done <- s.Update(ctx, fn) }()
		for s.QueueDepth() <= n {
			runtime.Gosched()
		}
	}
	close(release)
	for range 3 {
		<-done
	}
	finds(t, s, memd.Archive, "keyed", keyed)
	healthy(t, s)
}

// A start that can note nothing of what it deleted still serves no row that was
// forgotten, from a file that it could not delete it from.
func TestGoneAtStart(t *testing.T) {
	dir := t.TempDir()
	s, err := open(dir)
	must(t, err)
	rows := []memd.Memory{row(memd.Short, 1, "common row 1"), row(memd.Short, 2, "common row 2")}
	for _, m := range rows {
		put(t, s, m)
		roll(t, s)
	}
	files := historyFiles(t, dir)
	held := []func(){lockedBy(t, files[0], `BEGIN; SELECT count(*) FROM short;`), lockedBy(t, files[1], `BEGIN; SELECT count(*) FROM short;`)}
	write(t, s, func(tx *store.Tx) error {
		for _, m := range rows {
			if _, _, err := tx.Get(m.ID); err != nil {
				return err
			}
			if err := tx.Bury(&m, s.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, s.Close())
	held[1]()
	release := func() {}
	again, err := store.Open(store.WithSteps(ctx, func(reached string) {
		if reached == "across/deleted" {
			release = lockingShell(t, dir, `BEGIN IMMEDIATE;`)
		}
	}), store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
	release()
	must(t, err)
	defer again.Close()
	finds(t, again, memd.Short, "common")
	held[0]()
}
