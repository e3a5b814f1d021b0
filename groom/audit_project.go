package groom

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// project is the root folder of a namespace, as far as the audit looks into it.
// Nothing outside of the folder is read, whatever links in it say.
type project struct {
	root *os.Root

	versions map[string]requirement // by lower-case name; nil: not read yet
	names    map[string]bool        // of all files, in lower case; nil: not read yet
	partly   bool                   // whether there are more files than were looked at
}

// project returns the root folder of a namespace, nil where none is configured or
// it cannot be opened.
func (e *evidence) project(namespace string) *project {
	p, known := e.roots[namespace]
	if known {
		return p
	}
	if dir, ok := e.opts.Sources.Root(namespace); ok {
		if root, err := os.OpenRoot(dir); err == nil {
			p = &project{root: root}
		}
	}
	e.roots[namespace] = p
	return p
}

// close lets go of the root folders.
func (e *evidence) close() {
	for _, p := range e.roots {
		if p != nil {
			p.root.Close()
		}
	}
}

// maxRead bounds what is read of one file in a root, in bytes.
const maxRead = 4 << 20

// read returns a file in the root; not ok where there is none, and where it is
// none that can be read whole.
func (p *project) read(name string) (text []byte, ok bool) {
	if info, err := p.root.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
		return nil, false // a pipe would never end
	}
	f, err := p.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxRead+1))
	return text, err == nil && len(text) <= maxRead
}

// has reports whether a path stands in the root. What cannot be looked at, such as
// a link that leads out of it, does.
func (p *project) has(name string) bool {
	_, err := p.root.Lstat(path.Clean(name))
	return !errors.Is(err, fs.ErrNotExist) && !notFolder(err)
}

// notFolder reports whether an error says that a part of a path is a file.
func notFolder(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && strings.Contains(e.Err.Error(), "not a directory")
}

// maxNames bounds how many files of a root are looked at for a bare name.
const maxNames = 50000

// hasNamed reports whether a file of a bare name stands anywhere in the root, and
// whether that could be told.
func (p *project) hasNamed(name string) (has, told bool) {
	if p.names == nil {
		p.names = map[string]bool{}
		seen := 0
		_ = fs.WalkDir(p.root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
			switch seen++; {
			case seen > maxNames:
				p.partly = true
				return fs.SkipAll
			case err != nil:
				p.partly = true
				return fs.SkipDir
			case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
				return fs.SkipDir
			}
			p.names[strings.ToLower(path.Base(at))] = true
			return nil
		})
	}
	has = p.names[strings.ToLower(name)]
	return has, has || !p.partly
}
