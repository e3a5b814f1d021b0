package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// stage is a fresh copy of what a plot begins with. It ends what another
// program does meanwhile, if there is one.
func (p plot) stage(t *testing.T, from string) (dir string, release func()) {
	t.Helper()
	dir = t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(from)))
	if !p.held {
		return dir, func() {}
	}
	return dir, lockingShell(t, dir, `BEGIN; SELECT count(*) FROM short;`)
}

// set makes what a plot begins with, and what it holds before and after the
// plot, with the steps that a whole run tells of.
func (p plot) set(t *testing.T, name, base string) (from, before, after string, told []string) {
	t.Helper()
	from = base
	if p.prepare != nil {
		from = t.TempDir()
		must(t, os.CopyFS(from, os.DirFS(base)))
		p.prepare(t, from)
	}
	before = truth(t, from)
	dir, release := p.stage(t, from)
	told = die(t, dir, "plot", "never", name)
	release()
	after = intact(t, dir, p.budgets)
	onlyParts(t, dir)
	return from, before, after, told
}

// Killed at any step of whatever it does, and again at any step of the start
// that follows, a store holds what it held before or what it holds after, each
// row once, and nothing is left of what was cut short. Of a change in a
// historical database that was not acknowledged the row may stand without its
// entry in the audit log: the databases commit one after the other.
func TestKilled(t *testing.T) {
	base := t.TempDir()
	aged(t, base)
	var mu sync.Mutex
	reached := map[string]bool{}
	note := func(told []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, step := range told {
			reached[stepName(step)] = true
		}
	}
	t.Run("plots", func(t *testing.T) {
		for name, p := range plots() {
			t.Run(name, func(t *testing.T) {
				own := t.TempDir() // looking into one makes files come and go
				must(t, os.CopyFS(own, os.DirFS(base)))
				t.Parallel()
				from, before, after, told := p.set(t, name, own)
				note(told)
				for _, step := range told {
					t.Run(strings.ReplaceAll(step, "/", " "), func(t *testing.T) {
						dir, release := p.stage(t, from)
						die(t, dir, "plot", step, name)
						if strings.HasSuffix(step, "#1") {
							note(p.killedAgain(t, dir, name, before, after))
						}
						if p.held {
							p.ended(t, dir, before, after)
						}
						release()
						p.ended(t, dir, before, after)
						onlyParts(t, dir)
					})
				}
			})
		}
	})
	for _, step := range named(t) {
		if !reached[step] {
			t.Errorf("no run tells of %s", step)
		}
	}
}

// stepName is the name of a step without its number.
func stepName(step string) string {
	name, _, _ := strings.Cut(step, "#")
	return name
}

// ended fails unless the store in dir holds the one or the other.
func (p plot) ended(t *testing.T, dir, before, after string) {
	t.Helper()
	if got := intact(t, dir, p.budgets); got != before && got != after {
		t.Errorf("the store holds\n%s\nbefore it held\n%s\nand after it\n%s", got, before, after)
	}
}

// killedAgain kills the start of the store that a killed plot left in dir once
// at each kind of step that only a start takes, and returns all that it told of.
func (p plot) killedAgain(t *testing.T, left, name, before, after string) []string {
	t.Helper()
	if !p.opening {
		name = "open"
	}
	copied := func() string {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(left)))
		return dir
	}
	told := die(t, copied(), "plot", "never", name)
	for _, step := range told {
		switch stepName(step) {
		case "recover/place", "recover/file", "recover/untangle", "across/deleted", "retire/unlinked", "migrate/begin":
			if strings.HasSuffix(step, "#1") {
				dir := copied()
				die(t, dir, "plot", step, name)
				p.ended(t, dir, before, after)
				onlyParts(t, dir)
			}
		}
	}
	return told
}

// named are the names of all steps but those of backups and restores.
func named(t *testing.T) (steps []string) {
	t.Helper()
	call := regexp.MustCompile(`reached\(ctx, "([^"]+)"`)
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], "backup/") && !strings.HasPrefix(m[1], "restore/") {
				steps = append(steps, m[1])
			}
		}
	}
	return slices.Compact(steps)
}
