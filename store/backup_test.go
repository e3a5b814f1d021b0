package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/migrations"
	"memd/store"
)

// backup makes a backup in the default folder.
func backup(t testing.TB, s *store.Set) store.Backup {
	t.Helper()
	b, err := s.Backup(ctx, "")
	if err != nil {
		t.Fatalf("backup: %v", err)
	}
	return b
}

// allRows is every row of the database below dir, column by column.
func allRows(t testing.TB, dir string) string {
	t.Helper()
	return shell(t, dir, `SELECT * FROM transient ORDER BY id; SELECT * FROM short ORDER BY id; SELECT * FROM long ORDER BY id;
SELECT * FROM archive ORDER BY id; SELECT * FROM head ORDER BY namespace, memory_key; SELECT * FROM tally ORDER BY tier;`)
}

// Under eight writers a backup holds every write answered before it began, is
// sound, and is what its manifest says.
func TestBackupUnderWriters(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	var next, acked atomic.Int64
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for n := int(next.Add(1)); n <= 3000; n = int(next.Add(1)) {
				m := row(memd.Short, n, fmt.Sprintf("row %d with some words", n))
				if err := s.Update(ctx, func(tx *store.Tx) error { return tx.Insert(&m) }); err != nil {
					t.Error(err)
					return
				}
				acked.Add(1)
			}
		})
	}
	for _, least := range []int64{200, 1000, 2000} {
		await(t, "acknowledged writes", func() bool { return acked.Load() >= least })
		before := shell(t, s.Dir(), `SELECT id FROM short ORDER BY id`)
		b := backup(t, s)
		held := map[string]bool{}
		for id := range strings.SplitSeq(shell(t, b.Path, `SELECT id FROM short`), "\n") {
			held[id] = true
		}
		for id := range strings.SplitSeq(before, "\n") {
			if !held[id] {
				t.Fatalf("%s was acknowledged before the backup and is not in it", id)
			}
		}
		if got := shell(t, b.Path, indexCheck); got != "ok" {
			t.Errorf("the backup is damaged: %s", got)
		}
		truthful(t, b)
		if f := b.Manifest.Files[0]; f.Rows.Short != len(held) {
			t.Errorf("the manifest says %d rows, there are %d", f.Rows.Short, len(held))
		}
	}
	writers.Wait()
	made := filepath.Join(s.Dir(), store.BackupDir)
	for _, name := range names(t, made) {
		into := t.TempDir()
		restore(t, into, filepath.Join(made, name))
		if allRows(t, into) != allRows(t, filepath.Join(made, name)) {
			t.Errorf("a restore of %s gives other rows", name)
		}
	}
}

// truthful holds a backup's folder against its manifest, and its modes.
func truthful(t testing.TB, b store.Backup) {
	t.Helper()
	var m store.BackupManifest
	text, err := os.ReadFile(filepath.Join(b.Path, store.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil || fmt.Sprint(m) != fmt.Sprint(b.Manifest) {
		t.Errorf("the file says %+v, the answer %+v (%v)", m, b.Manifest, err)
	}
	entries, err := os.ReadDir(b.Path)
	if err != nil || len(entries) != len(m.Files)+1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	for _, f := range m.Files {
		path := filepath.Join(b.Path, f.Name)
		if size(t, path) != f.Size || digest(t, path) != f.SHA256 {
			t.Errorf("%s is not what the manifest says", f.Name)
		}
	}
	for path, want := range map[string]os.FileMode{b.Path: 0o700, filepath.Dir(b.Path): 0o700,
		filepath.Join(b.Path, store.ActiveName): 0o600, filepath.Join(b.Path, store.ManifestName): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
}

// The default folder keeps the newest; what is no backup stays.
func TestBackupKeep(t *testing.T) {
	dir, clock := t.TempDir(), memtest.NewClock()
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: clock.Now, KeepBackups: 2, Version: "v9"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put(t, s, row(memd.Short, 1, "one"))
	folder := filepath.Join(dir, store.BackupDir)
	must(t, os.MkdirAll(filepath.Join(folder, "memd-20200101T000000Z"), 0o700)) // without a manifest
	must(t, os.MkdirAll(filepath.Join(folder, "replaced-20200101T000000Z"), 0o700))
	var made []string
	for n := range 5 {
		if n != 2 { // two within one second
			clock.Advance(time.Second)
		}
		b := backup(t, s)
		made = append(made, filepath.Base(b.Path))
		if b.Manifest.Version != "v9" || b.Manifest.Schema != migrations.Latest || !b.Manifest.CreatedAt.Equal(clock.Now()) {
			t.Errorf("manifest %+v", b.Manifest)
		}
	}
	if want := made[1] + "-2"; made[2] != want {
		t.Errorf("the second backup of a second is %s, want %s", made[2], want)
	}
	elsewhere := t.TempDir()
	for range 3 {
		if _, err := s.Backup(ctx, elsewhere); err != nil {
			t.Fatal(err)
		}
	}
	want := append([]string{"memd-20200101T000000Z"}, made[3], made[4], "replaced-20200101T000000Z")
	if got := names(t, folder); !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	if got := names(t, elsewhere); len(got) != 3 {
		t.Errorf("a folder of the caller's choice holds %q, want three", got)
	}
}

func names(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestBackupRefused(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	put(t, s, row(memd.Short, 1, "one"))
	before := tree(t, s.Dir())
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(filepath.Join(s.Dir(), store.HistoryDir), link))
	for _, to := range []string{
		file, filepath.Join(file, "below"), s.Dir(), filepath.Join(s.Dir(), store.HistoryDir), filepath.Join(s.Dir(), store.BackupDir, "x"),
		link, filepath.Join(link, "a", "b"),
	} {
		_, err := s.Backup(ctx, to)
		codeIs(t, err, memd.CodeInvalidRequest)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Backup(cancelled, t.TempDir()); err == nil {
		t.Error("a cancelled backup is answered as done")
	}
	s.SetFreeSpace(1 << 20)
	to := t.TempDir()
	_, err := s.Backup(ctx, to)
	codeIs(t, err, memd.CodeBudgetExceeded)
	if !strings.Contains(err.Error(), "1048576") || errorHint(err) == "" {
		t.Errorf("a full disk is told as %v", err)
	}
	if left := names(t, to); len(left) != 0 {
		t.Errorf("refused, yet there is %q", left)
	}
	if got := tree(t, s.Dir()); got != before {
		t.Errorf("a refused backup changed the store from\n%s\nto\n%s", before, got)
	}
}

// What a killed backup of this store left is removed, another store's is not.
func TestBackupClearsLeftovers(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	to := t.TempDir()
	mine, others := filepath.Join(to, store.Unfinished(s.Dir())+"123"), filepath.Join(to, store.Unfinished("/elsewhere")+"123")
	must(t, os.MkdirAll(mine, 0o700))
	must(t, os.MkdirAll(others, 0o700))
	b, err := s.Backup(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, to), []string{filepath.Base(others), filepath.Base(b.Path)}; !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
}

// A second backup does not wait for the first, and a closed store gives none.
func TestBackupOneAtATime(t *testing.T) {
	s := openBare(t, t.TempDir())
	var once sync.Once
	var second error
	_, err := s.Backup(store.WithSteps(ctx, func(string) {
		once.Do(func() { _, second = s.Backup(ctx, "") })
	}), "")
	if err != nil {
		t.Fatal(err)
	}
	codeIs(t, second, memd.CodeStoreBusy)
	must(t, s.Close())
	_, err = s.Backup(ctx, "")
	codeIs(t, err, memd.CodeStoreBusy)
}

// When the last backup was made outlives a rollover and a restart; one that
// failed does not count.
func TestLastBackup(t *testing.T) {
	dir, clock := t.TempDir(), memtest.NewClock()
	s, err := open(dir)
	must(t, err)
	last := func(s *store.Set) string {
		t.Helper()
		at, err := s.LastBackup(ctx)
		must(t, err)
		st, err := s.Stats(ctx)
		must(t, err)
		if st.LastBackupAt != at.String() {
			t.Errorf("stats say %q, the store %s", st.LastBackupAt, at)
		}
		return at.String()
	}
	if got := last(s); got != "" {
		t.Errorf("never made, yet at %s", got)
	}
	if _, err := s.Backup(ctx, s.Dir()); err == nil || last(s) != "" {
		t.Error("a refused backup counts")
	}
	put(t, s, row(memd.Short, 1, "one"))
	b := backup(t, s)
	want := b.Manifest.CreatedAt.String()
	if want != memd.At(clock.Now()).String() || last(s) != want {
		t.Errorf("last made at %s, want %s", last(s), want)
	}
	roll(t, s)
	must(t, s.Close())
	s = memtest.Store(t, dir, nil, nil)
	if got := last(s); got != want {
		t.Errorf("after a rollover and a restart at %s, want %s", got, want)
	}
	shell(t, dir, `UPDATE meta SET value = 'yesterday' WHERE key = 'last_backup_at'`)
	if at, err := s.LastBackup(ctx); err != nil || !at.IsZero() {
		t.Errorf("spoilt by hand it is %s, %v", at, err)
	}
}
