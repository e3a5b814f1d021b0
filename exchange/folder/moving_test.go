package folder_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/exchange/folder"
)

// once has fn called at the first of some calls to the store.
func (p *place) once(call string, fn func()) {
	var did atomic.Bool
	p.store.watched = func(now string) {
		if now == call && did.CompareAndSwap(false, true) {
			fn()
		}
	}
}

func (p *place) edit(name, old, now string) {
	p.t.Helper()
	text := strings.Replace(p.read(name), old, now, 1)
	if text == p.read(name) {
		p.t.Fatalf("%s does not hold %q", name, old)
	}
	p.write(name, text)
}

// A person edits a file while memd writes it: the edit stands, memd's text stands
// beside it.
func TestEditedWhileWritten(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first")
	p.did(folder.Export)
	p.keep("k", "the agent's")
	p.once("list", func() { p.edit("k.md", "first", "the person's") })
	p.want("the export", p.did(folder.Export), "1 conflict")
	if !strings.Contains(p.read("k.md"), "the person's") || !strings.Contains(p.read("k.memd.md"), "the agent's") {
		t.Errorf("the files are %v", p.all())
	}
}

// So does a file that comes to be where memd was to make one, be it no note.
func TestComesToBe(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first")
	p.once("list", func() { p.write("k.md", "just text\n") })
	r := p.report(folder.Export)
	p.want("the export", words(r), "1 refused")
	if e := entry(t, r, "k.md"); e.Line != 1 || p.read("k.md") != "just text\n" {
		t.Errorf("it says %+v of %q", e, p.read("k.md"))
	}
}

// A file that is edited while its memory was forgotten is not removed.
func TestEditedWhileRemoved(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first")
	p.did(folder.Export)
	must(t, p.store.ForgetKey(t.Context(), admin, "project/x", "k"))
	p.once("list", func() { p.edit("k.md", "first", "the person's") })
	p.want("the export", p.did(folder.Export), "1 refused")
	if !strings.Contains(p.read("k.md"), "the person's") {
		t.Error("the edit is lost")
	}
}

// An agent writes a row while its file comes in: neither is lost.
func TestRowMovesMeanwhile(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first")
	p.did(folder.Export)
	p.edit("k.md", "first", "the person's")
	p.once("remember", func() { p.keep("k", "the agent's") })
	p.want("the import", p.did(folder.Import), "1 conflict")
	p.store.watched = nil
	if m := p.row("project/x", "k"); m.Summary != "the person's" || m.Version != 3 || !strings.Contains(p.read("k.memd.md"), "the agent's") {
		t.Errorf("the row is %+v, the files %v", m, p.all())
	}
	p.want("the second import", p.did(folder.Import), "1 unchanged")
}

// A person edits a file again while its first edit comes in: the last one counts.
func TestEditedTwice(t *testing.T) {
	for name, way := range ways {
		if name == "export" {
			continue
		}
		p := newPlace(t, nil)
		p.keep("k", "first")
		p.did(folder.Export)
		p.edit("k.md", "first", "second")
		p.once("remember", func() { p.edit("k.md", "second", "third") })
		p.want(name, p.did(way), "1 updated")
		if m := p.row("project/x", "k"); m.Summary != "third" || m.Version != 3 {
			t.Errorf("the row is %+v", m)
		}
		p.want(name+" again", p.did(way), "1 unchanged")
		if !missing(t, p.at("k.memd.md")) {
			t.Error("a conflict is made up")
		}
	}
}

// Both directions at once: what each side has new goes to the other, and then nothing.
func TestSync(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "from a file")
	p.keep("k", "from the store")
	p.want("the first", p.did(folder.Sync), "2 created")
	all := p.all()
	p.want("the second", p.did(folder.Sync), "2 unchanged")
	if !maps.Equal(all, p.all()) {
		t.Errorf("%v became %v", all, p.all())
	}
	p.edit("a.md", "from a file", "edited")
	p.clock.Advance(time.Second)
	p.keep("k", "changed")
	p.want("after changes", p.did(folder.Sync), "2 updated")
	if p.row("project/x", "a").Summary != "edited" || !strings.Contains(p.read("k.md"), "changed") || !strings.Contains(p.read("MEMORY.md"), "edited") {
		t.Errorf("the files are %v", p.all())
	}
	p.want("at rest", p.did(folder.Sync), "2 unchanged")
}

// A run on some files looks at no other, and leaves the index alone.
func TestOnly(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	p.note("b.md", "b", "b")
	p.keep("k", "k")
	p.write("MEMORY.md", "# mine\n")
	p.write(".x/a.md", "no note")
	p.o.Only = []string{"a.md", "gone.md", "MEMORY.md", ".x/a.md", "a.memd.md"}
	p.want("the run", p.did(folder.Sync), "1 created")
	if p.row("project/x", "b").ID != "" || !missing(t, p.at("k.md")) || p.read("MEMORY.md") != "# mine\n" {
		t.Errorf("the files are %v", p.all())
	}
}

// Two files of one memory: the copy is refused, whichever comes first by name, and both
// are named.
func TestTwice(t *testing.T) {
	p := newPlace(t, nil)
	p.note("m.md", "same", "mine")
	p.did(folder.Import)
	for _, name := range []string{"a.md", "z.md"} {
		p.note(name, "same", "copied, then changed")
		r := p.report(folder.Import)
		p.want(name, words(r), "1 unchanged, 1 refused")
		if e := entry(t, r, name); !strings.Contains(e.Reason, "m.md") {
			t.Errorf("it says %+v", e)
		}
		must(t, os.Remove(p.at(name)))
	}
	p.note("M.md", "other", "another memory")
	r := p.report(folder.Import)
	p.want("names of one letter", words(r), "1 created, 1 unchanged")
	if e := entry(t, r, "m.md"); len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "M.md") {
		t.Errorf("it says %+v", e)
	}
}

// A file that a person has called as another memory's would be is not written over, on
// systems too that take both names for one.
func TestNameIsTaken(t *testing.T) {
	p := newPlace(t, nil)
	p.note("K.md", "another", "another memory")
	p.keep("k", "a rule")
	p.did(folder.Import)
	before := p.read("K.md")
	p.want("the export", p.did(folder.Export), "1 created, 1 unchanged")
	if !strings.HasPrefix(p.read("K.md"), before[:20]) || !missing(t, p.at("k.md")) || len(p.all()) != 3 {
		t.Errorf("the files are %v", p.all())
	}
	p.want("the second export", p.did(folder.Export), "2 unchanged")
}

// A memory whose file cannot be read gets no second one.
func TestBrokenFile(t *testing.T) {
	p := newPlace(t, nil)
	p.note("mine.md", "titled so", "x")
	p.did(folder.Import)
	p.did(folder.Export)
	p.edit("mine.md", "type: reference", "type: [")
	p.want("the export", p.did(folder.Export), "1 refused")
	if len(p.all()) != 2 {
		t.Errorf("the files are %v", p.all())
	}
}

// The folder moves: nothing is written.
func TestMoved(t *testing.T) {
	p := newPlace(t, nil)
	p.note("sub/a.md", "a", "a")
	p.keep("k", "k")
	p.did(folder.Import)
	p.did(folder.Export)
	all := p.all()
	to := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.Rename(p.o.Dir, to))
	p.o.Dir, p.o.Project = to, "project/y" // its project has another id there
	for name, way := range ways {
		p.want(name, p.did(way), "2 unchanged")
	}
	if !maps.Equal(all, p.all()) {
		t.Errorf("%v became %v", all, p.all())
	}
}

// Sources are below the root of their namespace, where that holds the folder, and stand
// when memd itself has written the file.
func TestSources(t *testing.T) {
	p := newPlace(t, nil)
	root := filepath.Dir(p.o.Dir)
	p.o.Roots = map[string]string{"project/x": root, "team/far": t.TempDir()}
	p.store = newDoor(t, p.clock, p.o.Roots, nil)
	p.note("a b.md", "a", "first")
	p.note("far.md", "far", "first", "namespace: team/far\n")
	p.note("none.md", "none", "first", "namespace: team/none\n")
	p.want("the import", p.did(folder.Import), "3 created")
	m := p.row("project/x", "a")
	if m.Source != "notes/a%20b.md" || m.SourceStatus != memd.SourceOK {
		t.Errorf("the row is %+v", m)
	}
	if m := p.row("team/far", "far"); m.Source != "…/notes/far.md" || m.SourceStatus != memd.SourceUnchecked {
		t.Errorf("outside the root it is %+v", m)
	}
	if m := p.row("team/none", "none"); m.Source != "none.md" {
		t.Errorf("without a root it is %+v", m)
	}
	p.did(folder.Export)
	p.clock.Advance(time.Hour)
	p.keep("a", "second", func(r *memd.RememberLongTerm) { r.Source, r.VerifiedAt = m.Source, m.VerifiedAt })
	verified := 0
	p.store.watched = func(call string) {
		if call == "verify" {
			verified++
		}
	}
	p.want("the export", p.did(folder.Export), "1 updated, 2 unchanged")
	all := p.all()
	p.want("the second export", p.did(folder.Export), "3 unchanged")
	if verified != 1 || !maps.Equal(all, p.all()) || !p.row("project/x", "a").VerifiedAt.Equal(m.VerifiedAt.Time) {
		t.Errorf("verified %d times, %+v, %v", verified, p.row("project/x", "a"), p.all())
	}
	p.o.Roots = nil
	p.o.ProjectRoot = root
	p.note("new.md", "new", "new")
	p.did(folder.Import)
	if m := p.row("project/x", "new"); m.Source != "notes/new.md" {
		t.Errorf("below the project it is %+v", m)
	}
}

// White space alone is no edit, and stays as a person has it.
func TestReflowed(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first", func(r *memd.RememberLongTerm) { r.RawContent = "one line of words" })
	p.did(folder.Export)
	p.edit("k.md", "one line of words", "one line\nof words")
	all := p.all()
	for name, way := range ways {
		p.want(name, p.did(way), "1 unchanged")
	}
	if !maps.Equal(all, p.all()) {
		t.Errorf("%v became %v", all, p.all())
	}
}

// Its end stops a run, and what is left is as it was.
func TestStopped(t *testing.T) {
	p := newPlace(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		p.note(name+".md", name, name)
	}
	ctx, stop := context.WithCancel(t.Context())
	p.once("remember", stop)
	if _, err := folder.Import(ctx, p.store, p.o); err == nil {
		t.Error("it ended well")
	}
	p.store.watched = nil
	r := p.report(folder.Import)
	if r.Created+r.Unchanged != 3 {
		t.Errorf("then: %+v", r)
	}
}
