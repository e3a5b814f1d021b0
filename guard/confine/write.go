package confine

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// Names of files that are being written. The dot keeps them out of listings and the
// name tells whose they are, should a crash leave one behind.
const (
	tempPrefix = ".memd-"
	tempSuffix = ".tmp"
)

func unfinished(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// Tidy removes from a folder, "" for the root, the files that a write left unfinished
// and that nobody has touched for so long that it must have died.
func (f *Folder) Tidy(folder string, age time.Duration) error {
	root := f.root
	if folder != "" {
		if err := Check(folder); err != nil {
			return err
		}
		below, err := inner(f.root, folder)
		if err != nil {
			return nameless("tidy", err)
		}
		defer below.Close()
		root = below
	}
	dir, err := root.Open(".")
	if err != nil {
		return nameless("tidy", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if !unfinished(name) {
			continue
		}
		info, gone := root.Lstat(name)
		if gone == nil && info.Mode().IsRegular() && f.now().Sub(info.ModTime()) > age {
			err = errors.Join(err, root.Remove(name))
		}
	}
	return nameless("tidy", err)
}

// Write makes data the content of a file, with the permission perm whatever the
// umask, and makes the folders above it (0700) where they are not there. A reader,
// and the disk after a power cut, holds the old content or the new. A link at the
// name is replaced, not followed, and so is one of several hard links: the file's
// other name keeps the old content. Where only the sync of the folder failed the new
// file is in place.
func (f *Folder) Write(name string, data []byte, perm fs.FileMode) error {
	if err := f.writable(name); err != nil {
		return err
	}
	return f.write(name, data, perm, nil)
}

// Exchange is Write for what was read before: over a file of which held is the
// SHA-256, nil for none. Right before the new content takes its place that is looked at
// again; what somebody has changed meanwhile stays, and the error is Changed. A file
// that is there keeps its permission and may have any name that can be read.
func (f *Folder) Exchange(name string, held *[sha256.Size]byte, data []byte, perm fs.FileMode) error {
	check := f.writable
	if held != nil {
		check = f.check
	}
	if err := check(name); err != nil {
		return err
	}
	if held != nil {
		info, err := f.root.Lstat(name)
		if err != nil {
			return changedOr("write", err)
		}
		perm = info.Mode()
	}
	return f.write(name, data, perm, func(folder *os.Root, base string) error { return unchanged(folder, base, held) })
}

// RemoveHeld is Remove for a file of which held is the SHA-256. One that was changed
// meanwhile stays, and the error is Changed.
func (f *Folder) RemoveHeld(name string, held [sha256.Size]byte) error {
	if err := f.check(name); err != nil {
		return err
	}
	if err := unchanged(f.root, name, &held); err != nil {
		return changedOr("remove", err)
	}
	return f.Remove(name)
}

// changedOr is Changed where what was held is gone.
func changedOr(op string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Changed
	}
	return nameless(op, err)
}

// unchanged looks whether a name still holds what it held.
func unchanged(folder *os.Root, name string, held *[sha256.Size]byte) error {
	info, err := folder.Lstat(name)
	if held == nil {
		if err == nil {
			return Changed
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err != nil {
		return changedOr("look at", err)
	}
	if !info.Mode().IsRegular() {
		return Changed
	}
	file, err := folder.OpenFile(name, openFlags, 0)
	if err != nil {
		return changedOr("look at", err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, info.Size()+1)); err != nil {
		return err
	}
	if [sha256.Size]byte(h.Sum(nil)) != *held {
		return Changed
	}
	return nil
}

// write is Write after its checks. look, if there is one, has the last word before the
// new content takes its place.
func (f *Folder) write(name string, data []byte, perm fs.FileMode, look func(folder *os.Root, base string) error) error {
	dir, base := path.Split(name)
	folder := f.root
	if dir = path.Clean(dir); dir != "." {
		if err := f.makeFolders(dir); err != nil {
			return nameless("write", err)
		}
		// Opened by itself, so that it is the same folder at every step, whatever
		// is put in its place.
		parent, err := inner(f.root, dir)
		if err != nil {
			return nameless("write", err)
		}
		defer parent.Close()
		folder = parent
	}
	return nameless("write", replace(folder, base, data, perm, look))
}

// makeFolders makes a folder and those above it, each on disk before the next.
func (f *Folder) makeFolders(dir string) error {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		err := f.root.Mkdir(dir[:i], 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.syncAbove(dir[:i]); err != nil {
			return err
		}
	}
	return nil
}

// syncAbove puts on disk that a folder was made.
func (f *Folder) syncAbove(dir string) error {
	above, err := inner(f.root, path.Dir(dir))
	if err != nil {
		return err
	}
	defer above.Close()
	return syncFolder(above)
}

func (f *Folder) writable(name string) error {
	if err := CheckPortable(name); err != nil {
		return err
	}
	if unfinished(path.Base(name)) {
		return BadName
	}
	return f.extension(name)
}

// replace writes a file beside the one it takes the place of.
func replace(folder *os.Root, name string, data []byte, perm fs.FileMode, look func(*os.Root, string) error) (err error) {
	if info, err := folder.Lstat(name); err == nil && !replaceable(info) {
		return NotRegular
	}
	temp := tempPrefix + rand.Text() + tempSuffix
	file, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // a second close of a closed file does no harm
			_ = folder.Remove(temp)
		}
	}()
	if _, err := file.Write(data); err != nil {
		return err
	}
	if err := file.Chmod(perm.Perm()); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if look != nil {
		if err := look(folder, name); err != nil {
			return err
		}
	}
	if err := folder.Rename(temp, name); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder puts on disk which files a folder holds.
func syncFolder(folder *os.Root) error {
	dir, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.Sync()
	// Some file systems cannot sync a folder and say so.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
