package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// made is the path of a database file in a new folder, as sql made it.
func made(t *testing.T, sql string) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, sql)
	return filepath.Join(dir, store.ActiveName)
}

// memdFile is the path of a closed memd database with one row, further
// treated with sql.
func memdFile(t *testing.T, sql string) string {
	t.Helper()
	dir := t.TempDir()
	s, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, row(memd.Short, 1, "a row to be kept"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if sql != "" {
		shell(t, dir, sql)
	}
	return filepath.Join(dir, store.ActiveName)
}

func cut(t *testing.T, path string, size int64) string {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeFile(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), store.ActiveName)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is no healthy memd database of this release is refused by name, and
// stays as it was to the last byte.
func TestOpenRefuses(t *testing.T) {
	const foreign = `CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, url TEXT); INSERT INTO bookmarks (url) VALUES ('https://example.com');`
	tests := map[string]struct {
		path string
		says string
	}{
		"text":                    {writeFile(t, bytes.Repeat([]byte("this is a letter, not a database\n"), 200)), "is not a SQLite database"},
		"short text":              {writeFile(t, []byte("hello")), "is not a SQLite database"},
		"foreign":                 {made(t, foreign), "another program"},
		"foreign in WAL mode":     {made(t, `PRAGMA journal_mode=wal;`+foreign), "another program"},
		"foreign with goose":      {made(t, foreign+`CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER, is_applied INTEGER, tstamp TEXT); INSERT INTO goose_db_version VALUES (1, 1, 1, '');`), "another program"},
		"foreign, still empty":    {made(t, `PRAGMA application_id = 252006674; PRAGMA user_version = 3;`), "another program"},
		"newer schema":            {memdFile(t, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`), "newer than this memd's"},
		"schema, version lost":    {memdFile(t, `DELETE FROM goose_db_version`), "another program"},
		"truncated to a half":     {cut(t, memdFile(t, ""), 100<<10), "malformed"},
		"truncated in page one":   {cut(t, memdFile(t, ""), 1000), "malformed"},
		"truncated in its header": {cut(t, memdFile(t, ""), 60), "malformed"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if err := os.Chmod(c.path, 0o640); err != nil {
				t.Fatal(err)
			}
			before, beside := digest(t, c.path), entries(t, filepath.Dir(c.path))
			s, err := open(filepath.Dir(c.path))
			if err == nil {
				s.Close()
				t.Fatal("was opened")
			}
			codeIs(t, err, memd.CodeStoreFailed)
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("error %q; want one that names %s and says %q", err, c.path, c.says)
			}
			if digest(t, c.path) != before {
				t.Error("the file was changed")
			}
			if info, err := os.Stat(c.path); err != nil || info.Mode() != 0o640 {
				t.Errorf("its mode is %v now, %v", info.Mode(), err)
			}
			names := strings.NewReplacer(" "+store.ActiveName+"-wal", "", " "+store.ActiveName+"-shm", "").Replace(entries(t, filepath.Dir(c.path)))
			if names != beside {
				t.Errorf("the folder held %s, now %s", beside, names)
			}
		})
	}
}

func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestOpenDirectoryInPlace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, store.ActiveName)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := open(dir)
	codeIs(t, err, memd.CodeStoreFailed)
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("error %q does not say that %s is no file", err, path)
	}
}

// Of a link beside the database that has the name of one of SQLite's files nothing is
// changed where it leads.
func TestOpenLinkBeside(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm"} {
		dir := t.TempDir()
		target, path := filepath.Join(t.TempDir(), "precious"), filepath.Join(dir, store.ActiveName+suffix)
		must(t, os.WriteFile(target, []byte("kept"), 0o600))
		must(t, os.Chmod(target, 0o644))
		must(t, os.Symlink(target, path))
		_, err := open(dir)
		codeIs(t, err, memd.CodeStoreFailed)
		if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("error %q does not say that %s is no file", err, path)
		}
		info, err := os.Stat(target)
		must(t, err)
		if text, _ := os.ReadFile(target); string(text) != "kept" || info.Mode() != 0o644 {
			t.Errorf("the file that %s leads to holds %q, its mode is %v", suffix, text, info.Mode())
		}
	}
}

// A link would be what a rollover moves into history, where none is read.
func TestOpenLinkInPlace(t *testing.T) {
	target, dir := memdFile(t, ""), t.TempDir()
	before := digest(t, target)
	path := filepath.Join(dir, store.ActiveName)
	must(t, os.Symlink(target, path))
	_, err := open(dir)
	codeIs(t, err, memd.CodeStoreFailed)
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("error %q does not say that %s is no file", err, path)
	}
	if digest(t, target) != before {
		t.Error("the file that the link names was changed")
	}
}

// A folder that may not be written is an error that names it, whether the
// database is there already or not, and changes nothing. The opener is another
// process of another user: root may write anywhere.
func TestOpenReadOnlyFolder(t *testing.T) {
	const nobody = 65534
	root := os.Getuid() == 0
	for _, existing := range []bool{true, false} {
		t.Run("existing "+strconv.FormatBool(existing), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, store.ActiveName)
			before := ""
			if existing {
				path = memdFile(t, "")
				dir = filepath.Dir(path)
				before = digest(t, path)
			}
			if root {
				for _, p := range []string{path, filepath.Join(dir, store.HistoryDir), dir} {
					if err := os.Chown(p, nobody, nobody); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
				}
				if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(dir, 0o555); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o700)
			cmd := exec.Command("/proc/self/exe", "-store.open="+dir)
			if root {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
				t.Fatalf("the opener ended with %v: %s", err, out)
			}
			if !strings.Contains(string(out), dir) || !strings.Contains(string(out), "must be writable") {
				t.Errorf("error %q does not name %s and say what to do", out, dir)
			}
			if existing && digest(t, path) != before {
				t.Error("the file was changed")
			}
		})
	}
}

// hot puts beside a database of one page the journal of a commit that was cut
// short before it changed a page (sqlite.org/fileformat.html, 3).
func hot(t *testing.T, path string) string {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Size() != 4096 {
		t.Fatalf("no database of one page: %v, %v", info, err)
	}
	journal := []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}
	for _, n := range []uint32{0, 1, 1, 512, 4096} { // records, nonce, pages before, sector, page
		journal = binary.BigEndian.AppendUint32(journal, n)
	}
	must(t, os.WriteFile(path+"-journal", append(journal, make([]byte, 512-len(journal))...), 0o600))
	return path
}

// A daemon killed before, or within, its first migration finds a file that it
// takes up again.
func TestOpenAfterKillBeforeMigration(t *testing.T) {
	const goose = `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
 is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now'))); INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1);`
	for name, path := range map[string]string{
		"empty file":       writeFile(t, nil),
		"header alone":     made(t, `PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;`),
		"goose table only": made(t, `PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;`+goose),
		"first commit cut": hot(t, made(t, `PRAGMA auto_vacuum = INCREMENTAL; PRAGMA user_version = 1; PRAGMA user_version = 0;`)),
	} {
		t.Run(name, func(t *testing.T) {
			s := memtest.Store(t, filepath.Dir(path), nil, nil)
			m := row(memd.Short, 1, "the first row")
			put(t, s, m)
			finds(t, s, memd.Short, "first row", m)
			if got, err := s.Pragma(ctx, "auto_vacuum"); got != "2" || err != nil {
				t.Errorf("auto_vacuum is %s, %v", got, err)
			}
		})
	}
}

func TestOpenReopens(t *testing.T) {
	dir := t.TempDir()
	m := row(memd.Long, 1, "what outlives a restart 重启之后")
	for n := range 3 {
		s, err := open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			put(t, s, m)
		}
		finds(t, s, memd.Long, "restart", m)
		finds(t, s, memd.Long, "重启", m)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if names := entries(t, dir); names != store.ActiveName+" "+store.HistoryDir {
			t.Errorf("a closed store leaves %s", names)
		}
	}
}

// Whatever the umask, and whatever rights the file had, none but the owner
// may read a database or its log.
func TestOpenFileModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	path := filepath.Join(dir, store.ActiveName)
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, row(memd.Short, 1, "private"))
	modes(t, dir)
	// What a crash left behind, opened up by a careless copy.
	beside := map[string][]byte{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		beside[suffix] = memtest.ReadFile(t, path+suffix)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for suffix, content := range beside {
		if err := errors.Join(os.WriteFile(path+suffix, content, 0o666), os.Chmod(path+suffix, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	s = memtest.Store(t, dir, nil, nil)
	finds(t, s, memd.Short, "private", row(memd.Short, 1, ""))
	modes(t, dir)
}

func modes(t *testing.T, dir string) {
	t.Helper()
	for name, want := range map[string]os.FileMode{
		store.ActiveName: 0o600, store.ActiveName + "-wal": 0o600, store.ActiveName + "-shm": 0o600,
		store.HistoryDir: 0o700 | os.ModeDir,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestOpenPragmas(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for pragma, want := range map[string]string{
		"auto_vacuum": "2", "journal_mode": "wal", "synchronous": "2", "secure_delete": "1",
		"busy_timeout": "5000", "application_id": "1835363684",
	} {
		if got, err := s.Pragma(ctx, pragma); got != want || err != nil {
			t.Errorf("%s is %s (%v), want %s", pragma, got, err, want)
		}
	}
}

func TestOpenOddPaths(t *testing.T) {
	for _, name := range []string{
		"with space", "50%", "%2e%2e", "what?", "a#b", "a&b=c", "?mode=memory", "数据 目录", "ünï", "a:b", `back\slash`, "'quoted'", "file:x",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			m := row(memd.Short, 1, "found under an odd path")
			s := memtest.Store(t, dir, nil, nil)
			put(t, s, m)
			finds(t, s, memd.Short, "odd", m)
			if names := entries(t, dir); names != "agent_memory.db agent_memory.db-shm agent_memory.db-wal history" {
				t.Errorf("the folder holds %s", names)
			}
			if names := entries(t, filepath.Dir(dir)); names != name {
				t.Errorf("beside the folder stands %s", names)
			}
		})
	}
}

// A closed store keeps no goroutine and answers, however often it is closed.
func TestClosed(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	s, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, row(memd.Short, 1, "x"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	goleak.VerifyNone(t, leaks)
	codeIs(t, s.Update(ctx, func(*store.Tx) error { return nil }), memd.CodeStoreBusy)
	codeIs(t, s.View(ctx, func(*store.View) error { return nil }), memd.CodeStoreBusy)
}
