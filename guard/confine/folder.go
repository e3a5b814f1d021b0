package confine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Folder is a folder in which files are opened by name. It is safe for concurrent
// use. The caller closes it.
type Folder struct {
	root       *os.Root
	extensions []string // none: any
	now        func() time.Time
	wait       func(time.Duration)
}

// Open opens a folder; it may be a link itself, or lie below one. Where extensions
// are given, such as ".md", no file of another is read, written or removed. They are
// compared without case.
func Open(folder string, extensions ...string) (*Folder, error) {
	root, err := os.OpenRoot(folder + string(filepath.Separator) + ".") // as in inner
	if err != nil {
		return nil, nameless("open the root", err)
	}
	return &Folder{root: root, extensions: extensions, now: time.Now, wait: time.Sleep}, nil
}

// Close lets go of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// check is Check, and whether the file is of a kind that is opened here.
func (f *Folder) check(name string) error {
	if err := Check(name); err != nil {
		return err
	}
	return f.extension(name)
}

func (f *Folder) extension(name string) error {
	if len(f.extensions) > 0 && !slices.ContainsFunc(f.extensions, func(ext string) bool { return strings.EqualFold(ext, path.Ext(name)) }) {
		return Extension
	}
	return nil
}

// Read reads a regular file of at most max bytes that has no other name. A link is
// followed as long as it stays inside. Errors are a Refused, or wrap what the system
// says, such as fs.ErrNotExist.
func (f *Folder) Read(name string, max int64) ([]byte, error) {
	if err := f.check(name); err != nil {
		return nil, err
	}
	return f.read(name, max)
}

func (f *Folder) read(name string, max int64) ([]byte, error) {
	file, err := f.open(name, max)
	for range tries - 1 { // somebody may have saved it just now
		if err == Moved {
			f.wait(settled)
			file, err = f.open(name, max)
		}
	}
	if err != nil {
		return nil, nameless("read", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, max+1))
	if err != nil {
		return nil, nameless("read", err)
	}
	if int64(len(data)) > max {
		return nil, TooLarge
	}
	return data, nil
}

// settled is how long ago a file must have changed, links to it among that, for its
// links to be known: twice the coarsest tick by which systems note it.
const (
	settled = 20 * time.Millisecond
	tries   = 3
)

// open looks before it opens, for opening a pipe or a device may wait or do
// something, and looks again after. It must be the same file, and one without a
// second name. Of an open file alone that is not told, nor of its name: the second
// one may be the one that it was opened by, removed at once. So nothing may have
// happened to its links since before it was opened.
func (f *Folder) open(name string, max int64) (*os.File, error) {
	began := f.now()
	before, err := f.look(name, max)
	if err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err == nil {
		err = readable(opened, max)
	}
	if err == nil {
		after, lost := f.look(name, max)
		if lost != nil || !os.SameFile(before, opened) || !os.SameFile(opened, after) || fresh(opened, began) {
			err = Moved
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// fresh reports whether a file may have changed after began. What changed much later
// was noted by another clock, that of a server.
func fresh(info fs.FileInfo, began time.Time) bool {
	at := changed(info)
	return at.After(began.Add(-settled)) && at.Before(began.Add(time.Minute))
}

func (f *Folder) look(name string, max int64) (fs.FileInfo, error) {
	info, err := f.root.Stat(name)
	if err == nil {
		err = readable(info, max)
	}
	return info, err
}

// readable refuses what is no file of its own: a second name of a file may be one
// that was put here to show a file from elsewhere.
func readable(info fs.FileInfo, max int64) error {
	switch {
	case info.IsDir():
		return AFolder
	case !info.Mode().IsRegular():
		return NotRegular
	case linked(info):
		return Linked
	case info.Size() > max:
		return TooLarge
	}
	return nil
}

// Has reports whether a name is known to be taken, be it by a link that leads nowhere.
func (f *Folder) Has(name string) bool {
	if f.check(name) != nil {
		return false
	}
	_, err := f.root.Lstat(name)
	return err == nil
}

// IsLink reports whether a name is known to be that of a link.
func (f *Folder) IsLink(name string) bool {
	if f.check(name) != nil {
		return false
	}
	info, err := f.root.Lstat(name)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}

// IsEmpty reports whether the root is known to hold nothing.
func (f *Folder) IsEmpty() bool {
	dir, err := f.root.Open(".")
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return err == io.EOF
}

// List returns what a folder inside holds, by name; "" is the root. Files that a
// write left unfinished are none of it. Links are named, not followed.
func (f *Folder) List(folder string) ([]fs.DirEntry, error) {
	if folder == "" {
		folder = "."
	} else if err := Check(folder); err != nil {
		return nil, err
	}
	root, err := inner(f.root, folder)
	if err != nil {
		return nil, nameless("list", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, nameless("list", err)
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return unfinished(e.Name()) }), nil
}

// inner opens a folder below another, the same one whatever takes its name. The dot
// behind it is what keeps the system from opening, and waiting for, a pipe that
// stands there instead.
func inner(root *os.Root, folder string) (*os.Root, error) { return root.OpenRoot(folder + "/.") }

// Remove removes a file. Of a link it removes the link; a folder is refused.
func (f *Folder) Remove(name string) error {
	if err := f.check(name); err != nil {
		return err
	}
	info, err := f.root.Lstat(name)
	if err != nil {
		return nameless("remove", err)
	}
	if !replaceable(info) {
		return NotRegular
	}
	return nameless("remove", f.root.Remove(name))
}

// replaceable reports whether what stands at a name may make way: a file, or a link,
// of which nothing but the link goes.
func replaceable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSymlink
}

// nameless is an error of the system without the names that stand in it: they are
// the caller's.
func nameless(op string, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[Refused](err); ok {
		return refused
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: op, Path: "a file inside the root", Err: err}
}
