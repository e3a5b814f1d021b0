//go:build unix

package confine_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"memd/guard/confine"
)

// What is no regular file is neither waited for nor replaced: a pipe that nobody
// writes to would hold this test for ever.
func TestPipesAndDevices(t *testing.T) {
	root, base := tree(t)
	must(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	must(t, os.Symlink("pipe", filepath.Join(root, "link")))
	f := open(t, root)
	for name, want := range map[string]error{"pipe": confine.NotRegular, "link": confine.NotRegular, "in": confine.AFolder} {
		if got, err := f.Read(name, 10); err != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if f.Write("pipe", nil, 0o600) != confine.NotRegular || f.Remove("pipe") != confine.NotRegular {
		t.Error("a pipe made way")
	}
	for _, name := range []string{"pipe", "link"} {
		if _, err := f.List(name); err == nil || f.Write(name+"/x.md", nil, 0o600) == nil {
			t.Errorf("%s is a folder", name)
		}
		if f, err := confine.Open(filepath.Join(root, name)); err == nil {
			f.Close()
			t.Errorf("%s is a root", name)
		}
	}
	devices := open(t, "/dev")
	for _, name := range []string{"zero", "null", "tty"} {
		if got, err := devices.Read(name, 10); err == nil {
			t.Errorf("/dev/%s: %q", name, got)
		}
	}
	unhurt(t, base)
}

func TestHardLinks(t *testing.T) {
	root, base := tree(t)
	if err := os.Link(filepath.Join(base, "canary.md"), filepath.Join(root, "hard.md")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	f := open(t, root)
	if got, err := f.Read("hard.md", 100); err != confine.Linked {
		t.Errorf("%q, %v", got, err)
	}
	must(t, f.Write("hard.md", []byte("mine"), 0o600))
	if got, err := f.Read("hard.md", 100); err != nil || string(got) != "mine" {
		t.Errorf("%q, %v", got, err)
	}
	unhurt(t, base)
}

func TestWriteUnderAnyUmask(t *testing.T) {
	root, _ := tree(t)
	f := open(t, root)
	defer syscall.Umask(syscall.Umask(0))
	must(t, f.Write("x/new.md", nil, 0o600))
	for name, want := range map[string]os.FileMode{"x": 0o700 | os.ModeDir, "x/new.md": 0o600} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A file that becomes a link out, a pipe or a hard link, and a folder that becomes a
// link out, at any moment between a look and the opening: nothing outside is read,
// written or removed.
func TestSwaps(t *testing.T) {
	const rounds = 15000
	root, base := tree(t)
	f := open(t, root)
	f.WithClock(time.Now, func(time.Duration) {}) // what was made just now is refused; it is never older here
	at := func(name string) string { return filepath.Join(root, name) }
	must(t, os.Mkdir(at("d"), 0o755))
	must(t, os.WriteFile(at("d/canary.md"), []byte("inside"), 0o600))
	swap := func(i int) {
		os.Remove(at("f.md"))
		switch i % 4 {
		case 0:
			os.WriteFile(at("f.md"), []byte("inside"), 0o600)
		case 1:
			os.Symlink("../canary.md", at("f.md"))
		case 2:
			os.Link(filepath.Join(base, "canary.md"), at("f.md"))
		case 3:
			syscall.Mkfifo(at("f.md"), 0o600)
		}
		if i%2 == 0 {
			os.Rename(at("d"), at("d0"))
			os.Symlink("../root-2", at("d"))
		} else {
			os.Remove(at("d"))
			os.Rename(at("d0"), at("d"))
		}
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				swap(i)
			}
		}
	})
	halt := sync.OnceFunc(func() { close(stop); swapping.Wait() })
	defer halt()
	read := 0
	for i := range rounds {
		for _, name := range []string{"f.md", "d/canary.md"} {
			data, err := f.Read(name, 1000)
			if bytes.Contains(data, []byte(canary)) {
				t.Fatalf("%s showed the canary in round %d", name, i)
			}
			if err == nil && len(data) > 0 {
				read++
			}
		}
		if i%250 == 0 {
			_ = f.Write("d/new.md", []byte("inside"), 0o600)
			_ = f.Remove("d/new.md")
			if entries, err := f.List("d"); err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "outside.md" }) {
				t.Fatal("a folder outside is listed")
			}
		}
	}
	halt()
	unhurt(t, base)
	if read == 0 {
		t.Error("no reading gave a file inside")
	}
	t.Logf("%d of %d readings gave the file inside", read, 2*rounds)
}
