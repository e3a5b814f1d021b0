//go:build unix

package sources

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"memd"
)

// What is no regular file is not waited for: a pipe that nobody writes to would
// hold this test for ever.
func TestPipesAndDevices(t *testing.T) {
	c, root := folder(t, map[string]string{"a.md": "# A\n"})
	must(t, syscall.Mkfifo(filepath.Join(root, "pipe.md"), 0o600))
	must(t, os.Symlink("pipe.md", filepath.Join(root, "link.md")))
	must(t, os.Mkdir(filepath.Join(root, "dir.md"), 0o755))
	for _, source := range []string{"pipe.md", "pipe.md#a", "link.md", "dir.md#a"} {
		if f := want(t, c, source, memd.SourceUnchecked, "no regular file"); f.Reach != There {
			t.Errorf("%s: %+v", source, f)
		}
	}
	want(t, c, "dir.md", memd.SourceOK, "")
	for device, source := range map[string]string{"/dev": "zero", "/dev/": "null"} {
		if f := New(map[string]string{"x": device}).File("x", source); f.Status != memd.SourceUnchecked {
			t.Errorf("%s%s: %+v", device, source, f)
		}
	}
	short, err := os.MkdirTemp("", "s") // for the socket's path
	must(t, err)
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", filepath.Join(short, "s.md"))
	must(t, err)
	defer l.Close()
	if f := New(map[string]string{"x": short}).File("x", "s.md"); f.Status != memd.SourceUnchecked {
		t.Errorf("a socket: %+v", f)
	}
}

func TestHardLinks(t *testing.T) {
	outside := t.TempDir()
	put(t, filepath.Join(outside, "secret.md"), "# A\n")
	c, root := folder(t, map[string]string{"own.md": "# A\n"})
	if err := os.Link(filepath.Join(outside, "secret.md"), filepath.Join(root, "linked.md")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if f := want(t, c, "linked.md#a", memd.SourceUnchecked, "hard link"); f.Reach != There {
		t.Errorf("%+v", f)
	}
	want(t, c, "own.md#a", memd.SourceOK, "")
}

// What may not be read is not missing.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	c, root := folder(t, map[string]string{"a.md": "# A\n", "shut/b.md": "# B\n"})
	must(t, os.Chmod(filepath.Join(root, "a.md"), 0))
	must(t, os.Chmod(filepath.Join(root, "shut"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "shut"), 0o700) })
	if f := want(t, c, "a.md", memd.SourceUnchecked, "cannot be read"); f.Reach != There {
		t.Errorf("%+v", f)
	}
	if f := want(t, c, "shut/b.md", memd.SourceUnchecked, "cannot be read"); f.Reach != Away {
		t.Errorf("%+v", f)
	}
	want(t, c, "shut/gone.md", memd.SourceUnchecked, "cannot be read")
	must(t, os.Chmod(root, 0))
	t.Cleanup(func() { _ = os.Chmod(root, 0o700) })
	want(t, c, "gone.md", memd.SourceUnchecked, "")
}

// A name that no file can have is no sign that there is nothing.
func TestNameTooLong(t *testing.T) {
	c, _ := folder(t, nil)
	name := make([]byte, 300)
	for i := range name {
		name[i] = 'a'
	}
	want(t, c, string(name)+".md", memd.SourceUnchecked, "too long")
}
