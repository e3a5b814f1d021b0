package store_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/migrations"
	"memd/store"
)

// openNarrow opens a store whose rollovers hand on few tombstones, and that
// keeps two historical databases.
func openNarrow(t testing.TB, dir string) *store.Set {
	t.Helper()
	b := configs.DefaultBudgets()
	b.ActiveBytes, b.HistoryFiles = configs.MinActiveBytes, 2
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: b, Now: memtest.NewClock().Now})
	must(t, err)
	return s
}

// counted fails unless the catalogue counts what the files hold.
func counted(t testing.TB, dir string) {
	t.Helper()
	for line := range strings.FieldsSeq(shell(t, dir, `SELECT file || '|' || short || '|' || long || '|' || archive || '|' || bytes FROM history`)) {
		file, want, _ := strings.Cut(line, "|")
		got := shellOn(t, filepath.Join(dir, store.HistoryDir, file), `SELECT (SELECT count(*) FROM short), (SELECT count(*) FROM long),
 (SELECT count(*) FROM archive), page_count * page_size FROM pragma_page_count, pragma_page_size`)
		if got != want {
			t.Errorf("the catalogue counts %s in %s, which holds %s", want, file, got)
		}
	}
}

// What was forgotten since the backup leaves each of its databases and comes
// back by none: its tombstones stand in a historical database by now, for a
// rollover handed on only newer ones, or have moved on from one that is gone.
func TestRestoreForgotten(t *testing.T) {
	lost := []int{10, 11, 12, 13, 20, 21, 30, 31}
	for name, more := range map[string]func(s *store.Set){
		"in the active database": func(*store.Set) {},
		"rolled over":            func(s *store.Set) { roll(t, s) },
		"moved on": func(s *store.Set) {
			for n := range 3 {
				roll(t, s)
				put(t, s, row(memd.Short, 70+n, fmt.Sprint("later ", n)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := layered(t, dir)
			b := backup(t, s)
			must(t, s.Close())
			s = openNarrow(t, dir)
			for _, n := range lost {
				bury(t, s, id(n))
			}
			// As many newer ones as push those out of what is handed on.
			write(t, s, func(tx *store.Tx) error {
				return tx.Exec(`WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 300)
INSERT INTO tombstone (id, namespace, content_hash, forgotten_at) SELECT 'x' || n, 'default', 'x', '2027-01-01T00:00:00.000Z' FROM n`)
			})
			put(t, s, row(memd.Short, 60, "written since"))
			more(s)
			must(t, s.Close())
			if got := shell(t, dir, `SELECT count(*) FROM tombstone WHERE id NOT LIKE 'x%'`); name != "in the active database" && got != "0" {
				t.Fatalf("%s of the tombstones were handed on: the test shows nothing", got)
			}
			for range 2 { // and again from what was restored
				done := restore(t, dir, b.Path)
				if done.Forgotten != len(lost) || len(done.Warnings) != 0 {
					t.Errorf("restored %+v", done)
				}
				sound(t, dir)
				counted(t, dir)
				onceEach(t, dir)
				all := everyRow(t, dir)
				for _, n := range lost {
					if strings.Contains(all, id(n)) {
						t.Errorf("row %d is back", n)
					}
				}
				for _, path := range databases(t, dir) {
					text, err := os.ReadFile(path)
					must(t, err)
					for _, n := range lost {
						for _, body := range []string{"a short row %d", "a long row %d", "an archived row %d", "archived with a key %d"} {
							if strings.Contains(string(text), fmt.Sprintf(body, n)) {
								t.Errorf("%s still holds the body of row %d", path, n)
							}
						}
					}
				}
				r, err := open(dir)
				must(t, err)
				finds(t, r, memd.Short, "short")
				finds(t, r, memd.Archive, "archived", row(memd.Archive, 22, ""), row(memd.Archive, 23, ""), row(memd.Archive, 32, ""), row(memd.Archive, 33, ""))
				if h, ok := head(t, r, "key-11"); !ok || h.ID != "" || h.Version != 1 {
					t.Errorf("the head of a forgotten row is %+v, %v", h, ok)
				}
				must(t, r.Close())
			}
		})
	}
}

// A backup that was made between two steps of a retirement restores: the next
// start goes on with it, and nothing owed is lost or stands twice.
func TestRestoreWhileRetiring(t *testing.T) {
	dir := t.TempDir()
	s := openNarrow(t, dir)
	var owed []memd.Memory
	for n := range 250 {
		owed = append(owed, row(memd.Long, n, fmt.Sprint("a long row ", n)))
	}
	put(t, s, owed...)
	for n := range 2 {
		roll(t, s)
		put(t, s, row(memd.Short, 500+n, "a short row"))
	}
	roll(t, s)
	must(t, s.Close())

	// Opened with room for one file fewer, it retires the oldest at once.
	var b store.Backup
	var failed error
	opened := make(chan *store.Set, 1) // the retirement may come to its moves before Open returns
	moves := 0
	budgets := configs.DefaultBudgets()
	budgets.HistoryFiles = 1
	done := make(chan struct{})
	s, err := store.Open(store.WithSteps(ctx, func(step string) {
		if step != "retire/move" {
			return
		}
		if moves++; moves == 2 {
			defer close(done)
			b, failed = (<-opened).Backup(ctx, t.TempDir())
		}
	}), store.Options{Dir: dir, Budgets: budgets, Now: memtest.NewClock().Now})
	must(t, err)
	opened <- s
	<-done
	must(t, failed)
	must(t, s.Close())
	if got := shell(t, b.Path, `SELECT count(*) FROM history WHERE state = 'retiring'`); got != "1" || len(b.Manifest.Files) != 3 {
		t.Fatalf("%s files retire in the backup %+v", got, b.Manifest)
	}
	onceEach(t, b.Path)

	into := t.TempDir()
	restore(t, into, b.Path)
	r, err := store.Open(ctx, store.Options{Dir: into, Budgets: budgets, Now: memtest.NewClock().Now})
	must(t, err)
	if _, err := r.MakeRoom(ctx); err != nil {
		t.Fatal(err)
	}
	healthy(t, r)
	for _, m := range owed {
		if got, ok := get(t, r, m.ID); !ok || got.Summary != m.Summary {
			t.Errorf("%s is %+v, %v", m.ID, got, ok)
		}
		if h, ok := head(t, r, m.MemoryKey); !ok || h.ID != m.ID {
			t.Errorf("the head of %s is %+v, %v", m.MemoryKey, h, ok)
		}
	}
	must(t, r.Close())
	onceEach(t, into)
	counted(t, into)
	if got := databases(t, into); len(got) != 2 {
		t.Errorf("there is %q", got)
	}
}

// Lines of the catalogue that stand for files on their way in or out, as a
// backup may have them, with their file or without.
func TestRestoreUnfinishedFiles(t *testing.T) {
	for _, state := range []string{"copying", "retired"} {
		for _, with := range []bool{true, false} {
			t.Run(fmt.Sprint(state, " ", with), func(t *testing.T) {
				dir := t.TempDir()
				s := layered(t, dir)
				b := backup(t, s)
				must(t, s.Close())
				const name = "history/agent_memory-20251130T020000Z.db"
				shell(t, b.Path, `INSERT INTO history VALUES ('`+filepath.Base(name)+`', 77, '`+state+`', '2025-11-30T02:00:00.000Z', 0, 5, 5, 5, 0, 0)`)
				b.Manifest.Files[0].Size, b.Manifest.Files[0].SHA256 = size(t, filepath.Join(b.Path, store.ActiveName)), digest(t, filepath.Join(b.Path, store.ActiveName))
				if with {
					text, err := os.ReadFile(filepath.Join(b.Path, older))
					must(t, err)
					must(t, os.WriteFile(filepath.Join(b.Path, name), text, 0o600))
					b.Manifest.Files = append(b.Manifest.Files, store.BackupFile{Name: name, Size: size(t, filepath.Join(b.Path, name)),
						SHA256: digest(t, filepath.Join(b.Path, name)), Rows: b.Manifest.Files[2].Rows})
				}
				rewrite(t, b)
				restore(t, dir, b.Path)
				sound(t, dir)
				counted(t, dir)
				onceEach(t, dir)
				if got := shell(t, dir, `SELECT count(*) FROM history`); got != "2" || exists(filepath.Join(dir, name)) {
					t.Errorf("%s files in the catalogue, or the file is left", got)
				}
			})
		}
	}
}

// A backup of schema 1, when there was one database, restores into a store of
// several, and what was forgotten since stays so.
func TestRestoreOfSchemaOne(t *testing.T) {
	dir := t.TempDir()
	s := layered(t, dir)
	bury(t, s, id(30))
	now := backup(t, s)
	must(t, s.Close())

	old := t.TempDir()
	schema, err := fs.ReadFile(migrations.FS, "00001_init.sql")
	must(t, err)
	path := filepath.Join(old, store.ActiveName)
	shellOn(t, path, `PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 0x6d656d64;`+string(schema)+`
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1);`)
	shellOn(t, path, `ATTACH '`+filepath.Join(now.Path, older)+`' AS o;
INSERT INTO short SELECT * FROM o.short; INSERT INTO long SELECT * FROM o.long; INSERT INTO archive SELECT * FROM o.archive;
INSERT INTO head SELECT namespace, memory_key, version, id, file FROM o.head;
UPDATE short SET id = '`+id(30)+`';`)
	b := store.Backup{Path: old, Manifest: store.BackupManifest{Schema: 1, CreatedAt: now.Manifest.CreatedAt,
		Files: []store.BackupFile{{Name: store.ActiveName, Rows: store.TierRows{Short: 1, Long: 1, Archive: 2}}}}}
	truthfully(t, b)
	done := restore(t, dir, old)
	if done.Forgotten != 1 || len(done.Warnings) != 0 || !exists(filepath.Join(done.Replaced, older)) {
		t.Errorf("restored %+v", done)
	}
	sound(t, dir)
	if got := databases(t, dir); len(got) != 1 {
		t.Errorf("there is %q", got)
	}
	if got := shell(t, dir, `SELECT group_concat(id) FROM (SELECT id FROM memory ORDER BY id); SELECT max(version_id) FROM goose_db_version`); got != id(11)+","+id(12)+","+id(13)+"\n"+fmt.Sprint(migrations.Latest) {
		t.Errorf("restored %s", got)
	}
}

// The store in place may be one whose process was killed: in the middle of a
// commit to a historical database, or of a rollover. What was forgotten in it
// is told all the same.
func TestRestoreOverAKilledStore(t *testing.T) {
	forgotten := func(t *testing.T, dir string, b store.Backup) {
		t.Helper()
		done := restore(t, dir, b.Path)
		if done.Forgotten != 1 || len(done.Warnings) != 0 {
			t.Errorf("restored %+v", done)
		}
		sound(t, dir)
		if strings.Contains(everyRow(t, dir), id(20)) {
			t.Error("what was forgotten is back")
		}
	}
	t.Run("commit", func(t *testing.T) {
		dir := t.TempDir()
		s := layered(t, dir)
		b := backup(t, s)
		bury(t, s, id(20))
		roll(t, s)
		must(t, s.Close())
		path := filepath.Join(dir, newer)
		old := shellOn(t, path, `SELECT * FROM memory`)
		// The shell writes pages before it commits; what lies there then is what
		// a killed process leaves.
		shellOn(t, path, `PRAGMA cache_size = 1; BEGIN; UPDATE long SET summary = summary || hex(randomblob(200000));
.shell cp `+path+` `+path+`.x
.shell cp `+path+`-journal `+path+`.x-journal
ROLLBACK;`)
		must(t, os.Rename(path+".x", path))
		must(t, os.Rename(path+".x-journal", path+"-journal"))
		if text, err := os.ReadFile(path + "-journal"); err != nil || len(text) == 0 || text[0] == 0 {
			t.Fatalf("the journal is not hot, the test shows nothing: %v", err)
		}
		forgotten(t, dir, b)
		kept := filepath.Join(dir, store.BackupDir, "replaced-")
		found, err := filepath.Glob(kept + "*/" + newer)
		if err != nil || len(found) != 1 || shellOn(t, found[0], `SELECT * FROM memory`) != old {
			t.Errorf("what was replaced is not what was there: %q, %v", found, err)
		}
	})
	for _, step := range []string{"rollover/prepared", "rollover/moved", "rollover/placed"} {
		t.Run(strings.ReplaceAll(step, "/", " "), func(t *testing.T) {
			dir, killed := t.TempDir(), filepath.Join(t.TempDir(), "d")
			s := layered(t, dir)
			b := backup(t, s)
			bury(t, s, id(20))
			_, err := s.Rollover(store.WithSteps(ctx, func(at string) {
				if at == step {
					if out, err := exec.Command("cp", "-a", dir, killed).CombinedOutput(); err != nil {
						t.Errorf("cp: %v: %s", err, out)
					}
				}
			}))
			must(t, err)
			must(t, s.Close())
			forgotten(t, killed, b)
			if left := strings.Join(names(t, killed), " "); strings.Contains(left, ".next") {
				t.Errorf("left is %s", left)
			}
		})
	}
}
