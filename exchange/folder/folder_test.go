package folder_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/exchange/folder"
	"memd/exchange/notes"
)

// Notes go in by the rule of namespaces, once, and the files stay as they were.
func TestImport(t *testing.T) {
	p := newPlace(t, nil)
	p.note("db.md", "db", "the database is db7")
	p.write("sub/style.md", "---\nname: Style\ndescription: short\ntype: feedback\n---\nbody\n\n**Why:** w\n\n**How to apply:** h\n")
	p.write("bad.md", "---\nname: x\ndescription: y\ntype: bogus\n---\n")
	p.write("loose.md", "---\nname: loose\ndescription: y\ntype: project\n---\n")
	before := p.all()
	r := p.report(folder.Import)
	p.want("the first import", words(r), "2 created, 2 refused")
	if e := entry(t, r, "bad.md"); e.Line != 4 || e.Field != "type" {
		t.Errorf("the broken one: %+v", e)
	}
	if e := entry(t, r, "loose.md"); e.Field != "why" || e.Line != 4 || e.Code != memd.CodeMissingField {
		t.Errorf("the one without a reason: %+v", e)
	}
	if m := p.row("project/x", "db"); m.Summary != "the database is db7" || m.Source != "db.md" || m.RawContent != "body of db" {
		t.Errorf("the row is %+v", m)
	}
	if m := p.row("user", notes.KeyOf("Style")); m.Kind != memd.Feedback || m.Why != "w" || m.Source != "sub/style.md" {
		t.Errorf("the row is %+v", m)
	}
	p.want("the second import", p.did(folder.Import), "2 unchanged, 2 refused")
	if !maps.Equal(before, p.all()) {
		t.Errorf("an import changed files: %v", p.all())
	}
}

// A named namespace overrides the rule, and not what a file states.
func TestNamespace(t *testing.T) {
	p := newPlace(t, nil)
	p.note("a.md", "a", "a")
	p.note("b.md", "b", "b", "namespace: agent/me\n")
	p.o.Namespace = "team/y"
	p.want("the import", p.did(folder.Import), "2 created")
	if p.row("team/y", "a").ID == "" || p.row("agent/me", "b").ID == "" {
		t.Error("the rows are elsewhere")
	}
	p.want("the export of one namespace", p.did(folder.Export), "1 unchanged")
	if index := p.read("MEMORY.md"); !strings.Contains(index, "(a.md)") || !strings.Contains(index, "(b.md)") {
		t.Errorf("the index is %q", index)
	}
	if !strings.Contains(p.read("a.md"), "namespace: team/y\n") {
		t.Errorf("the exported file does not carry its namespace: %q", p.read("a.md"))
	}
	p.o.Namespace = ""
	p.want("the import by the rule", p.did(folder.Import), "2 unchanged")
}

// An export writes every memory once, and nothing the second time; a person's file
// keeps its text and its mode.
func TestExport(t *testing.T) {
	p := newPlace(t, nil)
	p.note("mine.md", "mine", "my own", "# a comment\nfoo: bar\n")
	must(t, os.Chmod(p.at("mine.md"), 0o640))
	p.did(folder.Import)
	p.keep("k", "a rule", func(r *memd.RememberLongTerm) { r.Kind = memd.Rule })
	p.keep("k", "of another", func(r *memd.RememberLongTerm) { r.Namespace = "default" })
	p.want("the first export", p.did(folder.Export), "2 created, 1 unchanged")
	all := p.all()
	p.clock.Advance(time.Hour)
	p.want("the second export", p.did(folder.Export), "3 unchanged")
	if !maps.Equal(all, p.all()) || len(all) != 4 {
		t.Errorf("%v became %v", all, p.all())
	}
	if text := all["mine.md"]; !strings.Contains(text, "# a comment\nfoo: bar\n") || !strings.Contains(text, "syncHash: ") {
		t.Errorf("the person's file is %q", text)
	}
	if info, _ := os.Stat(p.at("mine.md")); info.Mode() != 0o640 {
		t.Errorf("its mode is %v", info.Mode())
	}
	if info, _ := os.Stat(p.at("k.md")); info.Mode() != 0o600 {
		t.Errorf("a new file's mode is %v", info.Mode())
	}
	p.want("an import of what was exported", p.did(folder.Import), "3 unchanged")
}

// Each side moves by itself, then both: the file holds, the other text is kept.
func TestThreeWays(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first")
	p.did(folder.Export)
	edit := func(old, now string) { p.write("k.md", strings.Replace(p.read("k.md"), old, now, 1)) }

	edit("first", "by hand")
	r := p.report(folder.Export)
	p.want("an export over an edit", words(r), "1 unchanged")
	if e := entry(t, r, "k.md"); !strings.Contains(e.Reason, "memd import") {
		t.Errorf("it says %+v", e)
	}
	p.want("the import of an edit", p.did(folder.Import), "1 updated")
	p.want("once more", p.did(folder.Import), "1 unchanged")
	if m := p.row("project/x", "k"); m.Summary != "by hand" || m.Version != 2 {
		t.Errorf("the row is %+v", m)
	}
	if text := p.read("k.md"); !strings.Contains(text, "version: 2\n") {
		t.Errorf("the file is %q", text)
	}

	p.clock.Advance(time.Minute)
	p.keep("k", "by an agent")
	r = p.report(folder.Import)
	p.want("an import where the row moved", words(r), "1 unchanged")
	if e := entry(t, r, "k.md"); !strings.Contains(e.Reason, "memd export") {
		t.Errorf("it says %+v", e)
	}
	p.want("the export", p.did(folder.Export), "1 updated")
	p.want("once more", p.did(folder.Export), "1 unchanged")

	p.keep("k", "the agent's")
	edit("by an agent", "the person's")
	for range 2 {
		p.want("an export of both", p.did(folder.Export), "1 conflict")
		if !strings.Contains(p.read("k.memd.md"), "the agent's") || !strings.Contains(p.read("k.md"), "the person's") {
			t.Errorf("the files are %v", p.all())
		}
	}
	p.want("an import of both", p.did(folder.Import), "1 conflict")
	p.want("once more", p.did(folder.Import), "1 unchanged")
	if m := p.row("project/x", "k"); m.Summary != "the person's" || m.Version != 5 {
		t.Errorf("the row is %+v", m)
	}
	p.want("a last export", p.did(folder.Export), "1 unchanged")
}

// A summary that somebody changes in the shell goes into the file, with the hash of what
// it says now.
func TestEditedInTheShell(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("k", "first")
	p.did(folder.Export)
	out, err := exec.Command("sqlite3", filepath.Join(p.store.dir, "agent_memory.db"), "UPDATE long SET summary = 'by shell' WHERE memory_key = 'k'").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := p.read("k.md")
	p.want("the export", p.did(folder.Export), "1 updated")
	hash := regexp.MustCompile(`contentHash: (\S+)`)
	now := p.read("k.md")
	if was, is := hash.FindString(before), hash.FindString(now); is == "" || is == was || !strings.Contains(now, "description: by shell\n") {
		t.Errorf("the file is %q", now)
	}
	p.want("the second export", p.did(folder.Export), "1 unchanged")
	if now != p.read("k.md") {
		t.Errorf("it became %q", p.read("k.md"))
	}
}

// What was forgotten does not come back; its file goes, unless a person has changed it.
func TestForgotten(t *testing.T) {
	p := newPlace(t, nil)
	p.note("hand.md", "hand", "written by hand")
	p.note("edited.md", "edited", "written by hand")
	p.keep("k", "exported")
	p.did(folder.Import)
	p.did(folder.Export)
	fresh := p.all()
	for _, key := range []string{"hand", "edited", "k"} {
		must(t, p.store.ForgetKey(t.Context(), admin, "project/x", key))
	}
	p.write("edited.md", strings.Replace(p.read("edited.md"), "by hand", "anew", 1))
	r := p.report(folder.Import)
	p.want("the import", words(r), "2 unchanged, 1 refused")
	if e := entry(t, r, "hand.md"); !strings.Contains(e.Reason, "forgotten") {
		t.Errorf("it says %+v", e)
	}
	p.want("the export", p.did(folder.Export), "2 updated, 1 refused")
	if !missing(t, p.at("hand.md")) || !missing(t, p.at("k.md")) || missing(t, p.at("edited.md")) {
		t.Errorf("the files are %v", p.all())
	}
	if strings.Contains(p.read("MEMORY.md"), "hand.md") {
		t.Error("the index lists what is gone")
	}
	p.note("hand.md", "hand", "written by hand") // from a copy that memd never saw
	p.want("the import of a copy", p.did(folder.Import), "2 refused")
	if p.row("project/x", "hand").ID != "" {
		t.Error("a forgotten memory came back")
	}

	other := newPlace(t, nil) // where nobody has forgotten anything
	for name, text := range fresh {
		other.write(name, text)
	}
	other.want("the import elsewhere", other.did(folder.Import), "3 created")
}

// A folder that must be there is not made.
func TestExisting(t *testing.T) {
	p := newPlace(t, nil)
	p.keep("a", "a memory")
	p.o.Existing = true
	p.o.Dir += "-gone"
	if r, err := folder.Sync(t.Context(), p.store, p.o); err == nil {
		t.Errorf("it is synced: %+v", r)
	}
	if _, err := os.Stat(p.o.Dir); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}

// What a run that was killed left unfinished is gone after a later one.
func TestUnfinished(t *testing.T) {
	p := newPlace(t, nil)
	p.note("sub/db.md", "db", "the database is db7")
	p.write("sub/.memd-old.tmp", "half of it")
	p.write("sub/.memd-new.tmp", "of one that still runs")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.at("sub/.memd-old.tmp"), old, old); err != nil {
		t.Fatal(err)
	}
	p.want("an import", p.did(folder.Import), "1 created")
	if _, err := os.Stat(p.at("sub/.memd-old.tmp")); err != nil {
		t.Error("an import removes files")
	}
	p.report(folder.Sync)
	for name, want := range map[string]bool{"sub/.memd-old.tmp": false, "sub/.memd-new.tmp": true} {
		if _, err := os.Stat(p.at(name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
}
