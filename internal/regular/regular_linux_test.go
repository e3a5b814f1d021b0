package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no file is refused, and nothing waits for its other end.
func TestOther(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, socket, link, dir, "/dev/zero", "/dev/tty"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREATE} {
			f, err := OpenFile(path, flag, 0o600)
			if f != nil || !errors.Is(err, ErrOther) {
				t.Errorf("%s with %#x: %v", path, flag, err)
			}
		}
		if _, err := ReadFile(path); !errors.Is(err, ErrOther) {
			t.Errorf("%s is read: %v", path, err)
		}
	}
	file := filepath.Join(dir, "file")
	if _, err := Open(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(file); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
}
