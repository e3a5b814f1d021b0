package folder_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/exchange/folder"
	"memd/exchange/notes"
)

// Titles that are hard on YAML, on file systems and on people go out and come in again.
func TestHostileTitles(t *testing.T) {
	p := newPlace(t, nil)
	titles := []string{
		"Re: plan", "- x", "yes", `"q`, "2026-01-01", "🚀", "two\nlines", "会议纪要", "Q3 Report", "q3-report", "q3 report", "<!-- x -->", "..", ".", "~", "CON", "con",
		"memory", "MEMORY", "a/b", `a\b`, "../../etc/passwd", "%2e%2e", "x.md", ".hidden", "null", "#", "é", "e\u0301", "ﬁ", strings.Repeat("長", 300), "trailing ", "\u202egpj",
	}
	for _, title := range titles {
		n := &notes.Note{Name: title, Description: "about it", Type: notes.Reference, Body: "the body"}
		resolved, err := n.Resolve(notes.Place{Source: "AGENTS.md", Namespace: "project/x"})
		must(t, err)
		must(t, second(p.store.RememberLongTerm(t.Context(), resolved.Request(0))))
	}
	p.want("the export", p.did(folder.Export), fmt.Sprintf("%d created", len(titles)))
	all := p.all()
	p.want("the second export", p.did(folder.Export), fmt.Sprintf("%d unchanged", len(titles)))
	p.want("the import", p.did(folder.Import), fmt.Sprintf("%d unchanged", len(titles)))
	if !maps.Equal(all, p.all()) || len(all) != len(titles)+1 {
		t.Errorf("%d files became %d", len(all), len(p.all()))
	}
	folded := map[string]string{}
	for name := range all {
		if other := folded[strings.ToLower(name)]; other != "" {
			t.Errorf("%q and %q are one file on some systems", name, other)
		}
		folded[strings.ToLower(name)] = name
	}
}

// What is in a folder of notes beside notes is left alone.
func TestOtherFiles(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	for _, name := range []string{".git/HEAD.md", ".a.md.swp", ".#a.md", "#a.md#", "a.md~", "a.txt", "README", "4913", ".memd-X.tmp", "a.memd.md", "sub/.x.md", "a.md.bak"} {
		p.write(name, "no note")
	}
	p.write("MEMORY.md", "# Mine\n\n- [a](a.md) — old\n\nMy own words.\n")
	before := p.all()
	p.want("the import", p.did(folder.Import), "1 created")
	p.want("the export", p.did(folder.Export), "1 unchanged")
	after := p.all()
	if index := after["MEMORY.md"]; !strings.Contains(index, "# Mine") || !strings.Contains(index, "My own words.") || !strings.Contains(index, "- [a](a.md) — a\n") {
		t.Errorf("the index is %q", index)
	}
	for _, name := range []string{"a.md", "MEMORY.md"} {
		delete(before, name)
		delete(after, name)
	}
	if !maps.Equal(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}

// An index that a person has filled is reported, and left as it is.
func TestFullIndex(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	p.write("MEMORY.md", strings.Repeat("a line\n", 300))
	before := p.read("MEMORY.md")
	r := p.report(folder.Sync)
	p.want("the run", words(r), "1 created")
	if r.Index == nil || r.Index.Outcome != notes.Refused || p.read("MEMORY.md") != before || memd.CodeOf(r.Failed()).Statuses().Exit != memd.ExitFailed {
		t.Errorf("it says %+v, %v", r.Index, r.Failed())
	}
}

// A folder of 10,000 files, most of them no notes, comes in and goes out; the index
// keeps to its bounds.
func TestManyFiles(t *testing.T) {
	const files, real = 10_000, 400
	p := newPlace(t, nil)
	for i := range files {
		if i < real {
			p.note(fmt.Sprintf("d%d/n%d.md", i%50, i), fmt.Sprintf("n%d", i), fmt.Sprintf("number %d", i))
		} else {
			p.write(fmt.Sprintf("d%d/n%d.md", i%50, i), "no note")
		}
	}
	p.want("the import", p.did(folder.Import), fmt.Sprintf("%d created, %d refused", real, files-real))
	p.want("the export", p.did(folder.Export), fmt.Sprintf("%d unchanged, %d refused", real, files-real))
	index := p.read("MEMORY.md")
	if len(index) > notes.MaxIndexBytes || strings.Count(index, "\n") > notes.MaxIndexLines || !strings.Contains(index, "> Not listed: ") {
		t.Errorf("the index has %d bytes, %d lines", len(index), strings.Count(index, "\n"))
	}
}

// A large file is named, and not read; the others go on.
func TestLargeFile(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	p.write("large.md", "---\nname: large\n")
	must(t, os.Truncate(p.at("large.md"), 50<<20))
	r := p.report(folder.Sync)
	p.want("the run", words(r), "1 created, 1 refused")
	if e := entry(t, r, "large.md"); !strings.Contains(e.Reason, "larger") {
		t.Errorf("it says %+v", e)
	}
}

// A folder that is not there, and one that is a file, are errors of the whole run.
func TestNoFolder(t *testing.T) {
	p := newPlace(t, nil)
	p.write("file", "x")
	for _, name := range []string{"none", "file"} {
		o := p.o
		o.Dir = p.at(name)
		if _, err := folder.Import(t.Context(), p.store, o); memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := p.o
	o.Dir = p.at("file")
	if _, err := folder.Export(t.Context(), p.store, o); err == nil {
		t.Error("a file is a folder")
	}
	o.Dir = p.at("new/folder")
	if _, err := folder.Export(t.Context(), p.store, o); err != nil || missing(t, o.Dir) {
		t.Errorf("a new folder: %v", err)
	}
}

// A folder that goes away while it is written loses nothing that is in the store.
func TestFolderVanishes(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "k")
	p.note("sub/a.md", "a", "a")
	aside := p.o.Dir + ".aside"
	p.once("list", func() { must(t, os.Rename(p.o.Dir, aside)) })
	if r := p.report(folder.Export); r.Refused+r.Created+r.Unchanged == 0 {
		t.Errorf("it says %+v", r)
	}
	p.store.watched = nil
	if err := os.Rename(aside, p.o.Dir); err != nil {
		t.Fatal(err)
	}
	p.want("the next run", strings.Replace(p.did(folder.Sync), "1 created, 1 unchanged", "2 created", 1), "2 created")

	p.once("list", func() { must(t, os.RemoveAll(p.o.Dir)) })
	p.edit("sub/a.md", "description: a", "description: b")
	r := p.report(folder.Sync)
	if _, err := json.Marshal(r); err != nil || p.row("project/x", "a").ID == "" || p.row("project/x", "k").ID == "" {
		t.Errorf("the rows are gone: %+v", r)
	}
}

// A folder below a folder, and so on, ends somewhere.
func TestDeep(t *testing.T) {
	p := newPlace(t, nil)
	p.note(strings.Repeat("d/", 32)+"a.md", "a", "a")
	p.note(strings.Repeat("d/", 34)+"b.md", "b", "b")
	r := p.report(folder.Import)
	p.want("the import", words(r), "1 created, 1 refused")
	if e := entry(t, r, filepath.ToSlash(filepath.Clean(strings.Repeat("d/", 33)))); !strings.Contains(e.Reason, "deeper") {
		t.Errorf("it says %+v", e)
	}
}
