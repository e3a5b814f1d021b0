package folder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memd"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// Bounds of a folder.
const (
	maxFiles = 100_000
	maxText  = 1 << 30 // bytes of all notes together
	maxDepth = 32      // folders in folders
)

// unfinished is how old a file must be that a write left unfinished to be one whose
// writer has died.
const unfinished = 10 * time.Minute

// file is a file of the folder that may be a note.
type file struct {
	name  string // below the folder, as the system has it
	sum   [sha256.Size]byte
	read  *notes.Note // as it stands
	note  *notes.Note // resolved
	fault error       // why it is no note
	claim notes.Claim // of one that cannot be read: whose it seems to be

	warning string // what is odd about it, "" for nothing
}

func (f *file) entry() Entry {
	e := Entry{File: shown(f.name)}
	if f.note != nil {
		e.Namespace, e.MemoryKey = f.note.Namespace, f.note.MemoryKey
	}
	return e
}

// shown is a file's name as text: what is no UTF-8 in it is marked.
func shown(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// scan reads the notes of the folder.
func (j *job) scan(ctx context.Context) error {
	names := slices.DeleteFunc(slices.Clone(j.Only), func(name string) bool { return !notes.IsNote(name) || strings.Contains("/"+name, "/.") })
	if j.Only == nil {
		if err := j.walk(ctx, "", 0, &names); err != nil {
			return err
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	found := make([]*file, len(names))
	each(ctx, runtime.GOMAXPROCS(0), len(names), func(i int) { found[i] = j.look(names[i]) })
	for _, f := range found {
		if f != nil {
			j.files = append(j.files, f)
		}
	}
	return ctx.Err()
}

// walk names what a folder holds that may be a note, and refuses what has such a name
// and is none. It follows no link.
func (j *job) walk(ctx context.Context, folder string, depth int, names *[]string) error {
	if j.direction.files && !j.DryRun {
		_ = j.dir.Tidy(folder, unfinished) // of what hinders it the list tells
	}
	entries, err := j.dir.List(folder)
	if err != nil {
		if folder == "" {
			return noFolder(err)
		}
		j.refuse(folder, err)
		return ctx.Err()
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && depth == maxDepth:
			j.refuse(name, memd.Errorf(memd.CodeTooLarge, "the folder lies deeper than memd reads"))
		case e.IsDir():
			if err := j.walk(ctx, name, depth+1, names); err != nil {
				return err
			}
		case !notes.IsNote(e.Name()):
		case len(*names) == maxFiles:
			return memd.FieldErrorf(memd.CodeTooLarge, "notes", "the folder holds more than %d notes", maxFiles)
		default:
			*names = append(*names, name)
		}
	}
	return ctx.Err()
}

func (j *job) refuse(name string, err error) {
	j.report.Files = append(j.report.Files, Entry{File: shown(name)}.refuse(err))
}

// aLink is the fault of a link: to write over one would be to lose it.
const aLink = confine.Refused("a link: what it leads to is read where it stands")

// look reads one file, nil for one that is not there.
func (j *job) look(name string) *file {
	f := &file{name: name}
	data, err := j.dir.Read(name, notes.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !j.dir.Has(name):
		return nil
	case j.dir.IsLink(name):
		f.fault = aLink
	case err != nil:
		f.fault = err
	case j.total.Add(int64(len(data))) > maxText:
		f.fault = memd.Errorf(memd.CodeTooLarge, "the notes of the folder are larger together than memd reads")
	default:
		f.sum = sha256.Sum256(data)
		if f.read, f.fault = notes.Parse(bytes.NewReader(data), ""); f.fault == nil {
			f.note, f.fault = j.names.resolve(f.read, name)
		}
		if f.fault != nil {
			f.claim = notes.ClaimOf(data)
		}
	}
	return f
}

// each calls fn for every index below n, so many at a time, until ctx ends.
func each(ctx context.Context, workers, n int, fn func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				fn(i)
			}
		})
	}
	wg.Wait()
}
