package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whatever lies in the folder, before or later: it is reported, and not over and over, nothing outside is
// read or changed, and the notes beside it go on.
func TestWatchHostileFolder(t *testing.T) {
	b := newBox(t)
	b.serve()
	dir := b.folder()
	outside := filepath.Join(filepath.Dir(dir), "outside")
	canary := aNote("canary", "the canary sings")
	save(t, filepath.Join(outside, "canary.md"), canary)
	lay := func(at string) {
		for _, err := range []error{
			os.MkdirAll(filepath.Join(at, "folder.md"), 0o700),
			os.MkdirAll(filepath.Join(at, strings.Repeat("deep/", 40)), 0o700),
			os.Symlink(filepath.Join(outside, "canary.md"), filepath.Join(at, "link.md")),
			os.Symlink(outside, filepath.Join(at, "out")),
			os.Symlink(".", filepath.Join(at, "round")),
			os.Symlink("loop.md", filepath.Join(at, "loop.md")),
			os.Link(filepath.Join(outside, "canary.md"), filepath.Join(at, "hard.md")),
			os.WriteFile(filepath.Join(at, "empty.md"), nil, 0o600),
			os.WriteFile(filepath.Join(at, "large.md"), nil, 0o600),
			os.Truncate(filepath.Join(at, "large.md"), 50<<20),
			os.WriteFile(filepath.Join(at, "con.md"), []byte(aNote("con", "con")), 0o600),
			os.WriteFile(filepath.Join(at, "bell\a.md"), []byte(aNote("bell", "bell")), 0o600),
			os.WriteFile(filepath.Join(at, "\xff.md"), []byte(aNote("ff", "ff")), 0o600),
			os.WriteFile(filepath.Join(at, "shut.md"), []byte(aNote("shut", "shut")), 0o000),
			syscall.Mkfifo(filepath.Join(at, "pipe.md"), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	lay(dir)
	w := b.watch()
	w.edit("good", "one")
	w.both("good", "one")
	lay(filepath.Join(dir, "later"))
	w.edit("good", "two")
	w.both("good", "two")
	w.says("later/pipe.md")
	if err := os.Rename(filepath.Join(dir, "later"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	w.says("moved/pipe.md")
	w.edit("good", "three")
	w.both("good", "three")
	w.looks(rest)
	w.stop()
	out := w.out.String()
	for _, name := range []string{"pipe.md", "large.md", "empty.md", "link.md", "loop.md"} {
		for _, at := range []string{"", "later/", "moved/"} {
			if n := strings.Count(out, "  "+at+name+":"); n < 1 || n > 2 { // once more where it was seen before it was told of
				t.Errorf("%s is told of %d times", at+name, n)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "canary.md")); err != nil || string(text) != canary {
		t.Errorf("the canary is %q, %v", text, err)
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) != 1 {
		t.Errorf("outside are %v, %v", found, err)
	}
	if list := b.must("list", "--namespace", "user", "--tier", "long", "--json"); strings.Contains(list, "canary") || strings.Contains(out+w.log.String(), "sings") {
		t.Errorf("the canary came in: %s", list)
	}
}
