package folder

import (
	"path"
	"path/filepath"

	"memd/exchange/notes"
)

// namer tells where a file of the folder stands as the source of a memory.
type namer struct {
	Options
	dir   string            // the folder, without links
	roots map[string]string // those of Roots and the project's, without links
}

func newNamer(o Options) namer {
	n := namer{Options: o, dir: real(o.Dir), roots: map[string]string{}}
	if o.Project != "" && o.ProjectRoot != "" {
		n.roots[o.Project] = real(o.ProjectRoot)
	}
	for namespace, root := range o.Roots {
		n.roots[namespace] = real(root)
	}
	return n
}

// real is a path without links, itself where it leads nowhere.
func real(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if canonical, err := filepath.EvalSymlinks(name); err == nil {
		return canonical
	}
	return name
}

// elsewhere begins the source of a file outside of its namespace's root. No path inside
// a folder is written so, and none is looked up.
const elsewhere = "…/"

// place is where a file stands for a memory of a namespace: below the root of that, so
// that its source can be looked up. Where the namespace has no root, the source is the
// file's path in the folder, so that the folder can move.
func (n namer) place(namespace, file string) notes.Place {
	p := notes.Place{Namespace: n.Namespace, Project: n.Project, Source: notes.SourceOf(file)}
	root, ok := n.roots[namespace]
	if !ok {
		return p
	}
	below, err := filepath.Rel(root, filepath.Join(n.dir, filepath.FromSlash(file)))
	switch _, configured := n.Roots[namespace]; {
	case err == nil && filepath.IsLocal(below):
		p.Source = notes.SourceOf(filepath.ToSlash(below))
	case configured:
		p.Source = elsewhere + notes.SourceOf(filepath.Base(n.dir)+"/"+file)
	}
	return p
}

// resolve returns a note of a file with what its place says.
func (n namer) resolve(note *notes.Note, file string) (*notes.Note, error) {
	r, err := note.Resolve(n.place("", file))
	if err != nil {
		return nil, err
	}
	return note.Resolve(n.place(r.Namespace, file))
}

// home is the namespace whose notes stand beside the index.
func (n namer) home() string {
	if n.Namespace != "" {
		return n.Namespace
	}
	return n.Project
}

// overtaken is the file beside a note's that keeps the row a person's edit has
// overtaken.
func overtaken(file string) string { return path.Clean(notes.OvertakenPath(file)) }
