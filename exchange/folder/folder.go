package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"memd"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// Store is what is asked of memd. Its refusals are *memd.Error.
type Store interface {
	List(ctx context.Context, req memd.List) (memd.Page, error)
	Ended(ctx context.Context, namespace string) ([]memd.Gone, error)
	RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error)
	Patch(ctx context.Context, id string, p memd.Patch) (memd.Written, error)
	Verify(ctx context.Context, id string, req memd.Verify) (memd.Written, error)
	Room(ctx context.Context) (memd.Room, error)
}

// Options say which folder and which memories.
type Options struct {
	Dir         string            // the folder
	Namespace   string            // of notes that state none, and the only one that is exported; "" for the rule
	Project     string            // the namespace of project and reference notes, such as project/memd; "" for none
	ProjectRoot string            // the project's own folder, for its sources where Roots has none; "" for none
	Roots       map[string]string // by namespace the folder that its sources are relative to
	Access      []string          // access tags under which restricted memories are read
	Only        []string          // these files alone, below Dir, with slashes: then memories without a file and the index are left alone
	Existing    bool              // the folder must be there: it is not made
	DryRun      bool              // report, and write nothing
	Now         func() time.Time  // default time.Now
}

// direction is what of both sides is written.
type direction struct{ rows, files bool }

// Import takes the files of a folder into the store. Of files it changes only what memd
// itself keeps in one that it wrote before, or whose text the store took otherwise.
// An error is one of the whole run: with it the report, if there is one, tells what was
// done before.
func Import(ctx context.Context, s Store, o Options) (*Report, error) {
	return run(ctx, s, o, direction{rows: true})
}

// Export writes the store's long-term memories into a folder, and its index. It makes
// the folder. Restricted memories whose tags are not named are none of them.
func Export(ctx context.Context, s Store, o Options) (*Report, error) {
	return run(ctx, s, o, direction{files: true})
}

// Sync does what Import and Export do, at once.
func Sync(ctx context.Context, s Store, o Options) (*Report, error) {
	return run(ctx, s, o, direction{rows: true, files: true})
}

// job is one run.
type job struct {
	Options
	direction
	store Store
	dir   *confine.Folder
	names namer // of places

	files  []*file
	total  atomic.Int64 // bytes of the files that were read
	rows   map[ident]memd.Memory
	gone   map[ident]memd.Gone
	report *Report

	entries []notes.Entry // of the index
}

// ident is what a memory and its file have in common.
type ident struct{ namespace, key string }

func identOf(n *notes.Note) ident { return ident{n.Namespace, n.MemoryKey} }

func run(ctx context.Context, s Store, o Options, d direction) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Namespace != "" && !memd.ValidNamespace(o.Namespace) {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "namespace", "namespace must be lower-case parts of [a-z0-9._-] joined by /")
	}
	j := &job{Options: o, direction: d, store: s, report: &Report{Folder: o.Dir, DryRun: o.DryRun, Files: []Entry{}}}
	if err := j.open(); err != nil {
		return nil, err
	}
	if j.dir != nil {
		defer j.dir.Close()
		if err := j.scan(ctx); err != nil {
			return nil, err
		}
	}
	if err := j.load(ctx); err != nil {
		return nil, err
	}
	err := j.settle(ctx, j.plan())
	if err == nil && d.files && o.Only == nil {
		err = j.index()
	}
	j.report.count()
	return j.report, err
}

// open opens the folder, and makes it where it is to be written. A dry run makes none.
func (j *job) open() error {
	if j.direction.files && !j.DryRun && !j.Existing {
		if err := os.MkdirAll(j.Dir, 0o700); err != nil {
			return noFolder(err)
		}
	}
	j.names = newNamer(j.Options)
	dir, err := confine.Open(j.Dir)
	if errors.Is(err, fs.ErrNotExist) && j.direction.files && j.DryRun {
		return nil
	}
	if err != nil {
		return noFolder(err)
	}
	j.dir = dir
	return nil
}

func noFolder(err error) error {
	return &memd.Error{Code: memd.CodeInvalidRequest, Field: "notes", Message: "the folder of notes cannot be opened: " + why(err)}
}

// why is an error of the system in a few words, without the names in it.
func why(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case errors.Is(err, fs.ErrPermission):
		return "it may not be read or written"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
