package store_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/store"
)

// several is a closed store of four databases, the state it is in, and a backup
// of when it had three: since then a row of each was forgotten and one written.
type several struct {
	dir, backup string
	rows        string // of the store as it is
	restored    string // rows of the store once the backup is in its place
}

func newSeveral(t *testing.T) several {
	t.Helper()
	v := several{dir: t.TempDir()}
	s := layered(t, v.dir)
	v.backup = filepath.Base(backup(t, s).Path)
	bury(t, s, id(10), id(21), id(32))
	roll(t, s)
	put(t, s, row(memd.Short, 50, "written since"))
	must(t, s.Close())
	v.rows = everyRow(t, v.dir)
	whole := v.copy(t)
	restore(t, whole, v.backupIn(whole))
	v.restored = everyRow(t, whole)
	for _, n := range []int{10, 21, 32, 50} {
		if strings.Contains(v.restored, id(n)) {
			t.Fatalf("row %d is in what a whole restore gives", n)
		}
	}
	return v
}

// copy is the store in a folder of its own.
func (v several) copy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	if out, err := exec.Command("cp", "-a", v.dir, dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	return dir
}

func (v several) backupIn(dir string) string { return filepath.Join(dir, store.BackupDir, v.backup) }

// withNumbers tells steps that are taken more than once apart.
func withNumbers(told []string) []string {
	taken := map[string]int{}
	var all []string
	for _, step := range told {
		taken[step]++
		all = append(all, fmt.Sprint(step, "#", taken[step]))
	}
	return all
}

func testName(step string) string {
	_, name, _ := strings.Cut(step, "/")
	return strings.ReplaceAll(name, "/", " ")
}

// Killed at any step a backup of several databases leaves them as they were,
// and no backup or a whole one; the next one clears up.
func TestBackupOfHistoryKilled(t *testing.T) {
	v := newSeveral(t)
	told := withNumbers(die(t, v.copy(t), "backup", "never"))
	if want := []string{"backup/copy#4", "backup/together#1", "backup/copied#4"}; !containsAll(told, want) {
		t.Fatalf("steps %q, want %q among them", told, want)
	}
	for _, step := range told {
		t.Run(testName(step), func(t *testing.T) {
			dir := v.copy(t)
			die(t, dir, "backup", step)
			sound(t, dir)
			if got := everyRow(t, dir); got != v.rows {
				t.Errorf("the store was changed from\n%s\nto\n%s", v.rows, got)
			}
			finished := 0
			for _, name := range names(t, filepath.Join(dir, store.BackupDir)) {
				if path := filepath.Join(dir, store.BackupDir, name); strings.HasPrefix(name, "memd-") && name != v.backup {
					finished++
					into := t.TempDir()
					restore(t, into, path)
					if got := everyRow(t, into); got != v.rows {
						t.Errorf("the backup holds\n%s\nwant\n%s", got, v.rows)
					}
				}
			}
			if want := map[bool]int{true: 1}[step == "backup/renamed#1"]; finished != want {
				t.Errorf("%d backups, want %d", finished, want)
			}
			s := openBare(t, dir)
			backup(t, s)
			must(t, s.Close())
			for _, name := range names(t, filepath.Join(dir, store.BackupDir)) {
				if strings.HasPrefix(name, ".") {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

func containsAll(all, want []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(all, s) })
}

// oldOrNew fails unless the store in dir is whole, and the old one, or the one
// of the backup with all of the old one kept.
func (v several) oldOrNew(t *testing.T, dir string, forward bool) {
	t.Helper()
	sound(t, dir)
	onceEach(t, dir)
	counted(t, dir)
	got, kept := everyRow(t, dir), ""
	for _, name := range names(t, filepath.Join(dir, store.BackupDir)) {
		if at := filepath.Join(dir, store.BackupDir, name); strings.HasPrefix(name, "replaced-") && len(names(t, at)) > 0 {
			kept = everyRow(t, at)
		}
	}
	switch {
	case !forward && (got != v.rows || kept != ""):
		t.Errorf("begun and not more, yet the store holds\n%s\nwant\n%s\nand was replaced: %s", got, v.rows, kept)
	case forward && got != v.restored:
		t.Errorf("carried through, the store holds\n%s\nwant\n%s", got, v.restored)
	case forward && kept != v.rows:
		t.Errorf("what was replaced holds\n%s\nwant\n%s", kept, v.rows)
	}
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "restoring") {
			t.Errorf("%s is left", name)
		}
	}
}

// Killed at any step a restore over several databases leaves all of the old
// ones or all of the new ones, as the next start finds out.
func TestRestoreOfHistoryKilled(t *testing.T) {
	v := newSeveral(t)
	whole := v.copy(t)
	told := withNumbers(die(t, whole, "restore", "never", v.backupIn(whole)))
	if want := []string{"restore/copy#3", "restore/bury#3", "restore/aside/history#1", "restore/placed/history#1"}; !containsAll(told, want) {
		t.Fatalf("steps %q, want %q among them", told, want)
	}
	marked := slices.Index(told, "restore/marked#1")
	for i, step := range told {
		t.Run(testName(step), func(t *testing.T) {
			dir := v.copy(t)
			die(t, dir, "restore", step, v.backupIn(dir))
			v.oldOrNew(t, dir, i >= marked)
			s := openBare(t, dir) // and it is a store like any other
			put(t, s, row(memd.Short, 77, "after it all"))
			roll(t, s)
			must(t, s.Close())
		})
	}
	for _, step := range told[marked+1:] { // a start that carries it through may be killed as well
		t.Run("start "+testName(step), func(t *testing.T) {
			dir := v.copy(t)
			die(t, dir, "restore", "restore/marked", v.backupIn(dir))
			die(t, dir, "open", step)
			v.oldOrNew(t, dir, true)
		})
	}
}
