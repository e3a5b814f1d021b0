//go:build unix

package artefacts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A folder of links, loops, pipes, giants and other checkouts is looked through, and
// nothing outside it is read.
func TestHostileFolder(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "p")
	put(t, outer, map[string]string{"secret.md": "- secret\n", "away/AGENTS.md": "- away\n"})
	files := map[string]string{
		"AGENTS.md": "- one\n", "real/guide.md": "- two\n", "node_modules/x/AGENTS.md": "", ".git/AGENTS.md": "", "vendor/AGENTS.md": "", "testdata/AGENTS.md": "",
		"sub/.git/HEAD": "", "sub/AGENTS.md": "", "tree/.git": "gitdir: /x\n", "tree/AGENTS.md": "", "tree/deep/AGENTS.md": "", ".agent/skills/a/SKILL.md": "- s\n",
		"large/AGENTS.md": strings.Repeat("x", maxFile+1), "with space #1/AGENTS.md": "- odd\n",
	}
	put(t, dir, files)
	for link, target := range map[string]string{
		"CLAUDE.md": "AGENTS.md", "a/CLAUDE.md": "../real/guide.md", "b/CLAUDE.md": "../real/guide.md", "out/AGENTS.md": "../../secret.md",
		"away": "../away", "loop/AGENTS.md": "AGENTS.md", "self": ".", "gone/AGENTS.md": "../nowhere.md", "folder/AGENTS.md": "../real",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "pipe"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe/AGENTS.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "hard"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(outer, "secret.md"), filepath.Join(dir, "hard/AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	names, tr := looked(t, dir)
	if want := []string{".agent/skills/a/SKILL.md", "AGENTS.md", "a/CLAUDE.md", "with space #1/AGENTS.md"}; !slices.Equal(names, want) {
		t.Errorf("read %q, want %q", names, want)
	}
	var skipped []string
	for _, s := range tr.skipped {
		skipped = append(skipped, s.File)
		if s.Reason == "" || strings.Contains(s.Reason, dir) {
			t.Errorf("%+v", s)
		}
	}
	slices.Sort(skipped)
	if want := []string{"folder/AGENTS.md", "gone/AGENTS.md", "hard/AGENTS.md", "large/AGENTS.md", "loop/AGENTS.md", "out/AGENTS.md"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	for name, want := range map[string]bool{"large/AGENTS.md": true, "AGENTS.md": true, "none.md": false, "none/AGENTS.md": false, "sub/AGENTS.md": true} {
		if tr.unseen(name) != want {
			t.Errorf("%s: unseen %v", name, !want)
		}
	}
}
