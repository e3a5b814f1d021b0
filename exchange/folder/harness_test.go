package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/exchange/folder"
	"memd/exchange/notes"
	"memd/guard/sources"
	"memd/internal/memtest"
	"memd/tiers"
)

var admin = memd.LocalAdmin()

// door is a real store behind its ordinary doors.
type door struct {
	*tiers.Service
	dir     string
	limit   int
	heads   func(ctx context.Context) (int, error)
	watched func(call string) // called before each list and write, if it is set
}

func (d *door) saw(call string) {
	if d.watched != nil {
		d.watched(call)
	}
}

func (d *door) List(ctx context.Context, req memd.List) (memd.Page, error) {
	d.saw("list")
	return d.Service.List(ctx, admin, req)
}

func (d *door) Ended(ctx context.Context, namespace string) ([]memd.Gone, error) {
	page, err := d.Service.Gone(ctx, admin, namespace, "")
	return page.Gone, err
}

func (d *door) RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error) {
	d.saw("remember")
	return d.Service.RememberLongTerm(ctx, admin, req)
}

func (d *door) Patch(ctx context.Context, id string, p memd.Patch) (memd.Written, error) {
	d.saw("patch")
	return d.Service.Patch(ctx, admin, id, p)
}

func (d *door) Verify(ctx context.Context, id string, req memd.Verify) (memd.Written, error) {
	d.saw("verify")
	return d.Service.Verify(ctx, admin, id, req)
}

func (d *door) Room(ctx context.Context) (memd.Room, error) {
	heads, err := d.heads(ctx)
	return memd.Room{memd.Long: d.limit - heads}, err
}

// place is a folder of notes and a store.
type place struct {
	t     testing.TB
	clock *memtest.Clock
	store *door
	o     folder.Options
}

func newPlace(t testing.TB, edit func(*configs.Budgets)) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	clock := memtest.NewClock()
	p := &place{t: t, clock: clock, store: newDoor(t, clock, nil, edit)}
	p.o = folder.Options{Dir: filepath.Join(dir, "notes"), Project: "project/x", Now: clock.Now}
	must(t, os.MkdirAll(p.o.Dir, 0o755))
	return p
}

func newDoor(t testing.TB, clock *memtest.Clock, roots map[string]string, edit func(*configs.Budgets)) *door {
	t.Helper()
	d := &door{dir: t.TempDir()}
	s := memtest.Store(t, d.dir, clock, func(b *configs.Budgets) {
		if edit != nil {
			edit(b)
		}
		d.limit = b.LongRows
	})
	d.Service = tiers.New(s)
	if roots != nil {
		d.Service = d.WithSources(sources.New(roots))
	}
	d.heads = func(ctx context.Context) (int, error) {
		st, err := s.Stats(ctx)
		return st.Heads, err
	}
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) at(name string) string { return filepath.Join(p.o.Dir, filepath.FromSlash(name)) }

// write writes a file of the folder.
func (p *place) write(name, text string) {
	p.t.Helper()
	must(p.t, os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	must(p.t, os.WriteFile(p.at(name), []byte(text), 0o644))
}

// note writes a reference note.
func (p *place) note(name, title, description string, more ...string) {
	p.t.Helper()
	p.write(name, "---\nname: "+title+"\ndescription: "+description+"\ntype: reference\n"+strings.Join(more, "")+"---\nbody of "+title+"\n")
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.at(name))
	must(p.t, err)
	return string(data)
}

// all are the files of the folder and what they hold.
func (p *place) all() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	must(p.t, filepath.WalkDir(p.o.Dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			name, _ := filepath.Rel(p.o.Dir, path)
			all[name] = p.read(name)
		}
		return err
	}))
	return all
}

// did runs one direction and words its report: the counts, and every entry that is not
// merely unchanged.
func (p *place) did(run func(context.Context, folder.Store, folder.Options) (*folder.Report, error)) string {
	p.t.Helper()
	return words(p.report(run))
}

func (p *place) report(run func(context.Context, folder.Store, folder.Options) (*folder.Report, error)) *folder.Report {
	p.t.Helper()
	r, err := run(p.t.Context(), p.store, p.o)
	must(p.t, err)
	return r
}

func words(r *folder.Report) string {
	var said []string
	for _, n := range []struct {
		what notes.Outcome
		n    int
	}{{"created", r.Created}, {"updated", r.Updated}, {"unchanged", r.Unchanged}, {"conflict", r.Conflict}, {"refused", r.Refused}} {
		if n.n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return strings.Join(said, ", ")
}

// entry is what a report says of a file.
func entry(t testing.TB, r *folder.Report, name string) folder.Entry {
	t.Helper()
	i := slices.IndexFunc(r.Files, func(e folder.Entry) bool { return e.File == name })
	if i < 0 {
		t.Fatalf("nothing is said of %s: %+v", name, r.Files)
	}
	return r.Files[i]
}

func (p *place) want(what, got, want string) {
	p.t.Helper()
	if got != want {
		p.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// row is the row of a key, the zero Memory for none.
func (p *place) row(namespace, key string) memd.Memory {
	p.t.Helper()
	page, err := p.store.List(p.t.Context(), memd.List{Tier: memd.Long, Namespace: namespace, MemoryKey: key, IncludeRaw: true, Access: []string{"hr"}})
	must(p.t, err)
	if len(page.Memories) == 0 {
		return memd.Memory{}
	}
	return page.Memories[0]
}

// keep writes a long row into project/x.
func (p *place) keep(key, summary string, edits ...func(*memd.RememberLongTerm)) memd.Written {
	p.t.Helper()
	req := memd.RememberLongTerm{MemoryKey: key, Summary: summary, Source: "AGENTS.md#" + key, Namespace: "project/x"}
	for _, edit := range edits {
		edit(&req)
	}
	w, err := p.store.RememberLongTerm(p.t.Context(), req)
	must(p.t, err)
	return w
}

func missing(t testing.TB, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err != nil
}

// ways are the three directions by name.
var ways = map[string]func(context.Context, folder.Store, folder.Options) (*folder.Report, error){
	"import": folder.Import, "export": folder.Export, "both": folder.Sync,
}

// requestIn asks for a row of a namespace.
func requestIn(namespace string) memd.RememberLongTerm {
	return memd.RememberLongTerm{MemoryKey: "of-" + namespace, Summary: "of " + namespace, Source: "AGENTS.md", Namespace: namespace}
}
