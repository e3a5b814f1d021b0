package store_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// rolled is a store in dir with three rows in one historical database, and one
// of each tier in the active one. It returns the historical file's path.
func rolled(t testing.TB, dir string) (s *store.Set, path string) {
	t.Helper()
	s = openBare(t, dir)
	put(t, s, row(memd.Short, 1, "old short"), row(memd.Long, 2, "old long"), row(memd.Archive, 3, "old archived"))
	path = filepath.Join(dir, roll(t, s).File)
	if _, err := s.Settle(ctx, false); err != nil { // a new one is settled once
		t.Fatal(err)
	}
	put(t, s, row(memd.Short, 11, "new short"), row(memd.Long, 12, "new long"), row(memd.Archive, 13, "new archived"))
	return s, path
}

// unavailable is what a View that asked every database could not read.
func unavailable(t testing.TB, s *store.Set) (names []string) {
	t.Helper()
	view(t, s, func(v *store.View) (err error) {
		if _, _, err = v.Corpus(); err == nil {
			names, err = v.Unavailable()
		}
		return err
	})
	return names
}

// An active database of no bytes knows nothing of the historical ones, as one
// that is missing: nothing is made anew in its place.
func TestOpenBesideHistoryWithoutActive(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := rolled(t, dir)
			must(t, s.Close())
			path := filepath.Join(dir, store.ActiveName)
			must(t, harm(path))
			before := listing(t, dir)
			s, err := open(dir)
			if err == nil {
				must(t, s.Close())
			}
			codeIs(t, err, memd.CodeStoreFailed)
			if !strings.Contains(err.Error(), path+" is "+name) {
				t.Errorf("error %q does not say that %s is %s", err, path, name)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("changed on disk:\n%s\nnow\n%s", before, after)
			}
		})
	}
}

// listing is every file below dir with its bytes and the time of its last change.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		sum := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			sum, err = os.Readlink(path)
		case !d.IsDir():
			sum = digest(t, path)
		}
		if !d.IsDir() {
			all = append(all, fmt.Sprint(path, " ", info.Mode(), " ", info.ModTime().UnixNano(), " ", sum))
		}
		return err
	})
	must(t, err)
	return strings.Join(all, "\n")
}

// strange is what may lie in history/ and is no regular database of memd, each
// made at a path, with what a finding says of it.
func strange(t testing.TB) map[string]struct {
	lay  func(path string)
	says string
} {
	text := func(content string) func(string) {
		return func(path string) { must(t, os.WriteFile(path, []byte(content), 0o600)) }
	}
	sql := func(sql string) func(string) {
		return func(path string) { shellOn(t, path, sql); must(t, os.Chmod(path, 0o600)) }
	}
	sample := func(change func(string)) func(string) {
		return func(path string) {
			_, from := rolledClosed(t)
			must(t, os.Rename(from, path))
			change(path)
		}
	}
	return map[string]struct {
		lay  func(path string)
		says string
	}{
		"text":           {text(strings.Repeat("no database ", 100)), "is not a SQLite database"},
		"empty":          {text(""), "is empty"},
		"short":          {text("SQLite"), "is not a SQLite database"},
		"foreign":        {sql(`CREATE TABLE t (a); INSERT INTO t VALUES (1)`), "of another program"},
		"foreign logged": {sql(`PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)`), "of another program"},
		"truncated":      {sample(func(path string) { must(t, os.Truncate(path, 20000)) }), "is damaged"},
		"newer": {sample(func(path string) {
			shellOn(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`)
		}), "has schema 9000, newer than this memd's"},
		"newer logged": {sample(func(path string) {
			shellOn(t, path, `PRAGMA journal_mode = WAL; INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`)
		}), "has schema 9000, newer than this memd's"},
		"folder": {func(path string) { must(t, os.Mkdir(path, 0o700)) }, "is no regular file"},
		"link": {func(path string) {
			elsewhere := filepath.Join(t.TempDir(), "elsewhere")
			text("somebody's")(elsewhere)
			must(t, os.Symlink(elsewhere, path))
		}, "is no regular file"},
	}
}

// rolledClosed is a closed store and its one historical file.
func rolledClosed(t testing.TB) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s, path := rolled(t, dir)
	must(t, s.Close())
	return dir, path
}

// What lies in a historical database's place and is none is set aside, named
// and not touched; the rest is served, and nothing is told that only the
// missing rows could tell. Put back whole it is served again.
func TestSetAside(t *testing.T) {
	cases := strange(t)
	cases["missing"] = struct {
		lay  func(path string)
		says string
	}{func(string) {}, "is missing"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir, path := rolledClosed(t)
			kept := filepath.Join(t.TempDir(), "kept")
			must(t, os.Rename(path, kept))
			c.lay(path)
			before := listing(t, filepath.Dir(path))
			s := openBare(t, dir)
			aside(t, s, filepath.Base(path))
			if got := details(t, s, true); !strings.Contains(got, "history_file: history/"+filepath.Base(path)+": 3 rows unavailable: ") || !strings.Contains(got, c.says) {
				t.Errorf("found\n%s\nwant %q", got, c.says)
			}
			if _, err := s.Settle(ctx, true); err != nil {
				t.Errorf("settle: %v", err)
			}
			repaired, err := s.Repair(ctx)
			if err != nil || len(repaired.Mended) != 0 {
				t.Errorf("repaired %+v, %v", repaired, err)
			}
			must(t, s.Close())
			if after := listing(t, filepath.Dir(path)); after != before {
				t.Errorf("history/ was\n%s\nand is\n%s", before, after)
			}
			must(t, os.RemoveAll(path))
			must(t, os.Rename(kept, path))
			s = openBare(t, dir)
			finds(t, s, memd.Short, "short", row(memd.Short, 1, ""), row(memd.Short, 11, ""))
			if got := unavailable(t, s); len(got) != 0 {
				t.Errorf("unavailable: %q", got)
			}
			healthy(t, s)
			must(t, s.Close())
		})
	}
}

// aside fails unless the one historical database of rolled is set aside and all
// else works.
func aside(t testing.TB, s *store.Set, file string) {
	t.Helper()
	finds(t, s, memd.Short, "short", row(memd.Short, 11, ""))
	finds(t, s, memd.Long, "long", row(memd.Long, 12, ""))
	if got := unavailable(t, s); !slices.Equal(got, []string{"history/" + file + ": 3 rows unavailable"}) {
		t.Errorf("unavailable: %q", got)
	}
	if m, ok := get(t, s, row(memd.Long, 12, "").ID); !ok || m.Summary != "new long" {
		t.Errorf("read %+v, %v", m, ok)
	}
	codeIs(t, s.View(ctx, func(v *store.View) error {
		_, _, err := v.Get(row(memd.Short, 1, "").ID)
		return err
	}), memd.CodeStoreFailed)
	codeIs(t, s.View(ctx, func(v *store.View) error {
		_, err := v.Versions(memd.DefaultNamespace, "key-2")
		return err
	}), memd.CodeStoreFailed)
	codeIs(t, s.Update(ctx, func(tx *store.Tx) error {
		h, _, err := tx.Head(memd.DefaultNamespace, "key-2")
		if err == nil {
			_, _, err = tx.Row(h)
		}
		return err
	}), memd.CodeStoreFailed)
	codeIs(t, s.Update(ctx, func(tx *store.Tx) error { // not all of them are known
		_, err := tx.Versions(memd.DefaultNamespace, "key-2")
		return err
	}), memd.CodeStoreFailed)
	m := row(memd.Short, 20, "written meanwhile")
	put(t, s, m)
	write(t, s, func(tx *store.Tx) error {
		_, err := tx.Delete(memd.Short, m.ID)
		return err
	})
	st, err := s.Stats(ctx)
	must(t, err)
	if len(st.Databases) != 2 || st.Databases[1].State != "unavailable" || st.Databases[0].State != "active" {
		t.Errorf("statistics %+v", st.Databases)
	}
}

// details are the findings as text.
func details(t testing.TB, s *store.Set, quick bool) string {
	t.Helper()
	found, err := s.Check(ctx, quick)
	must(t, err)
	var all []string
	for _, f := range found {
		all = append(all, f.Check+": "+f.Detail)
	}
	return strings.Join(all, "\n")
}

// Damage that a reading meets sets the database aside as well.
func TestSetAsideWhileServing(t *testing.T) {
	dir, path := rolledClosed(t)
	text, err := os.ReadFile(path)
	must(t, err)
	at := strings.Index(string(text), "old short") &^ 4095
	for i := at; i < at+100; i++ {
		text[i] = byte(i*7 + 1)
	}
	must(t, os.WriteFile(path, text, 0o600))
	s := openBare(t, dir)
	defer s.Close()
	err = s.View(ctx, func(v *store.View) error {
		_, _, err := v.Get(row(memd.Short, 1, "").ID)
		return err
	})
	codeIs(t, err, memd.CodeStoreFailed)
	aside(t, s, filepath.Base(path))
}

// A commit that was cut short inside SQLite is rolled back by the next start.
func TestHotJournal(t *testing.T) {
	dir, path := rolledClosed(t)
	before := shellOn(t, path, `SELECT id, summary FROM memory ORDER BY id`)
	kept := t.TempDir()
	// The shell writes pages before its commit; what stands then is copied.
	shellOn(t, path, `PRAGMA cache_size = 1; BEGIN;
CREATE TABLE filling (a); INSERT INTO filling SELECT randomblob(2000) FROM (WITH RECURSIVE n (v) AS (VALUES (1) UNION ALL SELECT v + 1 FROM n WHERE v < 100) SELECT v FROM n);
DROP TABLE filling; UPDATE short SET raw_content = hex(randomblob(90000)); UPDATE long SET raw_content = hex(randomblob(90000));
.shell cp '`+path+`' '`+path+`-journal' '`+kept+`'
ROLLBACK;`)
	for _, name := range []string{path, path + "-journal"} {
		must(t, os.Rename(filepath.Join(kept, filepath.Base(name)), name))
	}
	if out, err := exec.Command(shellPath(t), "file:"+path+"?mode=ro", `SELECT count(*) FROM short`).CombinedOutput(); err == nil {
		t.Fatalf("the journal is not hot: the test shows nothing: %s", out)
	}
	s := openBare(t, dir)
	if got := unavailable(t, s); len(got) != 0 {
		t.Errorf("unavailable: %q", got)
	}
	healthy(t, s)
	finds(t, s, memd.Short, "short", row(memd.Short, 1, ""), row(memd.Short, 11, ""))
	must(t, s.Close())
	if after := shellOn(t, path, `SELECT id, summary FROM memory ORDER BY id`); after != before {
		t.Errorf("rows were\n%s\nand are\n%s", before, after)
	}
}

// A lock is no damage: while it is held the rest is served and the file named,
// and then the file is served again, by this process.
func TestLockIsNoDamage(t *testing.T) {
	for _, when := range []string{"at the start", "while serving"} {
		t.Run(when, func(t *testing.T) {
			dir, path := rolledClosed(t)
			var s *store.Set
			if when == "while serving" {
				s = openBare(t, dir)
			}
			release := lockedBy(t, path, "BEGIN EXCLUSIVE;")
			if s == nil {
				s = openBare(t, dir)
			}
			defer s.Close()
			finds(t, s, memd.Short, "short", row(memd.Short, 11, ""))
			if got := unavailable(t, s); len(got) != 1 {
				t.Errorf("unavailable: %q", got)
			}
			codeIs(t, s.View(ctx, func(v *store.View) error {
				_, _, err := v.Get(row(memd.Short, 1, "").ID)
				return err
			}), memd.CodeStoreBusy)
			codeIs(t, s.Update(ctx, func(tx *store.Tx) error {
				h, _, err := tx.Head(memd.DefaultNamespace, "key-2")
				if err == nil {
					_, _, err = tx.Row(h)
				}
				return err
			}), memd.CodeStoreBusy)
			if got := details(t, s, true); !strings.Contains(got, "history_file: ") || strings.Contains(got, "damaged") {
				t.Errorf("found %q", got)
			}
			release()
			finds(t, s, memd.Short, "short", row(memd.Short, 1, ""), row(memd.Short, 11, ""))
			if h, _ := head(t, s, "key-2"); h.File != filepath.Base(path) {
				t.Errorf("head %+v", h)
			}
			write(t, s, func(tx *store.Tx) error {
				m, ok, err := tx.Get(row(memd.Short, 1, "").ID)
				if !ok || err != nil {
					return fmt.Errorf("read %v, %v", ok, err)
				}
				m.Importance = 9
				return tx.UpdateMeta(&m)
			})
			healthy(t, s)
		})
	}
}

// A keyword index at fault sets nothing aside: the search of that file fails and
// is told, all else is served of it, also what is written.
func TestIndexFaultIsNoDamage(t *testing.T) {
	s, path := rolled(t, t.TempDir())
	defer s.Close()
	shellOn(t, path, `DELETE FROM short_fts_data WHERE id > 10; DELETE FROM archive_fts_data WHERE id > 10`)
	match := match("archived")
	view(t, s, func(v *store.View) error {
		found := 0
		if err := v.Postings(memd.Archive, nil, match, func(store.Loc) { found++ }); err != nil {
			return err
		}
		names, err := v.Unavailable()
		if found != 1 || len(names) != 1 {
			t.Errorf("found %d, unavailable %q", found, names)
		}
		return err
	})
	if m, ok := get(t, s, row(memd.Short, 1, "").ID); !ok || m.Summary != "old short" {
		t.Errorf("read %+v, %v", m, ok)
	}
	write(t, s, func(tx *store.Tx) error {
		m, ok, err := tx.Get(row(memd.Long, 2, "").ID)
		if !ok || err != nil {
			return fmt.Errorf("read %v, %v", ok, err)
		}
		m.Importance = 9
		return tx.UpdateMeta(&m)
	})
	write(t, s, func(tx *store.Tx) error {
		m, _, err := tx.Get(row(memd.Archive, 3, "").ID)
		if err != nil {
			return err
		}
		return tx.Bury(&m, s.Now())
	})
	if _, ok := get(t, s, row(memd.Archive, 3, "").ID); ok {
		t.Error("a forgotten row is read")
	}
	if _, err := s.Settle(ctx, true); memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("settled: %v", err)
	}
	if done, err := s.Repair(ctx); err != nil || len(done.Mended) != 1 || done.Mended[0].Check != "index" {
		t.Errorf("repaired %+v, %v", done, err)
	}
	if _, err := s.Settle(ctx, true); err != nil {
		t.Error(err)
	}
	healthy(t, s)
	finds(t, s, memd.Archive, "archived", row(memd.Archive, 13, ""))
	if got := shellOn(t, path, `SELECT count(*) FROM archive`); got != "0" {
		t.Errorf("%s archived rows are left in the file", got)
	}
}
