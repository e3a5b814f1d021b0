package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"memd"
	"memd/exchange/watch"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// never is a time that no test lives to see: what is told comes of the system alone.
const never = time.Hour

// watched is a folder under watch.
type watched struct {
	t    *testing.T
	dir  string
	w    *watch.Watcher
	done chan error
	stop func()
}

// start watches a folder until the test ends. The first that is told, All, is taken.
func start(t *testing.T, dir string, o watch.Options) *watched {
	t.Helper()
	w, err := watch.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &watched{t: t, dir: dir, w: w, done: make(chan error, 1), stop: cancel}
	go func() { f.done <- w.Run(ctx); close(f.done) }()
	t.Cleanup(func() {
		cancel()
		<-f.done
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t)
	})
	if c := f.next(); !c.All {
		t.Fatalf("at first %v", c)
	}
	return f
}

func (f *watched) next() watch.Changes {
	f.t.Helper()
	select {
	case c := <-f.w.Changes():
		return c
	case err := <-f.done:
		f.t.Fatalf("it ended: %v", err)
	case <-time.After(patience):
		f.t.Fatal("nothing is told")
	}
	return watch.Changes{}
}

// until takes what is told until each of want was named, and returns all names.
func (f *watched) until(want ...string) []string {
	f.t.Helper()
	var all []string
	for slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(all, name) }) {
		c := f.next()
		if c.All || !slices.IsSorted(c.Paths) {
			f.t.Fatalf("told of %v", c)
		}
		all = append(all, c.Paths...)
	}
	return all
}

func (f *watched) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *watched) write(name, text string) { put(f.t, f.path(name), text) }

func (f *watched) move(from, to string) { must(f.t, os.Rename(f.path(from), f.path(to))) }

func put(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var quick = watch.Options{Quiet: 10 * time.Millisecond, Look: never, Blind: 50 * time.Millisecond}

// Files that are made, written, replaced, moved and removed are told of.
func TestFiles(t *testing.T) {
	f := start(t, t.TempDir(), quick)
	f.write("a.md", "one")
	f.until("a.md")
	f.write("a.md", "two")
	f.until("a.md")
	f.write("b.tmp", "three")
	f.move("b.tmp", "a.md")
	if got := f.until("a.md"); slices.Contains(got, "b.tmp") {
		t.Errorf("told of %v", got)
	}
	f.move("a.md", "b.md")
	f.until("a.md", "b.md")
	must(t, os.Chmod(f.path("b.md"), 0o400))
	f.until("b.md")
	must(t, os.Remove(f.path("b.md")))
	f.until("b.md")
}

// A folder is watched with all below it, whenever it comes, and under its own name
// wherever it goes.
func TestFolders(t *testing.T) {
	outside := t.TempDir()
	put(t, filepath.Join(outside, "came", "in", "d.md"), "d")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "there", "before", "a.md"), "a")
	f := start(t, dir, quick)

	f.write("there/before/a.md", "a2")
	f.until("there/before/a.md")
	f.write("new/deep/down/b.md", "b")
	f.until("new/deep/down/b.md")
	f.write("new/deep/down/b.md", "b2")
	f.until("new/deep/down/b.md")

	f.move("new", "moved")
	f.until("new/deep/down/b.md", "moved/deep/down/b.md")
	f.write("moved/deep/down/b.md", "b3")
	if got := f.until("moved/deep/down/b.md"); slices.Contains(got, "new/deep/down/b.md") {
		t.Errorf("told of %v", got)
	}
	f.write("new/deep/down/c.md", "another of that name")
	f.until("new/deep/down/c.md")

	must(t, os.Rename(filepath.Join(outside, "came"), f.path("came")))
	f.until("came/in/d.md")
	f.write("came/in/d.md", "d2")
	f.until("came/in/d.md")
	must(t, os.Rename(f.path("came"), filepath.Join(outside, "went")))
	f.until("came/in/d.md")
	put(t, filepath.Join(outside, "went", "in", "d.md"), "no longer inside")
	must(t, os.RemoveAll(f.path("moved")))
	if got := f.until("moved/deep/down/b.md"); slices.Contains(got, "came/in/d.md") {
		t.Errorf("told of %v", got)
	}
}

// No file is missed that is made right after its folder, before anybody can have asked
// for that.
func TestFolderAndFileAtOnce(t *testing.T) {
	f := start(t, t.TempDir(), quick)
	var want []string
	for i := range 200 {
		name := filepath.ToSlash(filepath.Join("p", string(rune('a'+i%26))+string(rune('a'+i/26)), "x", "n.md"))
		f.write(name, "x")
		want = append(want, name)
	}
	f.until(want...)
	for _, name := range want {
		f.write(name, "y")
	}
	f.until(want...)
}

// Links lead nowhere: not out of the folder, and not round in it.
func TestLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, filepath.Join(outside, "secret", "s.md"), "s")
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	must(t, os.Symlink(".", filepath.Join(dir, "round")))
	put(t, filepath.Join(dir, "in", "a.md"), "a")
	must(t, os.Symlink("..", filepath.Join(dir, "in", "up")))
	f := start(t, dir, quick)
	must(t, os.Symlink(filepath.Join(outside, "secret"), f.path("in/later")))
	put(t, filepath.Join(outside, "secret", "s.md"), "changed")
	f.write("in/a.md", "a2")
	f.write("z.md", "z")
	for _, name := range f.until("in/a.md", "in/later", "z.md") {
		if !slices.Contains([]string{"in/a.md", "in/later", "z.md"}, name) {
			t.Errorf("told of %s", name)
		}
	}
}

// A folder that is removed, moved away or replaced ends it: that its files are missing
// then says nothing of them.
func TestFolderGone(t *testing.T) {
	for name, away := range map[string]func(t *testing.T, dir string){
		"removed":  func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"moved":    func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+"-2")) },
		"replaced": func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+"-2")); must(t, os.Mkdir(dir, 0o700)) },
		"through a link": func(t *testing.T, dir string) {
			must(t, os.Remove(dir+"-link"))
			must(t, os.Symlink(t.TempDir(), dir+"-link"))
			must(t, os.WriteFile(filepath.Join(dir, "wake.md"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "notes")
			put(t, filepath.Join(dir, "a", "b.md"), "b")
			must(t, os.Symlink(dir, dir+"-link"))
			o := quick
			at := dir
			if name == "through a link" { // whose change nobody tells of
				at, o.Look = dir+"-link", 50*time.Millisecond
			}
			f := start(t, at, o)
			away(t, dir)
			for {
				select {
				case <-f.w.Changes(): // of what went with it
					continue
				case err := <-f.done:
					if e, ok := errors.AsType[*memd.Error](err); !ok || e.Code != memd.CodeNotFound {
						t.Errorf("it ends by %v", err)
					}
				case <-time.After(patience):
					t.Error("it goes on")
				}
				return
			}
		})
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	for _, dir := range []string{file, filepath.Join(file, "x"), filepath.Join(t.TempDir(), "gone")} {
		if w, err := watch.Open(dir, watch.Options{}); err == nil {
			_ = w.Close()
			t.Errorf("%s is opened", dir)
		}
	}
}

func TestPassedOver(t *testing.T) {
	for name, want := range map[string]bool{
		".#x.md": true, "x.md~": true, ".x.md.swp": true, "x.swx": true, "4913": true, "a/4913": true, "#x.md#": true, "~$x.docx": true,
		".memd-123": true, "a/.git/x.md": true, ".obsidian/x": true, "x.md.tmp": true, "x.md___jb_tmp___": true, ".hidden.md": true, "a/.b": true,
		"x.md": false, "a/x.md": false, "4913.md": false, "4913/x.md": false, "x~y.md": false, "~x.md": false, "MEMORY.md": false, "a.b/c.md": false, "#x.md": false,
	} {
		if got := watch.PassedOver(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
