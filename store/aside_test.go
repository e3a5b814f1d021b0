package store_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
	put(t, s, row(memd.Short, 11, "new short"), row(memd.Long, 12, "new long"), row(memd.Archive, 13, "new archived"))
	return s, path
}

// shellOn runs SQL in the stock shell on the database at path.
func shellOn(t testing.TB, path, sql string) string {
	t.Helper()
	cmd := exec.Command(shellPath(t), "-batch", "-bail", "-cmd", ".timeout 5000", path)
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v: %s\n%s", err, out, sql)
	}
	return strings.TrimSpace(string(out))
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

// rolledClosed is a closed store and its one historical file.
func rolledClosed(t testing.TB) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s, path := rolled(t, dir)
	must(t, s.Close())
	return dir, path
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
