//go:build unix

package confine

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that takes a file's place after the look at it is opened without waiting,
// and not read.
func TestPipeOpened(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := f.root.OpenFile("pipe", openFlags, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode()&os.ModeNamedPipe == 0 || readable(info, 10) != NotRegular {
		t.Error("an open pipe would be read")
	}
}
