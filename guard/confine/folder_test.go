package confine_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd/guard/confine"
)

// canary is what no name inside may show.
const canary = "canary: outside the root"

// tree makes a root with files, folders and links, and a canary beside it that some
// of them lead to. It returns the root and the folder that both are in.
func tree(t testing.TB) (root, base string) {
	t.Helper()
	base = t.TempDir()
	root = filepath.Join(base, "root")
	must(t, os.MkdirAll(filepath.Join(root, "in", "deep"), 0o755))
	must(t, os.MkdirAll(filepath.Join(base, "root-2"), 0o755))
	for name, text := range map[string]string{
		"canary.md": canary, "root-2/canary.md": canary, "root-2/outside.md": canary, "root/a.md": "a", "root/in/b.md": "b", "root/in/deep/c.md": "c", "root/A.TXT": "A",
	} {
		must(t, os.WriteFile(filepath.Join(base, name), []byte(text), 0o644))
	}
	for link, to := range map[string]string{
		"out.md": "../canary.md", "abs.md": filepath.Join(base, "canary.md"), "up": "..", "in/out.md": "../../canary.md", "sibling": "../root-2",
		"in.md": "in/b.md", "dir": "in", "loop.md": "loop.md", "nowhere.md": "gone.md",
	} {
		must(t, os.Symlink(to, filepath.Join(root, link)))
	}
	return root, base
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, root string, extensions ...string) *confine.Folder {
	t.Helper()
	f, err := confine.Open(root, extensions...)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// unhurt fails if anything outside the root changed.
func unhurt(t testing.TB, base string) {
	t.Helper()
	for _, name := range []string{"canary.md", "root-2/canary.md"} {
		if got, err := os.ReadFile(filepath.Join(base, name)); err != nil || string(got) != canary {
			t.Fatalf("%s outside is %q, %v", name, got, err)
		}
	}
	for dir, want := range map[string]int{".": 3, "root-2": 2} {
		if entries, err := os.ReadDir(filepath.Join(base, dir)); err != nil || len(entries) != want {
			t.Fatalf("outside are %v, %v", entries, err)
		}
	}
}

func TestRead(t *testing.T) {
	root, base := tree(t)
	f := open(t, root)
	for name, want := range map[string]string{"a.md": "a", "in/b.md": "b", "in/deep/c.md": "c", "in.md": "b", "dir/b.md": "b", "dir/deep/c.md": "c", "A.TXT": "A"} {
		if got, err := f.Read(name, 1); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{
		"out.md", "abs.md", "up/canary.md", "up/root/a.md", "in/out.md", "dir/out.md", "sibling/canary.md", "loop.md", "../canary.md", "in/../../canary.md",
		filepath.Join(base, "canary.md"), "．．/canary.md", "in", "dir", "up", "sibling",
	} {
		got, err := f.Read(name, 1000)
		if err == nil || got != nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), base)) {
			t.Errorf("%s: the error names it: %v", name, err)
		}
	}
	for _, name := range []string{"gone.md", "gone/a.md", "nowhere.md", "in/gone"} {
		if _, err := f.Read(name, 1000); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "gone") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Read("a.md", 0); err != confine.TooLarge {
		t.Errorf("one byte more than may be read: %v", err)
	}
}

func TestHasAndIsEmpty(t *testing.T) {
	root, _ := tree(t)
	f := open(t, root)
	for _, name := range []string{"a.md", "in", "dir", "dir/b.md", "out.md", "nowhere.md", "loop.md"} {
		if !f.Has(name) {
			t.Errorf("%s is not there", name)
		}
	}
	for _, name := range []string{"gone.md", "up/canary.md", "../canary.md", "sibling/canary.md", "a.md/x", ""} {
		if f.Has(name) {
			t.Errorf("%s is there", name)
		}
	}
	if f.IsEmpty() {
		t.Error("a folder with files is empty")
	}
	if !open(t, t.TempDir()).IsEmpty() {
		t.Error("a new folder is not empty")
	}
}

func TestExtensions(t *testing.T) {
	root, _ := tree(t)
	f := open(t, root, ".md", ".txt")
	must(t, os.WriteFile(filepath.Join(root, "key.pem"), []byte("x"), 0o600))
	for _, name := range []string{"a.md", "A.TXT"} {
		if _, err := f.Read(name, 10); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"key.pem", "in", "a.md.pem", "md"} {
		_, err := f.Read(name, 10)
		if err != confine.Extension || f.Write(name, nil, 0o600) != confine.Extension || f.Remove(name) != confine.Extension {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrite(t *testing.T) {
	root, base := tree(t)
	f := open(t, root)
	for _, c := range []struct {
		name, text string
		perm       fs.FileMode
	}{{"new.md", "1", 0o600}, {"new.md", "22", 0o644}, {"x/y/z.md", "3", 0o600}, {"x/y/z2.md", "4", 0o600}, {"dir/new.md", "5", 0o640}, {"文档/说明.md", "6", 0o600}} {
		must(t, f.Write(c.name, []byte(c.text), c.perm))
		got, err := os.ReadFile(filepath.Join(root, c.name))
		info, statErr := os.Stat(filepath.Join(root, c.name))
		if err != nil || statErr != nil || string(got) != c.text || info.Mode() != c.perm {
			t.Errorf("%s: %q, %v, %v", c.name, got, info.Mode(), errors.Join(err, statErr))
		}
	}
	for _, link := range []string{"out.md", "abs.md", "in/out.md", "loop.md"} { // replaced, not followed
		must(t, f.Write(link, []byte("mine"), 0o600))
		if got, err := f.Read(link, 10); err != nil || string(got) != "mine" {
			t.Errorf("%s: %q, %v", link, got, err)
		}
	}
	for _, name := range []string{
		"up/x.md", "up/canary.md", "sibling/canary.md", "sibling/x/y.md", "../x.md", "/x.md", "in", "dir/deep", "a.md/x.md", "．．/x.md",
		"nul.md", "aux.tar.gz", "COM1.txt", "x/con.d/y", " a.md", "a:b.md", "what?.md", "a*.md", "<a>.md", "a|b", `a"b`, ".memd-x.tmp",
	} {
		if err := f.Write(name, []byte("no"), 0o600); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	unhurt(t, base)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if strings.HasPrefix(e.Name(), ".memd-") {
			t.Errorf("%s is left behind", path)
		}
		return err
	})
	must(t, err)
}

// What writes left unfinished goes once it is old, and nothing else does.
func TestTidy(t *testing.T) {
	root, base := tree(t)
	f := open(t, root)
	at := time.Now()
	for _, name := range []string{".memd-old.tmp", "in/.memd-old.tmp", "in/.memd-new.tmp", ".memd-other", "in/x.tmp"} {
		must(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
		if !strings.Contains(name, "new") {
			must(t, os.Chtimes(filepath.Join(root, name), at, at.Add(-time.Hour)))
		}
	}
	must(t, os.Symlink("../../canary.md", filepath.Join(root, "in", ".memd-link.tmp")))
	must(t, os.MkdirAll(filepath.Join(root, "in", ".memd-folder.tmp"), 0o700))
	must(t, f.Tidy("", time.Minute))
	must(t, f.Tidy("in", time.Minute))
	for name, want := range map[string]bool{
		".memd-old.tmp": false, "in/.memd-old.tmp": false, "in/.memd-new.tmp": true, ".memd-other": true, "in/x.tmp": true, "in/.memd-folder.tmp": true, "in/.memd-link.tmp": true,
	} {
		if f.Has(name) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
	for _, name := range []string{"up", "sibling", "..", "gone", "a.md", "in/../.."} {
		if f.Tidy(name, 0) == nil {
			t.Errorf("%s is tidied", name)
		}
	}
	unhurt(t, base)
}

func TestListAndRemove(t *testing.T) {
	root, base := tree(t)
	f := open(t, root)
	must(t, os.WriteFile(filepath.Join(root, "in", ".memd-half.tmp"), nil, 0o600))
	for dir, want := range map[string]string{
		"": "A.TXT a.md abs.md dir in in.md loop.md nowhere.md out.md sibling up", "in": "b.md deep out.md", "dir": "b.md deep out.md", "in/deep": "c.md",
	} {
		entries, err := f.List(dir)
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q holds %s", dir, got)
		}
	}
	for _, dir := range []string{"up", "sibling", "..", ".", "/", "a.md", "gone", "in/.."} {
		if entries, err := f.List(dir); err == nil {
			t.Errorf("%s is listed: %v", dir, entries)
		}
	}
	for _, name := range []string{"a.md", "out.md", "abs.md", "dir/b.md", "up"} { // of a link the link alone
		must(t, f.Remove(name))
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for _, name := range []string{"in", "in/deep", "gone.md", "sibling/canary.md", "../canary.md", ""} {
		if err := f.Remove(name); err == nil {
			t.Errorf("%s was removed", name)
		}
	}
	unhurt(t, base)
}

// A root is a folder wherever it lies, and stays the same one when another takes
// its name.
func TestRootUnderLinks(t *testing.T) {
	root, base := tree(t)
	must(t, os.Symlink("root", filepath.Join(base, "link")))
	for _, dir := range []string{"link", "link/in/..", "root/../link"} {
		f := open(t, filepath.Join(base, dir))
		if got, err := f.Read("in/b.md", 10); err != nil || string(got) != "b" {
			t.Errorf("%s: %q, %v", dir, got, err)
		}
		must(t, f.Write("new.md", []byte("x"), 0o600))
	}
	f := open(t, root)
	must(t, os.Rename(root, filepath.Join(base, "moved")))
	must(t, os.Symlink("root-2", root))
	if got, err := f.Read("canary.md", 100); err == nil {
		t.Errorf("%q was read", got)
	}
	if got, err := f.Read("a.md", 100); err != nil || string(got) != "a" {
		t.Errorf("%q, %v", got, err)
	}
	for _, dir := range []string{"gone", "canary.md"} {
		if f, err := confine.Open(filepath.Join(base, dir)); err == nil {
			f.Close()
			t.Errorf("%s is a root", dir)
		}
	}
}

// FuzzPaths: no name opens, changes or makes a file outside, escaped or not.
func FuzzPaths(f *testing.F) {
	for _, name := range []string{
		"a.md", "in/b.md", "out.md", "up/canary.md", "sibling/canary.md", "../canary.md", "../root-2/canary.md", "in/../../canary.md", "%2e%2e%2fcanary.md",
		"%252e%252e/canary.md", "．．／canary.md", "‥/canary.md", `..\canary.md`, "/etc/passwd", "in/out.md", "dir/../../canary.md", "canary.md\x00", "hard.md",
	} {
		f.Add(name)
	}
	root, base := tree(f)
	must(f, os.Link(filepath.Join(base, "canary.md"), filepath.Join(root, "hard.md")))
	folder := open(f, root)
	f.Fuzz(func(t *testing.T, name string) {
		names := []string{name}
		if plain, err := confine.Unescaped(name); err == nil {
			names = append(names, plain)
		}
		for _, name := range names {
			data, err := folder.Read(name, 1000)
			if bytes.Contains(data, []byte("canary")) || err != nil && data != nil {
				t.Fatalf("%q reads %q", name, data)
			}
			if err == nil && confine.Check(name) != nil {
				t.Fatalf("%q is refused and read", name)
			}
			if entries, err := folder.List(name); err == nil && name != "" {
				for _, e := range entries {
					if e.Name() == "canary.md" {
						t.Fatalf("%q lists what is outside", name)
					}
				}
			}
			if folder.Write("w/"+name, []byte("w"), 0o600) == nil {
				must(t, folder.Remove("w/"+name))
			}
			_ = folder.Write("up/"+name, []byte("no"), 0o600)
			_ = folder.Write("sibling/"+name, []byte("no"), 0o600)
			_ = folder.Remove("up/" + name)
			_ = folder.Remove("sibling/" + name)
		}
		unhurt(t, base)
	})
}

// What was read is replaced or removed only while it is there as it was.
func TestExchange(t *testing.T) {
	root, base := tree(t)
	f := open(t, root, ".md")
	sum := func(text string) *[sha256.Size]byte { s := sha256.Sum256([]byte(text)); return &s }
	holds := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	must(t, os.Chmod(filepath.Join(root, "a.md"), 0o640))
	must(t, f.Exchange("a.md", sum("a"), []byte("new"), 0o600))
	holds("a.md", "new")
	if info, err := os.Stat(filepath.Join(root, "a.md")); err != nil || info.Mode() != 0o640 {
		t.Errorf("its mode is %v, %v", info, err)
	}
	must(t, f.Exchange("fresh/x.md", nil, []byte("x"), 0o600))
	holds("fresh/x.md", "x")
	must(t, os.WriteFile(filepath.Join(root, "a:b.md"), []byte("c"), 0o644)) // no name that memd gives
	must(t, f.Exchange("a:b.md", sum("c"), []byte("d"), 0o600))
	holds("a:b.md", "d")
	for name, held := range map[string]*[sha256.Size]byte{"a.md": sum("a"), "in/b.md": nil, "gone.md": sum("x"), "in.md": sum("b"), "out.md": sum(canary), "loop.md": sum("")} {
		if err := f.Exchange(name, held, []byte("lost"), 0o600); err != confine.Changed {
			t.Errorf("%s is exchanged: %v", name, err)
		}
		if held == nil {
			continue
		}
		if err := f.RemoveHeld(name, *held); err != confine.Changed {
			t.Errorf("%s is removed: %v", name, err)
		}
	}
	for _, name := range []string{"../canary.md", "/etc/x.md", "a.txt", "new:name.md", ""} {
		if err := f.Exchange(name, nil, nil, 0o600); err == nil || f.RemoveHeld(name, *sum("")) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	holds("a.md", "new")
	holds("in/b.md", "b")
	must(t, f.RemoveHeld("a.md", *sum("new")))
	if f.Has("a.md") || !f.IsLink("out.md") || f.IsLink("in/b.md") || f.IsLink("none.md") {
		t.Error("what is there is told wrongly")
	}
	if left, err := filepath.Glob(filepath.Join(root, ".memd-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	unhurt(t, base)
}
