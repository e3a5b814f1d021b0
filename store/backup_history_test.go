package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// layered is a store of an active and two historical databases, each with a
// row of every tier, numbered from 10, 20 and 30 on, the oldest first.
func layered(t testing.TB, dir string) *store.Set {
	t.Helper()
	s, err := open(dir)
	must(t, err)
	for n := 10; n <= 30; n += 10 {
		if n > 10 {
			roll(t, s)
		}
		cold := row(memd.Archive, n+3, fmt.Sprint("archived with a key ", n+3))
		cold.MemoryKey, cold.Version = fmt.Sprint("cold-", n), 1
		put(t, s, row(memd.Short, n, fmt.Sprint("a short row ", n)), row(memd.Long, n+1, fmt.Sprint("a long row ", n+1)),
			row(memd.Archive, n+2, fmt.Sprint("an archived row ", n+2)), cold)
	}
	return s
}

// The files of a layered store.
const (
	newer = "history/agent_memory-20261130T020000Z-2.db"
	older = "history/agent_memory-20261130T020000Z.db"
)

// everyRow is every row of every database below dir, with the file it is in.
func everyRow(t testing.TB, dir string) string {
	t.Helper()
	all := shell(t, dir, `SELECT namespace, memory_key, version, id, file FROM head ORDER BY namespace, memory_key`)
	for _, path := range databases(t, dir) {
		all += "\n" + filepath.Base(path) + "\n" + shellOn(t, path, `SELECT * FROM transient ORDER BY id; SELECT * FROM short ORDER BY id;
SELECT * FROM long ORDER BY id; SELECT * FROM archive ORDER BY id; SELECT * FROM tally ORDER BY tier;`)
	}
	return all
}

// bury forgets rows as tiers do.
func bury(t testing.TB, s *store.Set, ids ...string) {
	t.Helper()
	for _, id := range ids {
		write(t, s, func(tx *store.Tx) error {
			m, ok, err := tx.Get(id)
			if err != nil || !ok {
				return fmt.Errorf("%s is not there: %w", id, err)
			}
			if m.Tier == memd.Long {
				if err := tx.DropHead(m.Namespace, m.MemoryKey); err != nil {
					return err
				}
			}
			return tx.Bury(&m, s.Now())
		})
	}
}

// id is that of the row number n.
func id(n int) string { return row(memd.Short, n, "").ID }

// What crosses from one database to another between their copies is in the
// backup once, and as it was changed last.
func TestBackupCrossing(t *testing.T) {
	s := layered(t, t.TempDir())
	defer s.Close()
	moves := map[string]func(*store.Tx) error{
		"promoted": func(tx *store.Tx) error { // leaves the oldest for the active one
			m, _, err := tx.Get(id(12))
			m.Tier = memd.Short
			if err != nil {
				return err
			}
			return tx.Move(&m, memd.Archive)
		},
		"patched": func(tx *store.Tx) error {
			m, _, err := tx.Get(id(21))
			m.Tags = []string{"patched"}
			if err != nil {
				return err
			}
			return tx.UpdateMeta(&m)
		},
		"archived in place": func(tx *store.Tx) error {
			m, _, err := tx.Get(id(10))
			m.Tier = memd.Archive
			if err != nil {
				return err
			}
			return tx.Move(&m, memd.Short)
		},
	}
	left := map[string][]string{"backup/copy": {"", "patched"}, "backup/together": {"promoted", "archived in place"}}
	b, err := s.Backup(store.WithSteps(ctx, func(step string) {
		for do := left[step]; len(do) > 0; do = left[step] {
			left[step] = do[1:]
			if do[0] != "" {
				write(t, s, moves[do[0]])
			}
			if step == "backup/copy" { // the second time, when one is copied
				break
			}
		}
	}), "")
	if err != nil || len(left["backup/copy"])+len(left["backup/together"]) > 0 {
		t.Fatalf("backup: %v; not done: %q", err, left)
	}
	onceEach(t, b.Path)
	into := t.TempDir()
	restore(t, into, b.Path)
	if got, want := everyRow(t, into), everyRow(t, s.Dir()); got != want {
		t.Errorf("the backup holds\n%s\nwant\n%s", got, want)
	}
	sound(t, into)
	healthy(t, s)
}

// A backup that is asked for while databases are exchanged waits for that.
func TestBackupAwaitsRollover(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	put(t, s, row(memd.Short, 1, "one"))
	made := make(chan error, 1)
	_, err := s.Rollover(store.WithSteps(ctx, func(step string) {
		if step == "rollover/begin" {
			go func() {
				_, err := s.Backup(ctx, "")
				made <- err
			}()
		}
	}))
	must(t, err)
	must(t, <-made)
}

// A historical database is not changed while it is copied: a write that
// concerns it waits, and does not fail.
func TestBackupKeepsWritersWaiting(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for n := range 400 {
		m := row(memd.Archive, n, fmt.Sprint("an archived row ", n))
		m.RawContent = strings.Repeat("the same words over again ", 600)
		put(t, s, m)
	}
	roll(t, s)
	must(t, s.Impatient(ctx))
	var at work
	var turn atomic.Int64
	at.begin(ctx, t)
	at.loop(func() error {
		n := int(turn.Add(1))
		return s.Update(ctx, func(tx *store.Tx) error {
			m, ok, err := tx.Get(id(n % 400))
			if err != nil || !ok {
				return fmt.Errorf("row %d: %v, %w", n, ok, err)
			}
			m.Tags = []string{fmt.Sprint("r", n)}
			return tx.UpdateMeta(&m)
		})
	})
	for range 10 {
		if _, err := s.Backup(ctx, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	at.end()
}

// damage spoils the pages of a database behind its header.
func damage(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	for i := 4096; i < len(text); i++ {
		text[i] = byte(i * 7)
	}
	must(t, os.WriteFile(path, text, 0o600))
}

// A historical database that cannot be read is left out and named; restored,
// the rest comes up without it.
func TestBackupWithoutAFile(t *testing.T) {
	for name, spoil := range map[string]func(path string){
		"missing":              func(path string) { must(t, os.Remove(path)) },
		"damaged":              func(path string) { damage(t, path) },
		"damaged while copied": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := layered(t, dir)
			broken := filepath.Join(dir, older)
			if spoil != nil {
				must(t, s.Close())
				spoil(broken)
				var err error
				s, err = open(dir)
				must(t, err)
			}
			b, err := s.Backup(store.WithSteps(ctx, func(step string) {
				if spoil == nil && step == "backup/copy" {
					damage(t, broken)
				}
			}), "")
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], filepath.Base(older)) || !slices.Equal(b.Manifest.Missing, []string{older}) ||
				len(b.Manifest.Files) != 2 || exists(filepath.Join(b.Path, older)) {
				t.Errorf("backup %+v", b)
			}
			put(t, s, row(memd.Short, 99, "the store serves on"))
			must(t, s.Close())
			into := t.TempDir()
			done := restore(t, into, b.Path)
			if len(done.Warnings) != 1 || !strings.Contains(done.Warnings[0], older) {
				t.Errorf("restored %+v", done)
			}
			r, err := open(into)
			must(t, err)
			finds(t, r, memd.Short, "short", row(memd.Short, 20, ""), row(memd.Short, 30, ""))
			view(t, r, func(v *store.View) error {
				if _, _, err := v.Get(id(10)); err == nil {
					t.Error("a row of the missing database is answered as not there")
				}
				off, err := v.Unavailable()
				if err != nil || len(off) != 1 || !strings.Contains(off[0], older+": 4 rows") {
					t.Errorf("unavailable: %q, %v", off, err)
				}
				return nil
			})
			put(t, r, row(memd.Short, 98, "and so does the restored one"))
			must(t, r.Close())
		})
	}
}

// Of backups that lack a database no number lets the last whole one go.
func TestBackupKeepsAWholeOne(t *testing.T) {
	dir, clock := t.TempDir(), memtest.NewClock()
	must(t, layered(t, dir).Close())
	reopen := func() *store.Set {
		s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: clock.Now, KeepBackups: 2})
		must(t, err)
		return s
	}
	s := reopen()
	var made []string
	take := func() {
		clock.Advance(time.Second)
		made = append(made, filepath.Base(backup(t, s).Path))
	}
	take()
	take()
	must(t, s.Close())
	text, err := os.ReadFile(filepath.Join(dir, older))
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, older)))
	s = reopen()
	for range 3 {
		take()
	}
	if got, want := names(t, filepath.Join(dir, store.BackupDir)), []string{made[1], made[3], made[4]}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	must(t, s.Close())
	must(t, os.WriteFile(filepath.Join(dir, older), text, 0o600))
	s = reopen()
	take()
	if got, want := names(t, filepath.Join(dir, store.BackupDir)), made[4:]; !slices.Equal(got, want) {
		t.Errorf("whole again kept %q, want %q", got, want)
	}
	must(t, s.Close())
}
