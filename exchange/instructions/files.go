package instructions

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"memd/guard/confine"
	"memd/internal/regular"
)

// files are where the files of a layer are read. Names are the layer's own: those
// that target returns, and that are built for what is looked for.
type files interface {
	read(name string) ([]byte, error)
	has(name string) bool                        // is the name taken, be it by a link that leads nowhere
	target(from, written string) (string, error) // the name of what from includes
	origin(name string) string                   // the absolute path
	place(name string) string                    // Part.Path
	key(name string) string                      // one for all names of a file
}

// inside is a project, whose files lead nowhere else. Names are relative to its top.
type inside struct {
	*confine.Folder
	top string
}

func (in inside) read(name string) ([]byte, error) { return in.Read(name, maxFile) }
func (in inside) has(name string) bool             { return in.Has(name) }
func (in inside) origin(name string) string        { return filepath.Join(in.top, filepath.FromSlash(name)) }
func (in inside) place(name string) string         { return name }
func (in inside) key(name string) string           { return real(in.origin(name)) }

// target resolves an inner .. as text, so that it stays inside or is refused.
func (in inside) target(from, written string) (string, error) {
	if path.IsAbs(written) || filepath.IsAbs(written) || strings.HasPrefix(written, "~") {
		return "", confine.Outside
	}
	name := path.Join(path.Dir(from), written)
	return name, confine.Check(name)
}

// anywhere is the whole file system, for those who could read it anyway. Names are
// absolute.
type anywhere struct{ folder, home string }

func (a anywhere) read(name string) ([]byte, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = confine.TooLarge
	}
	return data, err
}

func (a anywhere) has(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func (a anywhere) origin(name string) string { return name }

func (a anywhere) place(name string) string {
	if place, err := filepath.Rel(a.folder, name); err == nil && filepath.IsLocal(place) {
		return filepath.ToSlash(place)
	}
	return filepath.ToSlash(name)
}

func (a anywhere) key(name string) string { return real(name) }

func (a anywhere) target(from, written string) (string, error) {
	if rest, ok := strings.CutPrefix(written, "~/"); ok && a.home != "" {
		return filepath.Join(a.home, rest), nil
	}
	if filepath.IsAbs(written) {
		return filepath.Clean(written), nil
	}
	return filepath.Join(filepath.Dir(from), filepath.FromSlash(written)), nil
}

// real is a path without links, itself where it leads nowhere.
func real(name string) string {
	if path, err := filepath.EvalSymlinks(name); err == nil {
		return path
	}
	return name
}

// absent reports whether nothing is there: no file, or a file where a folder would be.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// reason is an error as the answer tells it: without the name, which stands beside it.
func reason(err error) string {
	switch {
	case absent(err):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read"
	case errors.Is(err, regular.ErrOther):
		return confine.NotRegular.Error()
	case errors.Is(err, syscall.ELOOP):
		return "a link that leads to itself"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
