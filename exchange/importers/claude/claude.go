// Package claude reads the folder in which Claude Code keeps its auto-memory, as in seed
// 002: MEMORY.md and one Markdown file a topic, with YAML frontmatter, with its fields
// below "metadata", or with none at all. A folder of plain Markdown is one as well.
//
// A file that is a note of memd's form is read as one. Any other is made into one
// first: what its frontmatter lacks is taken from the index, from the file's name and
// from its text. The folder is not touched.
package claude

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// Options say where a folder stands. Origin.File and Source are the folder's, and
// Date is not used: every file has its own.
type Options struct {
	importers.Origin
	Project string // the namespace of what is neither the user's nor feedback, "" for none
}

// Bounds of a folder.
const (
	maxFiles = 20_000
	maxDeep  = 8 // folders below it
)

// reader is one reading of a folder.
type reader struct {
	Options
	folder *confine.Folder
	hooks  map[string]string // descriptions of the index, by path
	left   int               // files that may still be read
	yield  func(importers.Item, error) bool
}

// Read reads the files of a folder in the order of their names.
func Read(folder *confine.Folder, o Options) importers.Items {
	return func(yield func(importers.Item, error) bool) {
		r := &reader{Options: o, folder: folder, left: maxFiles, yield: yield}
		r.hooks = r.index()
		r.list("", 0)
	}
}

// index are the descriptions of MEMORY.md. What is wrong with that is said when it is
// read itself.
func (r *reader) index() map[string]string {
	hooks := map[string]string{}
	data, err := r.folder.Read(notes.IndexFile, notes.MaxBytes)
	if err != nil {
		return hooks
	}
	entries, _ := notes.ReadIndex(strings.NewReader(string(data))) // larger than one is, it has none
	for _, e := range entries {
		hooks[e.Path] = e.Description
	}
	return hooks
}

// list reads what a folder holds, and reports whether to go on. Links to folders are not
// followed, so that there are no loops.
func (r *reader) list(dir string, deep int) bool {
	entries, err := r.folder.List(dir)
	if err != nil {
		return r.fault(dir, 0, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		goOn := true
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && deep < maxDeep:
			goOn = r.list(name, deep+1)
		case e.IsDir():
			goOn = r.fault(name, 0, errDeep)
		case !strings.EqualFold(path.Ext(name), ".md"):
		case r.left == 0:
			r.fault(name, 0, errMany)
			return false
		default:
			r.left--
			goOn = r.file(name, e)
		}
		if !goOn {
			return false
		}
	}
	return true
}

var (
	errDeep = errors.New("the folder lies too deep and is not read")
	errMany = errors.New("the folder holds more files than memd reads; this one and those behind it are left out")
)

// file reads one file.
func (r *reader) file(name string, e fs.DirEntry) bool {
	data, err := r.folder.Read(name, notes.MaxBytes)
	if err != nil {
		return r.fault(name, 0, err)
	}
	var written memd.Time
	if info, err := e.Info(); err == nil {
		written = memd.At(info.ModTime())
	}
	if strings.EqualFold(path.Base(name), notes.IndexFile) {
		return r.sections(name, string(data), written)
	}
	if !notes.IsNote(name) { // memd's own copy of a row
		return true
	}
	n, made, err := r.note(name, string(data))
	if err == nil {
		n, err = n.Resolve(notes.Place{Source: r.source(name), Namespace: r.Namespace, Project: r.Project})
		if f, ok := errors.AsType[*notes.Fault](err); ok && made {
			f.Line = 1 // those that it counts are not the file's
		}
	}
	if err == nil && !(n.ExpiresAt.IsZero() && n.ResolvedAt.IsZero()) {
		err = r.Fault(1, "the note says when it ends, as memd writes it: memd import --notes takes that")
	}
	if err != nil {
		return r.fault(name, 0, err)
	}
	return r.item(name, 0, n, written)
}

func (r *reader) source(name string) string {
	return path.Join(r.Source, notes.SourceOf(name))
}

// item yields a resolved note. Its date is the one that it states, else the file's.
func (r *reader) item(name string, line int, n *notes.Note, written memd.Time) bool {
	req := n.Request(0)
	req.BaseVersion = nil
	for _, at := range []memd.Time{n.UpdatedAt, written} {
		if req.VerifiedAt.IsZero() {
			req.VerifiedAt = at
		}
	}
	return r.yield(importers.Item{File: path.Join(r.File, name), Line: line, Long: &req}, nil)
}

// fault yields what is wrong with a file.
func (r *reader) fault(name string, line int, err error) bool {
	f, ok := errors.AsType[*notes.Fault](err)
	if !ok {
		f = r.Fault(line, "%s", reason(err))
	}
	f.File = path.Join(r.File, name)
	return r.yield(importers.Item{}, f)
}

// reason is an error of a file without its path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
