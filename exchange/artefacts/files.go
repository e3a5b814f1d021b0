package artefacts

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memd/guard/confine"
)

// Bounds on what is looked at.
const (
	maxFile    = 1 << 20  // bytes of a file
	maxText    = 32 << 20 // bytes of all
	maxFiles   = 2000
	maxEntries = 500_000 // of all folders
	maxDepth   = 40
)

// others are folders of what others wrote, or programs.
var others = [...]string{
	".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", "vendor", "third_party", "testdata", "__pycache__", "site-packages",
	".venv", "venv", ".tox", ".cache", ".terraform", "target", "dist",
}

// Skipped is a file or a folder, or a place in one, of which nothing was taken.
type Skipped struct {
	File   string `json:"file"`           // relative to the root of the sources, with /
	Line   int    `json:"line,omitempty"` // 0 for all of it
	Reason string `json:"reason"`
}

// file is an artefact that was found.
type file struct {
	name     string // relative to the indexed folder, with /
	form     Form
	link     bool
	modified time.Time
}

// tree is a folder that is looked through.
type tree struct {
	*confine.Folder
	top            string // its path
	names, include []string

	files   []file
	entries int
	bytes   int      // of what was read
	full    bool     // a bound was met, and told
	blind   []string // names of what could not be read, whose memories are left alone
	skipped []Skipped
}

// walk finds the artefacts of a folder and of those below it. Another checkout within
// it (a submodule, a worktree) is a project of its own; links to folders are not
// followed.
func (t *tree) walk(folder string, depth int) {
	entries, err := t.List(folder)
	if err != nil || depth > maxDepth {
		if err == nil {
			err = confine.Refused("deeper than is looked")
		}
		t.skip(folder, err)
		return
	}
	if folder != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		return
	}
	for _, e := range entries {
		if t.entries++; t.entries > maxEntries || len(t.files) >= maxFiles {
			if !t.full {
				t.full = true
				t.skip("", confine.Refused("more files than are looked at, from "+folder+" on"))
			}
			return
		}
		name := path.Join(folder, e.Name())
		switch {
		case e.IsDir():
			if !slices.Contains(others[:], e.Name()) {
				t.walk(name, depth+1)
			}
		case e.Type().IsRegular() || e.Type() == fs.ModeSymlink:
			if form := formOf(name, t.names, t.include); form != "" {
				t.files = append(t.files, file{name: name, form: form, link: !e.Type().IsRegular()})
			}
		}
	}
}

// once drops links to files that are there themselves, or by an earlier link: what
// they say is said once.
func (t *tree) once() {
	seen := map[string]bool{}
	slices.SortStableFunc(t.files, func(a, b file) int {
		if a.link != b.link {
			return map[bool]int{false: -1, true: 1}[a.link]
		}
		return strings.Compare(a.name, b.name)
	})
	t.files = slices.DeleteFunc(t.files, func(f file) bool {
		real, err := filepath.EvalSymlinks(t.path(f.name))
		if err != nil { // reading it will tell
			return false
		}
		again := seen[real]
		seen[real] = true
		return again
	})
}

func (t *tree) path(name string) string { return filepath.Join(t.top, filepath.FromSlash(name)) }

// read returns a file and when it was last written.
func (t *tree) read(f *file) ([]byte, error) {
	if info, err := os.Stat(t.path(f.name)); err == nil {
		f.modified = info.ModTime()
	}
	data, err := t.Read(f.name, maxFile)
	if t.bytes += len(data); t.bytes > maxText {
		return nil, confine.Refused("more text than is read of a folder")
	}
	return data, err
}

func (t *tree) skip(name string, err error) {
	t.blind = append(t.blind, name)
	t.skipped = append(t.skipped, Skipped{File: name, Reason: reason(err)})
}

// unseen reports whether nothing can be said of a file that was not found: it, or a
// folder around it, was not read, or it is there and was not asked for.
func (t *tree) unseen(name string) bool {
	for _, b := range t.blind {
		if b == "" || name == b || strings.HasPrefix(name, b+"/") {
			return true
		}
	}
	return t.Has(name)
}

// reason is an error without the name, which stands beside it.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
