package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// meetDoom is the child: it does what is asked in dir and dies at a step, or at
// the second time that it is taken (STEP#2), and so on.
func meetDoom(dir string, words []string) error {
	switch words[0] {
	case "fault":
		return meetFault(dir, words[1], words[2], words[3], words[4] == "die")
	case "plot":
		return doPlot(dir, words[2], numbered(func(step string) { tell(step, words[1]) }))
	}
	taken := map[string]int{}
	doing := store.WithSteps(ctx, func(step string) {
		last := words[1]
		if taken[step]++; fmt.Sprint(step, "#", taken[step]) == last {
			last = step
		}
		tell(step, last)
	})
	switch words[0] {
	case "open":
		s, err := store.Open(doing, store.Options{Dir: dir, Budgets: configs.DefaultBudgets()})
		if err != nil {
			return err
		}
		return s.Close()
	case "embed":
		return embedUntil(doing, dir, func() { tell("embed/made", words[1]) })
	case "restore":
		_, err := store.Restore(doing, store.RestoreOptions{Dir: dir, From: words[2]})
		return err
	}
	s, err := open(dir)
	if err != nil {
		return err
	}
	if _, err := s.Backup(doing, ""); err != nil {
		return err
	}
	return s.Close()
}

// tell prints a step and, if it is the last, dies.
func tell(step, last string) {
	fmt.Println(step)
	if step == last {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	}
}

// numbered tells of each step with how often it was reached so far.
func numbered(listen func(string)) func(string) {
	var mu sync.Mutex
	times := map[string]int{}
	return func(step string) {
		mu.Lock()
		defer mu.Unlock()
		times[step]++
		listen(fmt.Sprint(step, "#", times[step]))
	}
}

// die runs a child in dir until it has died at a step, and returns the steps
// it told of.
func die(t *testing.T, dir string, words ...string) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-store.in="+dir, "-store.doomed="+strings.Join(words, " "))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if killed := cmd.ProcessState.ExitCode() < 0; killed != (words[1] != "never") {
		t.Fatalf("%q: %v %s", words, err, errs.String())
	}
	return strings.Fields(string(out))
}

// steps are those that a whole run tells of, in order.
func steps(t *testing.T, prefix string, words ...string) []string {
	dir := t.TempDir()
	b, _, _ := sample(t, dir)
	told := die(t, dir, append(words, b.Path)...)
	for _, step := range told {
		if !strings.HasPrefix(step, prefix) {
			t.Errorf("%q tells of %q", words, step)
		}
	}
	return told
}

// Killed at any step a backup leaves the store as it was, and either no backup
// or a whole one; the next one clears up.
func TestBackupKilled(t *testing.T) {
	told := steps(t, "backup/", "backup", "never")
	if len(told) < 5 {
		t.Fatalf("too few steps: %q", told)
	}
	for _, step := range told {
		t.Run(filepath.Base(step), func(t *testing.T) {
			dir := t.TempDir()
			before, _, _ := sample(t, dir)
			old := allRows(t, dir)
			die(t, dir, "backup", step)
			sound(t, dir)
			if got := allRows(t, dir); got != old {
				t.Errorf("the store was changed from\n%s\nto\n%s", old, got)
			}
			finished := 0
			for _, name := range names(t, filepath.Join(dir, store.BackupDir)) {
				if path := filepath.Join(dir, store.BackupDir, name); strings.HasPrefix(name, "memd-") && path != before.Path {
					finished++
					into := t.TempDir()
					restore(t, into, path)
					if got := allRows(t, into); got != old {
						t.Errorf("the backup holds\n%s\nwant\n%s", got, old)
					}
				}
			}
			if want := map[bool]int{true: 1}[step == "backup/renamed"]; finished != want {
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

// unclosed adds a row to the store in dir that stands in its log alone, as a
// killed daemon leaves it, and returns all rows.
func unclosed(t *testing.T, dir string) (rows string) {
	t.Helper()
	path := filepath.Join(dir, store.ActiveName)
	s := openBare(t, dir)
	put(t, s, row(memd.Short, 8, "written since, in the log alone"))
	rows = allRows(t, dir)
	kept := map[string][]byte{}
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		must(t, err)
		kept[name] = text
	}
	must(t, s.Close())
	for name, text := range kept {
		must(t, os.WriteFile(name, text, 0o600))
	}
	if len(kept[path+"-wal"]) == 0 || strings.Contains(string(kept[path]), "in the log alone") {
		t.Fatal("the row is in the database already: the test shows nothing")
	}
	return rows
}

// Killed at any step a restore leaves the old store whole or the new one, as
// the next start finds out, and whatever was replaced is kept whole.
func TestRestoreKilled(t *testing.T) {
	told := steps(t, "restore/", "restore", "never")
	if len(told) < 12 {
		t.Fatalf("too few steps: %q", told)
	}
	marked := false
	for _, step := range told {
		marked = marked || step == "restore/marked"
		forward := marked
		t.Run(strings.ReplaceAll(strings.TrimPrefix(step, "restore/"), "/", " "), func(t *testing.T) {
			dir := t.TempDir()
			b, _, gone := sample(t, dir)
			old := unclosed(t, dir)
			die(t, dir, "restore", step, b.Path)
			sound(t, dir)
			got := allRows(t, dir)
			if !forward {
				if got != old {
					t.Errorf("begun and not more, yet the store holds\n%s\nwant\n%s", got, old)
				}
			} else {
				carriedThrough(t, dir, gone, old)
			}
			for _, name := range names(t, dir) {
				if strings.HasPrefix(name, "restoring") {
					t.Errorf("%s is left", name)
				}
			}
			s := openBare(t, dir) // and it is a store like any other
			put(t, s, row(memd.Short, 77, "after it all"))
			must(t, s.Close())
		})
	}
}

// carriedThrough wants the backup of sample in place, without what was
// forgotten, and all of the old store among what was replaced.
func carriedThrough(t *testing.T, dir string, gone memd.Memory, old string) {
	t.Helper()
	got := allRows(t, dir)
	if strings.Contains(got, gone.ID) || !strings.Contains(got, "a short row") || strings.Contains(got, "written since") {
		t.Errorf("carried through, the store holds\n%s", got)
	}
	kept := ""
	for _, name := range names(t, filepath.Join(dir, store.BackupDir)) {
		if strings.HasPrefix(name, "replaced-") {
			kept = allRows(t, filepath.Join(dir, store.BackupDir, name))
		}
	}
	if kept != old {
		t.Errorf("what was replaced holds\n%s\nwant\n%s", kept, old)
	}
}

// A start that carries an exchange through may be killed as well.
func TestResumeKilled(t *testing.T) {
	told := steps(t, "restore/", "restore", "never")
	for _, step := range told[slices.Index(told, "restore/marked")+1:] {
		t.Run(strings.ReplaceAll(strings.TrimPrefix(step, "restore/"), "/", " "), func(t *testing.T) {
			dir := t.TempDir()
			b, _, gone := sample(t, dir)
			old := unclosed(t, dir)
			die(t, dir, "restore", "restore/marked", b.Path)
			die(t, dir, "open", step)
			sound(t, dir)
			carriedThrough(t, dir, gone, old)
		})
	}
}
