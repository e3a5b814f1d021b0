package artefacts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"memd"
	"memd/configs"
	"memd/guard/confine"
	"memd/guard/sources"
	"memd/tiers"
)

// Store is what of memd's calls a run needs.
type Store interface {
	List(ctx context.Context, req memd.List) (memd.Page, error)
	RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error)
	Verify(ctx context.Context, id string, req memd.Verify) (memd.Written, error)
	// Gone are the keys of a namespace without a memory in force, and how it ended.
	Gone(ctx context.Context, namespace string) (map[string]memd.Fate, error)
	Room(ctx context.Context) (memd.Room, error)
}

// Options say what is indexed, and how.
type Options struct {
	Folder    string
	Namespace string   // "" for that of the folder's project
	Names     []string // of instruction files, with /
	Include   []string // globs of further Markdown files, relative to Folder
	Access    []string // access tags under which rows are read
	DryRun    bool

	Roots   map[string]string // as the configuration has them
	Budgets configs.Budgets
	Now     func() time.Time
}

// maxInclude and maxGlob bound the globs: matching takes time by the product of their
// alternatives.
const (
	maxInclude = 32
	maxGlob    = 512 // bytes
	maxCommas  = 16
)

// Index has the long-term memories of a namespace say what the artefacts in a folder
// say. What the store refuses is reported, and the rest goes on; what of a file cannot
// be read leaves the rows of that file as they are. An error is about all of it; the
// report then tells how far the run came, nil where it had not begun.
func Index(ctx context.Context, s Store, o Options) (*Report, error) {
	for _, glob := range o.Include {
		if len(o.Include) > maxInclude || len(glob) > maxGlob || strings.Count(glob, ",") > maxCommas || !doublestar.ValidatePattern(glob) {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "include", "--include is a glob such as docs/guides/**/*.md, at most %d of them", maxInclude)
		}
	}
	p, err := locate(o)
	if err != nil {
		return nil, err
	}
	r := run{store: s, opts: o, place: p, report: &Report{
		Namespace: p.namespace, Root: p.root, DryRun: o.DryRun, Results: []Result{}, Skipped: []Skipped{}, Warnings: []string{},
	}}
	folder, err := confine.Open(p.folder)
	if err != nil {
		return nil, noFolder(err)
	}
	defer folder.Close()
	found := r.look(&tree{Folder: folder, top: p.folder, names: o.Names, include: o.Include})
	kept, err := r.kept(ctx)
	if err != nil {
		return nil, err
	}
	steps := plan(found, kept, o.Budgets, memd.At(o.Now()))
	if err := r.room(ctx, steps, len(kept.rows)); err != nil {
		return nil, err
	}
	if !p.rooted {
		r.warn(fmt.Sprintf("memd does not look at these sources by itself: no root is configured for %s (roots: {%s: %s})", p.namespace, p.namespace, p.root))
	}
	return r.report, r.carryOut(ctx, steps, found.modified)
}

// run is one run.
type run struct {
	place
	store  Store
	opts   Options
	report *Report
}

// look reads the artefacts of the folder. An empty one is a disk that is not mounted.
func (r *run) look(t *tree) found {
	if t.IsEmpty() {
		t.skip("", confine.Refused("the folder is empty"))
	}
	t.walk("", 0)
	t.once()
	slices.SortFunc(t.files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	f := found{modified: map[string]memd.Time{}}
	for i := range t.files {
		r.take(t, &t.files[i], &f)
	}
	f.gone = func(source string) bool {
		name, within := r.file(source)
		return within && !t.unseen(name)
	}
	for _, skipped := range t.skipped {
		skipped.File = r.name(skipped.File)
		r.report.Skipped = append(r.report.Skipped, skipped)
	}
	return f
}

// take reads one file into what was found.
func (r *run) take(t *tree, f *file, into *found) {
	data, err := t.read(f)
	if err != nil {
		t.skip(f.name, err)
		return
	}
	name := r.name(f.name)
	if fault := tiers.SourceFault(source(name, ""), memd.Rule); fault != "" {
		t.skip(f.name, confine.Refused(fault))
		return
	}
	items, faults := Read(name, f.form, data, Limits{Summary: r.opts.Budgets.LongChars, Raw: int(r.opts.Budgets.RawBytes)})
	for _, fault := range faults {
		if fault.Line == 0 {
			t.skip(f.name, confine.Refused(fault.Reason))
			return
		}
		t.skipped = append(t.skipped, Skipped{f.name, fault.Line, fault.Reason})
	}
	r.report.Files++
	into.modified[source(name, "")] = memd.At(f.modified)
	lines := strings.Split(sources.Plain(data), "\n")
	for i := range items {
		it := &items[i]
		cited := source(name, it.Anchor)
		into.entries = append(into.entries, &entry{
			Item: it, source: cited, digest: it.digest(cited), lines: lines[it.Line-1 : min(it.Last, len(lines))],
		})
	}
}
