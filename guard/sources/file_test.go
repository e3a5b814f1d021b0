package sources

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
)

// folder makes a root with files in it, and returns a Checker for it and the root.
func folder(t *testing.T, files map[string]string) (*Checker, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(root, name), text)
	}
	return New(map[string]string{"project/x": root}), root
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want fails unless a look at a source finds a status; why is a part of the reason.
func want(t *testing.T, c *Checker, source string, status memd.SourceStatus, why string) Found {
	t.Helper()
	f := c.Look(context.Background(), "project/x", source)
	if f.Status != status || !strings.Contains(f.Why, why) || (f.Why == "") != (status == memd.SourceOK) {
		t.Errorf("%q: %+v, want %s because of %q", source, f, status, why)
	}
	return f
}

func TestFiles(t *testing.T) {
	c, _ := folder(t, map[string]string{
		"AGENTS.md": "# Rules\n\n## Commands\n\nmake\n", "pkg/x.go": "package x\n\nfunc Top() {}\n", "docs/with space.md": "# A\n",
		"文档/设计.md": "# 标题\n", "Makefile": "all:\n\ttrue\n", "empty.txt": "", "latin.txt": "caf\xe9 word\n",
		"logo.png": "\x89PNG\x00\x01", "100%.md": "# B\n", "scripts/deploy": "#!/bin/sh\n",
	})
	for _, source := range []string{
		"AGENTS.md", "./AGENTS.md", "AGENTS.md#commands", "AGENTS.md#Commands", "AGENTS.md#commands:5", "AGENTS.md:3", "AGENTS.md#L3-L5",
		"pkg/x.go", "pkg/x.go:3", "pkg/x.go#Top", "pkg/x.go#Top:3", "pkg/../AGENTS.md", "pkg//x.go", "docs/with%20space.md#a",
		"文档/设计.md#标题", "%E6%96%87%E6%A1%A3/设计.md", "Makefile#all", "empty.txt", "latin.txt#word", "logo.png", "100%25.md#b", "scripts/deploy:1",
	} {
		if f := want(t, c, source, memd.SourceOK, ""); !strings.HasPrefix(f.Hash, "sha256:") || f != c.File("project/x", source) {
			t.Errorf("%q: %+v by Look, %+v by File", source, f, c.File("project/x", source))
		}
	}
	for source, why := range map[string]string{
		"gone.md": "no such file", "docs/gone.md#a": "no such file", "gone/x.md": "no such file", "AGENTS.md/x.md": "no such file",
		"agents.md": "no such file", "AGENTS.md#gone": "no such section", "AGENTS.md:6": "no such line", "pkg/x.go#Gone": "no such section",
		"empty.txt:1": "no such line", "AGENTS.md#commands:99": "no such line", "docs/%2577ith space.md": "no such file",
	} {
		if f := want(t, c, source, memd.SourceMissing, why); f.Hash != "" {
			t.Errorf("%q has a hash: %s", source, f.Hash)
		}
	}
	for source, why := range map[string]string{
		"user": "person", "session:abc": "person", "": "person", "https://example.com/a.md": "URL", "logo.png#part": "not a text", "logo.png:1": "not a text",
		"pkg#a": "a folder", "docs:3": "a folder", "docs/%zz.md": "no path",
	} {
		want(t, c, source, memd.SourceUnchecked, why)
	}
	for _, source := range []string{"pkg", "docs/", "文档", "."} { // a folder stands, and has no text
		if f := want(t, c, source, memd.SourceOK, ""); f.Hash != "" {
			t.Errorf("%q has a hash: %s", source, f.Hash)
		}
	}
	if f := c.File("project/y", "AGENTS.md"); f.Status != memd.SourceUnchecked || !strings.Contains(f.Why, "no root") {
		t.Errorf("without a root: %+v", f)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if f := c.Look(stopped, "project/x", "AGENTS.md"); f.Status != memd.SourceUnchecked {
		t.Errorf("at the end of the context: %+v", f)
	}
}

// The hash is the section's alone.
func TestFileHashes(t *testing.T) {
	c, root := folder(t, map[string]string{"a.md": "# A\n\n## One\n\nfirst\n\n## Two\n\nsecond\n"})
	look := func() [3]string {
		return [3]string{want(t, c, "a.md#one", memd.SourceOK, "").Hash, want(t, c, "a.md#two", memd.SourceOK, "").Hash, want(t, c, "a.md", memd.SourceOK, "").Hash}
	}
	was := look()
	put(t, filepath.Join(root, "a.md"), "# A\r\n\r\n## One\r\n\r\nfirst  \r\n\r\n\r\n## Two\r\n\r\nother\r\n")
	is := look()
	if is[0] != was[0] || is[1] == was[1] || is[2] == was[2] {
		t.Errorf("from %q to %q", was, is)
	}
}

// Nothing outside the root is read, whichever way a path leads there.
func TestPathsOutOfTheRoot(t *testing.T) {
	base := t.TempDir()
	put(t, filepath.Join(base, "secret.md"), "# Secret\n")
	put(t, filepath.Join(base, "root", "in", "a.md"), "# A\n")
	root := filepath.Join(base, "root")
	for link, to := range map[string]string{
		"out.md": "../secret.md", "abs.md": filepath.Join(base, "secret.md"), "up": "..", "in/out.md": "../../secret.md",
		"in.md": "in/a.md", "loop.md": "loop.md", "nowhere.md": "gone.md", "dir": "in", "in/back.md": "../in/a.md",
	} {
		must(t, os.Symlink(to, filepath.Join(root, link)))
	}
	c := New(map[string]string{"project/x": root})
	for _, source := range []string{
		"../secret.md", "../secret.md#secret", "in/../../secret.md", "%2e%2e/secret.md", "..%2fsecret.md", "in/%2e%2e/%2e%2e/secret.md", "%2e%2e%2fsecret.md#secret",
		filepath.Join(base, "secret.md"), "%2Fetc/passwd", "/etc/passwd", `..\secret.md`, `in\a.md`, "..%5Csecret.md", "in/a.md%00.md",
		"%252e%252e/secret.md", "%252e%252e%252fsecret.md", "．．／secret.md", "‥/secret.md", "..⁄secret.md", "..∕secret.md", "in/．．/．．/secret.md",
		"in/a.md ", "in/a.md.", "nul", "COM1", "in/con", "in/a\u202e.md", "in/a\n.md", "in/\xff.md",
		"out.md", "abs.md", "up/secret.md", "in/out.md", "loop.md", "", "..", "up", "up/root",
	} {
		if f := want(t, c, source, memd.SourceUnchecked, ""); f.Hash != "" {
			t.Errorf("%q was read", source)
		}
	}
	for _, source := range []string{"in.md#a", "dir/a.md#a", "in/back.md#a", "in/../in/a.md", "dir", "in/.."} {
		want(t, c, source, memd.SourceOK, "")
	}
	want(t, c, "nowhere.md", memd.SourceMissing, "no such file")
	want(t, c, "%252561.md", memd.SourceUnchecked, "no path")  // an escape is taken off once
	want(t, c, "%2561.md", memd.SourceMissing, "no such file") // and one more may be the name's own
}

// A root is a folder wherever it lies; one that is not there tells nothing.
func TestRoots(t *testing.T) {
	base := t.TempDir()
	put(t, filepath.Join(base, "real", "sub", "a.md"), "# A\n")
	put(t, filepath.Join(base, "file"), "")
	must(t, os.Symlink("real", filepath.Join(base, "link")))
	for root, status := range map[string]memd.SourceStatus{
		"real/sub": memd.SourceOK, "link/sub": memd.SourceOK, "link/../link/sub/.": memd.SourceOK,
		"gone": memd.SourceUnchecked, "file": memd.SourceUnchecked, "file/sub": memd.SourceUnchecked,
	} {
		c := New(map[string]string{"project/x": filepath.Join(base) + "/" + root})
		if f := c.File("project/x", "a.md#a"); f.Status != status {
			t.Errorf("root %s: %+v", root, f)
		}
	}
	c := New(map[string]string{"project/x": filepath.Join(base, "real") + "/"})
	if root, ok := c.Root("project/x"); !ok || root != filepath.Join(base, "real") {
		t.Errorf("the root is %q, %v", root, ok)
	}
	if root, ok := c.Root("project"); ok || root != "" {
		t.Errorf("a namespace without a root has %q", root)
	}
}

func TestLargeFile(t *testing.T) {
	c, root := folder(t, map[string]string{"fits.md": "# A\n" + strings.Repeat("x", maxFile-4)})
	put(t, filepath.Join(root, "large.md"), "# A\n"+strings.Repeat("x", maxFile-3))
	want(t, c, "fits.md#a", memd.SourceOK, "")
	want(t, c, "large.md#a", memd.SourceUnchecked, "larger")
	want(t, c, "large.md", memd.SourceUnchecked, "larger")
}

// An empty folder in the place of a root, such as one that nothing is mounted on,
// tells nothing of what is below it.
func TestEmptyRoot(t *testing.T) {
	c, root := folder(t, nil)
	for _, source := range []string{"a.md", "a.md#a", "docs/a.md", "docs", ".", "./"} {
		if f := want(t, c, source, memd.SourceUnchecked, "empty"); f.Reach != Away {
			t.Errorf("%q: %+v", source, f)
		}
	}
	must(t, os.Mkdir(filepath.Join(root, "docs"), 0o755))
	want(t, c, "a.md", memd.SourceMissing, "no such file")
	want(t, c, "docs/a.md", memd.SourceMissing, "no such file")
	want(t, c, "docs", memd.SourceOK, "")
}

// That something is there and is not read differs from that nobody could look, and
// from what memd may never look at.
func TestReach(t *testing.T) {
	c, root := folder(t, map[string]string{"logo.png": "\x00", "large.md": strings.Repeat("x", maxFile+1), "pkg/x.go": ""})
	must(t, os.Symlink("..", filepath.Join(root, "up")))
	must(t, os.Symlink("../gone.md", filepath.Join(root, "out.md")))
	for source, reach := range map[string]Reach{
		"logo.png#a": There, "large.md": There, "pkg#a": There, "out.md": There,
		"up/gone.md": Away, strings.Repeat("a", 300): Barred, "nul": Barred,
		"../a.md": Barred, "/etc/passwd": Barred, "user": Barred, "https://example.com": Barred,
	} {
		if f := want(t, c, source, memd.SourceUnchecked, ""); f.Reach != reach {
			t.Errorf("%q: %+v, want %d", source, f, reach)
		}
	}
	if f := New(nil).File("project/x", "a.md"); f.Reach != Barred {
		t.Errorf("without a root: %+v", f)
	}
	if f := New(map[string]string{"x": filepath.Join(root, "gone")}).File("x", "a.md"); f.Reach != Away {
		t.Errorf("a root that is not there: %+v", f)
	}
}

func TestAfter(t *testing.T) {
	const ok, missed, changed, un = memd.SourceOK, memd.SourceMissing, memd.SourceChanged, memd.SourceUnchecked
	held := [...]memd.SourceStatus{ok, missed, changed, un}
	for found, want := range map[Found][4]memd.SourceStatus{
		stands("a"): {ok, ok, ok, ok}, stands(""): {ok, ok, ok, ok}, stands("b"): {changed, changed, changed, changed},
		missing("-"): {missed, missed, missed, missed}, unchecked(Away, "-"): held, unchecked(Barred, "-"): held, {}: held,
		unchecked(Silent, "-"): {un, missed, changed, un}, unchecked(There, "-"): {un, un, changed, un},
	} {
		for i, status := range held {
			if got := found.After(status, "a"); got != want[i] {
				t.Errorf("%+v after %s: %s, want %s", found, status, got, want[i])
			}
		}
	}
	if got := stands("b").After(changed, ""); got != ok {
		t.Errorf("without a kept hash: %s", got)
	}
}
