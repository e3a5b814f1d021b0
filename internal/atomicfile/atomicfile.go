// Package atomicfile replaces files so that a reader, and the disk after a
// power cut, holds either the old content or the new, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tempPattern names unfinished files. The dot keeps them out of listings and
// the name tells whose they are, should a crash leave one behind.
const tempPattern = ".memd-*.tmp"

// WriteFile makes data the content of the file at path, with the permission
// perm whatever the umask. The content is on disk when WriteFile returns nil.
// A symbolic link at path is replaced, not followed.
//
// On an error the file is as it was, with one exception: where only the sync
// of the folder failed the new file is in place, but may not survive a power
// cut.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write is WriteFile of what fn writes. An error of fn leaves the file as it was.
func Write(path string, perm fs.FileMode, fn func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	// CreateTemp opens exclusively with 0600: nobody else reads the content
	// before its final permission is set.
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // a second close of a closed file does no harm
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := fn(f); err != nil {
		return err
	}
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}

// SyncDir puts on disk which files the folder at path holds: what was created,
// renamed or removed in it survives a power cut afterwards.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	// Some file systems cannot sync a folder and say so; there is no other
	// means to ask for then.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
