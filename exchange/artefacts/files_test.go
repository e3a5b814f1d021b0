package artefacts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/guard/confine"
)

func TestForms(t *testing.T) {
	names := []string{"AGENTS.md", ".agent/AGENT.md", "RULES"}
	include := []string{"guides/**/*.md", "*.txt"}
	for name, want := range map[string]Form{
		"AGENTS.md": Agents, "a/b/AGENTS.md": Agents, "agents.md": "", "xAGENTS.md": "", ".agent/AGENT.md": Agents, "a/.agent/AGENT.md": Agents, "AGENT.md": "",
		"a/RULES": Agents, "AGENTS.local.md": "", ".agent/rules/go.md": Rules, "a/.agent/rules/go.md": Rules, ".agent/rules/a/go.md": "", ".agent/rules/go.txt": "",
		".claude/skills/x/SKILL.md": Skill, "skill.md": Skill, "SKILL.txt": "",
		"docs/adr/0001.md": ADR, "x/doc/adr/0001-x.MD": ADR, "docs/decisions/1.markdown": "", "docs/decisions/1.md": ADR, "docs/adr/README.md": "", "docs/adr/0000-template.md": "",
		"docs/adr/old/1.md": "", "docs/architecture/decisions/1.md": ADR,
		"runbook.md": Runbook, "ops/Runbook-db.md": Runbook, "docs/runbooks/a/b.md": Runbook, "runbooks/x.md": Runbook, "docs/runbooks/index.md": "", "myrunbook.md": "",
		"guides/a/b.md": Document, "guides/AGENTS.md": Agents, "x.txt": "", "README.md": "",
	} {
		if got := formOf(name, names, include); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// looked walks a folder of files, and returns the names of what is found and read, and
// what is skipped.
func looked(t *testing.T, dir string) (names []string, tr *tree) {
	t.Helper()
	folder, err := confine.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	tr = &tree{Folder: folder, top: dir, names: []string{"AGENTS.md", "CLAUDE.md"}}
	tr.walk("", 0)
	tr.once()
	for i := range tr.files {
		f := &tr.files[i]
		if _, err := tr.read(f); err != nil {
			tr.skip(f.name, err)
			continue
		}
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names, tr
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolderOfManyFiles(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for n := range maxFiles + 5 {
		files[fmt.Sprintf("f%04d/AGENTS.md", n)] = "- x y\n"
	}
	deep := strings.Repeat("d/", maxDepth+2)
	files[deep+"AGENTS.md"] = "- x y\n"
	put(t, dir, files)
	names, tr := looked(t, dir)
	if len(names) != maxFiles || len(tr.skipped) != 2 || !tr.unseen("none.md") {
		t.Errorf("%d files, %+v", len(names), tr.skipped)
	}
}

// A linked worktree's files have the names of the main tree's, and a folder that lies
// outside the root of its namespace is refused.
func TestLocate(t *testing.T) {
	r := newRepository(t)
	r.put("a/b/AGENTS.md", "- one\n")
	r.commit("2026-03-01T10:00:00Z")
	linked := filepath.Join(t.TempDir(), "w")
	r.git("2026-03-01T10:00:00Z", "worktree", "add", "-q", linked)
	dir := func(path string) string {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			t.Fatal(err)
		}
		return real
	}
	main, _ := locate(Options{Folder: r.dir})
	for folder, want := range map[string]place{
		r.dir:                       {folder: dir(r.dir), top: dir(r.dir), within: ".", prefix: ".", root: dir(r.dir)},
		filepath.Join(r.dir, "a/b"): {folder: dir(filepath.Join(r.dir, "a/b")), top: dir(r.dir), within: "a/b", prefix: "a/b", root: dir(r.dir)},
		filepath.Join(linked, "a"):  {folder: dir(filepath.Join(linked, "a")), top: dir(linked), within: "a", prefix: "a", root: dir(r.dir)},
	} {
		want.namespace = main.namespace
		got, err := locate(Options{Folder: folder})
		if err != nil || got != want || !strings.HasPrefix(got.namespace, "project/") {
			t.Errorf("%s: %+v, %v", folder, got, err)
		}
	}
	roots := map[string]string{"project/x": filepath.Join(r.dir, "a")}
	got, err := locate(Options{Folder: filepath.Join(linked, "a/b"), Roots: roots})
	if err != nil || got.namespace != "project/x" || got.prefix != "b" || !got.rooted {
		t.Errorf("below a root: %+v, %v", got, err)
	}
	if name, ok := got.file(source("b/x y#%.md", "z")); name != "x y#%.md" || !ok {
		t.Errorf("a name is read back as %q, %v", name, ok)
	}
	if _, ok := got.file("c/AGENTS.md"); ok {
		t.Error("a file of another folder is taken for one of this")
	}
	if _, err := locate(Options{Folder: r.dir, Namespace: "project/x", Roots: roots}); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("outside the root: %v", err)
	}
}
