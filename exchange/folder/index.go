package folder

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"memd/exchange/notes"
	"memd/guard/confine"
)

// index writes MEMORY.md, over what a person has written in it. Restricted notes are
// not listed: every session reads the index.
func (j *job) index() error {
	for try := 1; ; try++ {
		e, err := j.writeIndex()
		if errors.Is(err, confine.Changed) && try < tries {
			continue
		}
		if err != nil {
			e = e.refuse(err)
		}
		j.report.Index = &e
		return nil
	}
}

// list puts a note into the index.
func (j *job) list(n *notes.Note, file string) {
	if len(n.Access) == 0 {
		j.entries = append(j.entries, notes.EntryOf(n, file))
	}
}

// theirs reports whether a line of the index that leads to a file is a person's: to what
// is outside, to what memd does not read, or to what is no note, be it for now.
func (j *job) theirs(name string) bool {
	name = path.Clean(name)
	if !filepath.IsLocal(name) || strings.Contains("/"+name, "/.") {
		return true
	}
	return slices.ContainsFunc(j.files, func(f *file) bool { return f.name == name && f.fault != nil })
}

func (j *job) writeIndex() (Entry, error) {
	e := Entry{File: notes.IndexFile, Outcome: notes.Updated, Did: notes.WriteFile}
	var held *[sha256.Size]byte
	var old []byte
	if j.dir != nil {
		var err error
		switch old, err = j.dir.Read(notes.IndexFile, notes.MaxBytes); {
		case err == nil:
			sum := sha256.Sum256(old)
			held = &sum
		case !errors.Is(err, fs.ErrNotExist) || j.dir.Has(notes.IndexFile):
			return e, err
		}
	}
	var b bytes.Buffer
	if err := notes.RenderIndex(&b, string(old), j.entries, j.theirs); err != nil {
		return e, err
	}
	switch {
	case bytes.Equal(old, b.Bytes()), held == nil && len(j.entries) == 0:
		e.Outcome, e.Did = notes.Unchanged, notes.Nothing
		return e, nil
	case held == nil:
		e.Outcome = notes.Created
	}
	if j.DryRun {
		return e, nil
	}
	return e, j.dir.Exchange(notes.IndexFile, held, b.Bytes(), filePerm)
}
