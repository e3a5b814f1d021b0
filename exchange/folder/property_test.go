package folder_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"memd"
	"memd/exchange/folder"
	"memd/exchange/notes"
)

// words of people, and what means something to a reader of YAML, Markdown or files.
var pieces = []string{
	"words ", "Re: plan", "- x", "yes", `"q`, "2026-01-01", "🚀", "\n", "\r\n", "\r", "\n\n", "---\n", "...\n", "**Why:**", "**How to apply**:", `\**Why:**`, "会议纪要", "\t", "  ",
	"<!-- name: \"x\" -->\n", "# heading\n", "```\n", "{a: [b", "é", "e\u0301", "\ufeff", "\u200b", "%20", "#", "| > &", "'", "NULL", "~",
}

func aText(seen string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return seen + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "")
	})
}

func aRequest() *rapid.Generator[memd.RememberLongTerm] {
	return rapid.Custom(func(t *rapid.T) memd.RememberLongTerm {
		n := notes.Note{
			Name: aText("t").Draw(t, "name"), Description: aText("d").Draw(t, "description"), Type: notes.Reference,
			Body: aText("").Draw(t, "body"), Why: aText("w").Draw(t, "why"), HowToApply: aText("h").Draw(t, "how"),
			Kind:       rapid.SampledFrom([]memd.Kind{"", memd.Rule, memd.Preference}).Draw(t, "kind"),
			Importance: rapid.IntRange(0, 10).Draw(t, "importance"),
			Source:     rapid.SampledFrom([]string{"", "AGENTS.md#a", "https://example.org/x"}).Draw(t, "source"),
		}
		if rapid.Bool().Draw(t, "tagged") {
			n.Tags = []string{rapid.SampledFrom([]string{"a", "b c", "x,y", "true", "標籤"}).Draw(t, "tag")}
		}
		r, err := n.Resolve(notes.Place{Source: "docs/a.md", Project: "project/x"})
		if err != nil {
			t.Skip("no note")
		}
		return r.Request(0)
	})
}

// Whatever the store holds goes out, into an empty store, and out again as the same
// bytes. Each check has a namespace and a folder of its own.
func TestStoreRoundTrips(t *testing.T) {
	p, other := newPlace(t, nil), newPlace(t, nil)
	dir, checks := filepath.Dir(p.o.Dir), 0
	other.clock.Advance(time.Hour) // its rows are younger, and the files say so from then on
	rapid.Check(t, func(rt *rapid.T) {
		checks++
		p.o.Namespace = fmt.Sprintf("team/n%d", checks)
		p.o.Dir = filepath.Join(dir, "first", p.o.Namespace)
		other.o = p.o
		other.o.Now = other.clock.Now
		kept := 0
		for _, req := range rapid.SliceOfNDistinct(aRequest(), 1, 4, func(r memd.RememberLongTerm) string { return r.MemoryKey }).Draw(rt, "rows") {
			req.Namespace = p.o.Namespace
			if _, err := p.store.RememberLongTerm(t.Context(), req); err == nil { // what no row can be is refused
				kept++
			}
		}
		if got, want := p.did(folder.Export), count(kept, "created"); got != want {
			rt.Fatalf("the export: %s, want %s", got, want)
		}
		if got, want := other.did(folder.Import), count(kept, "created"); got != want {
			rt.Fatalf("the import: %s, want %s: %v", got, want, p.all())
		}
		first := p.all()
		if got, want := other.did(folder.Import), count(kept, "unchanged"); got != want {
			rt.Fatalf("the second import: %s, want %s", got, want)
		}
		other.o.Dir = filepath.Join(dir, "second", p.o.Namespace)
		if got, want := other.did(folder.Export), count(kept, "created"); got != want {
			rt.Fatalf("the export: %s, want %s", got, want)
		}
		if second := other.all(); !maps.Equal(first, second) {
			rt.Fatalf("%q\nbecame\n%q", first, second)
		}
	})
}

func count(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Whatever a person writes comes in once, goes out without another byte of it, and from
// then on nothing moves.
func TestFilesRoundTrip(t *testing.T) {
	p := newPlace(t, nil)
	dir, checks := p.o.Dir, 0
	rapid.Check(t, func(rt *rapid.T) {
		checks++
		p.o.Namespace = fmt.Sprintf("team/n%d", checks)
		p.o.Dir = filepath.Join(dir, p.o.Namespace)
		body := aText("").Draw(rt, "body")
		text := "---\nname: " + rapid.SampledFrom([]string{"a", `"Re: plan"`, "会议", "'it''s'", "Q3 Report", "yes"}).Draw(rt, "name") + "\n# mine\ndescription: >\n  folded\n  text\ntype: reference\nmine: [1, 2]\n---\n" + body
		if rapid.Bool().Draw(rt, "crlf") {
			text = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\r\n"), "\r\r", "\r")
		}
		if rapid.Bool().Draw(rt, "bom") {
			text = "\ufeff" + text
		}
		p.write("note.md", text)
		if got := p.did(folder.Import); got != "1 created" {
			rt.Fatalf("%q: %s", text, got)
		}
		if p.read("note.md") != text {
			rt.Fatal("an import changed the file")
		}
		if got := p.did(folder.Export); got != "1 unchanged" {
			rt.Fatalf("the export: %s", got)
		}
		stamped := p.read("note.md")
		kept := stamped
		for _, field := range []string{"memory_key", "namespace", "updatedAt", "contentHash", "version", "syncHash"} {
			at := strings.Index(kept, field+": ")
			end := at + strings.IndexAny(kept[at:], "\n") + 1
			kept = kept[:at] + kept[end:]
		}
		if kept != text {
			rt.Fatalf("%q became %q", text, stamped)
		}
		for name, way := range ways {
			if got := p.did(way); got != "1 unchanged" || p.read("note.md") != stamped {
				rt.Fatalf("%s: %s, %q", name, got, p.read("note.md"))
			}
		}
	})
}
