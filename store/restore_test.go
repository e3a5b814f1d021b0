package store_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// tree is every file below dir with its digest; what readers of a database
// leave beside it is not counted.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() && path == filepath.Join(dir, store.BackupDir) && len(names(t, path)) == 0 || strings.HasSuffix(path, "-shm"):
		case d.IsDir():
			fmt.Fprintln(&all, path)
		default:
			fmt.Fprintln(&all, path, digest(t, path))
		}
		return err
	}))
	return all.String()
}

func restore(t testing.TB, dir, from string) store.Restored {
	t.Helper()
	done, err := store.Restore(ctx, store.RestoreOptions{Dir: dir, From: from})
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	return done
}

// sound opens the store in dir, checks it whole and closes it.
func sound(t testing.TB, dir string) {
	t.Helper()
	s, err := open(dir)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	findings, err := s.Check(ctx, false)
	if err != nil || len(findings) != 0 {
		t.Errorf("the store is not sound: %v, %v", findings, err)
	}
	must(t, s.Close())
}

// sample is a closed store with rows in every tier, a backup of it, and what
// was written since: a new row, and a row of the backup that was forgotten.
func sample(t testing.TB, dir string) (b store.Backup, old string, gone memd.Memory) {
	t.Helper()
	s := openBare(t, dir)
	gone = row(memd.Long, 2, "the secret zanzibarfluke")
	put(t, s, row(memd.Short, 1, "a short row"), gone, row(memd.Archive, 3, "an archived row"), row(memd.Transient, 4, "a note"), row(memd.Long, 5, "a long row"))
	b = backup(t, s)
	old = allRows(t, dir)
	put(t, s, row(memd.Short, 6, "written since"))
	write(t, s, func(tx *store.Tx) error {
		if _, err := tx.Delete(gone.Tier, gone.ID); err != nil {
			return err
		}
		return tx.Bury(&gone, s.Now())
	})
	must(t, s.Close())
	return b, old, gone
}

// A restore gives the rows of the backup, into the same store or an empty one,
// and keeps what was there.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	b, old, gone := sample(t, dir)
	current := allRows(t, dir)
	done := restore(t, dir, b.Path)
	if done.Forgotten != 1 || len(done.Warnings) != 0 || done.Path != b.Path {
		t.Errorf("restored %+v", done)
	}
	sound(t, dir)
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "restoring") {
			t.Errorf("%s is left", name)
		}
	}
	// What was forgotten since the backup stays forgotten, in every file.
	if got := shell(t, dir, `SELECT group_concat(id || coalesce(memory_key, ''), ' ') FROM memory; SELECT count(*) FROM tombstone`); strings.Contains(got, gone.ID) || !strings.HasSuffix(got, "\n1") {
		t.Errorf("after the restore there is %s", got)
	}
	outside := t.TempDir() // what lies in the folder outside backups/
	must(t, os.Link(filepath.Join(dir, store.ActiveName), filepath.Join(outside, "active")))
	if files := holding(t, outside, "zanzibarfluke"); len(files) != 0 || len(holding(t, b.Path, "zanzibarfluke")) == 0 {
		t.Errorf("the forgotten body is in %q, or the test shows nothing", files)
	}
	if got := allRows(t, done.Replaced); got != current {
		t.Errorf("what was replaced holds\n%s\nwant\n%s", got, current)
	}
	empty := t.TempDir()
	if done := restore(t, empty, b.Path); done.Replaced != "" || done.Forgotten != 0 {
		t.Errorf("restored into nothing: %+v", done)
	}
	sound(t, empty)
	if got := allRows(t, empty); got != old {
		t.Errorf("restored\n%s\nwant\n%s", got, old)
	}
	if left := names(t, filepath.Join(empty, store.BackupDir)); len(left) != 0 {
		t.Errorf("an empty folder replaced: %q", left)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// A backup holds several databases; what was forgotten leaves all of them.
func TestRestoreOfHistory(t *testing.T) {
	dir := t.TempDir()
	b, _, gone := sample(t, dir)
	const name = "history/agent_memory-20261130T020000Z.db"
	must(t, os.Mkdir(filepath.Join(b.Path, "history"), 0o700))
	other := openBare(t, t.TempDir())
	put(t, other, gone, row(memd.Short, 9, "of last year"))
	must(t, other.Close())
	shell(t, other.Dir(), `PRAGMA journal_mode = DELETE`)
	text, err := os.ReadFile(filepath.Join(other.Dir(), store.ActiveName))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(b.Path, name), text, 0o600))
	b.Manifest.Files = append(b.Manifest.Files, store.BackupFile{Name: name, Size: int64(len(text)),
		SHA256: digest(t, filepath.Join(b.Path, name)), Rows: store.TierRows{Short: 1, Long: 1}})
	rewrite(t, b)
	must(t, os.WriteFile(filepath.Join(dir, "history", "kept.txt"), []byte("old"), 0o600))
	done := restore(t, dir, b.Path)
	if done.Forgotten != 2 {
		t.Errorf("%d rows forgotten, want one in each database", done.Forgotten)
	}
	if got := names(t, filepath.Join(dir, "history")); len(got) != 1 || got[0] != filepath.Base(name) {
		t.Errorf("history holds %q", got)
	}
	if !exists(filepath.Join(done.Replaced, "history", "kept.txt")) {
		t.Error("the old history is not among what was replaced")
	}
	if out, err := exec.Command("sqlite3", filepath.Join(dir, name), "SELECT group_concat(summary) FROM memory; PRAGMA journal_mode;").Output(); err != nil || string(out) != "of last year\ndelete\n" {
		t.Errorf("the historical database: %s, %v", out, err)
	}
	shell(t, dir, `INSERT INTO history VALUES ('`+filepath.Base(name)+`', 1, 'sealed', '', 0, 0, 0, 0, 0, 0)`)
	sound(t, dir)
}

func rewrite(t testing.TB, b store.Backup) {
	t.Helper()
	text, err := json.Marshal(b.Manifest)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(b.Path, store.ManifestName), text, 0o600))
}

// truthfully makes the manifest true again after its database was changed.
func truthfully(t testing.TB, b store.Backup) {
	t.Helper()
	path := filepath.Join(b.Path, store.ActiveName)
	b.Manifest.Files[0].Size, b.Manifest.Files[0].SHA256 = size(t, path), digest(t, path)
	rewrite(t, b)
}

// A backup that is not whole, not memd's or not for this release is refused,
// and not a byte of the store is changed.
func TestRestoreRefuses(t *testing.T) {
	edit := func(t *testing.T, b store.Backup, fn func([]byte) []byte) {
		path := filepath.Join(b.Path, store.ActiveName)
		text, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, fn(text), 0o600))
	}
	for name, spoil := range map[string]func(t *testing.T, b store.Backup){
		"a flipped byte": func(t *testing.T, b store.Backup) {
			edit(t, b, func(x []byte) []byte { x[len(x)/2] ^= 1; return x })
		},
		"truncated": func(t *testing.T, b store.Backup) {
			edit(t, b, func(x []byte) []byte { return x[:len(x)-4096] })
		},
		"longer": func(t *testing.T, b store.Backup) {
			edit(t, b, func(x []byte) []byte { return append(x, 0) })
		},
		"a missing file": func(t *testing.T, b store.Backup) { must(t, os.Remove(filepath.Join(b.Path, store.ActiveName))) },
		"no manifest":    func(t *testing.T, b store.Backup) { must(t, os.Remove(filepath.Join(b.Path, store.ManifestName))) },
		"broken manifest": func(t *testing.T, b store.Backup) {
			must(t, os.WriteFile(filepath.Join(b.Path, store.ManifestName), []byte("{"), 0o600))
		},
		"unknown field": func(t *testing.T, b store.Backup) {
			must(t, os.WriteFile(filepath.Join(b.Path, store.ManifestName), []byte(`{"x":1}`), 0o600))
		},
		"no files": func(t *testing.T, b store.Backup) { b.Manifest.Files = nil; rewrite(t, b) },
		"a foreign file": func(t *testing.T, b store.Backup) {
			must(t, os.WriteFile(filepath.Join(b.Path, "notes.txt"), nil, 0o600))
		},
		"a link": func(t *testing.T, b store.Backup) {
			path := filepath.Join(b.Path, store.ActiveName)
			must(t, os.Rename(path, path+".away"))
			must(t, os.Rename(path+".away", filepath.Join(t.TempDir(), "x")))
			must(t, os.Symlink("/etc/passwd", path))
		},
		"a way out": func(t *testing.T, b store.Backup) {
			b.Manifest.Files = append(b.Manifest.Files, store.BackupFile{Name: "../x", SHA256: "0"})
			rewrite(t, b)
		},
		"a way out by history": func(t *testing.T, b store.Backup) {
			b.Manifest.Files = append(b.Manifest.Files, store.BackupFile{Name: "history/../../x.db"})
			rewrite(t, b)
		},
		"a missing one of another name": func(t *testing.T, b store.Backup) {
			b.Manifest.Missing = []string{"../x.db"}
			rewrite(t, b)
		},
		"a missing one that is there": func(t *testing.T, b store.Backup) {
			b.Manifest.Missing = []string{store.ActiveName}
			rewrite(t, b)
		},
		"an absolute name": func(t *testing.T, b store.Backup) { b.Manifest.Files[0].Name = "/etc/passwd"; rewrite(t, b) },
		"one name twice": func(t *testing.T, b store.Backup) {
			b.Manifest.Files = append(b.Manifest.Files, b.Manifest.Files[0])
			rewrite(t, b)
		},
		"a newer manifest": func(t *testing.T, b store.Backup) { b.Manifest.Schema = 99; rewrite(t, b) },
		"a newer schema": func(t *testing.T, b store.Backup) {
			shell(t, b.Path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (7, 1)`)
			truthfully(t, b)
		},
		"another program's": func(t *testing.T, b store.Backup) {
			shell(t, b.Path, `PRAGMA application_id = 7`)
			truthfully(t, b)
		},
		"other rows": func(t *testing.T, b store.Backup) {
			shell(t, b.Path, `DELETE FROM short`)
			truthfully(t, b)
		},
		"no database": func(t *testing.T, b store.Backup) {
			edit(t, b, func([]byte) []byte { return []byte("no database at all") })
			truthfully(t, b)
		},
		"damaged pages": func(t *testing.T, b store.Backup) {
			edit(t, b, func(x []byte) []byte {
				for i := 8192; i < len(x); i++ {
					x[i] = byte(i * 7)
				}
				return x
			})
			truthfully(t, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b, _, _ := sample(t, dir)
			spoil(t, b)
			before := tree(t, dir)
			_, err := store.Restore(ctx, store.RestoreOptions{Dir: dir, From: b.Path})
			codeIs(t, err, memd.CodeStoreFailed)
			if !strings.Contains(errorHint(err), "another backup") {
				t.Errorf("no way out: %v, hint %q", err, errorHint(err))
			}
			if after := tree(t, dir); after != before {
				t.Errorf("a refused restore changed\n%s\nto\n%s", before, after)
			}
			sound(t, dir)
		})
	}
}

// A store too damaged to be read is replaced too, and it is said that what was
// forgotten cannot be told.
func TestRestoreOverDamage(t *testing.T) {
	dir := t.TempDir()
	b, old, _ := sample(t, dir)
	must(t, os.WriteFile(filepath.Join(dir, store.ActiveName), []byte(strings.Repeat("rubbish ", 1000)), 0o600))
	done := restore(t, dir, b.Path)
	if len(done.Warnings) != 1 || done.Forgotten != 0 || !exists(filepath.Join(done.Replaced, store.ActiveName)) {
		t.Errorf("restored %+v", done)
	}
	sound(t, dir)
	if got := allRows(t, dir); got != old {
		t.Errorf("restored\n%s\nwant\n%s", got, old)
	}
}
