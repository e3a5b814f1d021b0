// Package regular opens files that must be files. In the place of one may stand a
// pipe, a socket or a device, on which a plain open or read waits for ever.
package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrOther is the cause of a [fs.PathError] about what is there and is no file.
var ErrOther = errors.New("is no regular file")

// Open opens a file to read it. Where something else has its name nothing waits for
// that, and the error is of [ErrOther].
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile for a file alone, see Open.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|atOnce, perm)
	if err != nil {
		if info, failed := os.Stat(path); failed == nil && !info.Mode().IsRegular() { // a socket, or a pipe that nobody reads
			return nil, other(path)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = other(path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file whole, see Open.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func other(path string) error { return &fs.PathError{Op: "open", Path: path, Err: ErrOther} }
