package notes_test

import (
	"strings"
	"testing"

	"memd"
	"memd/exchange/notes"
	"memd/internal/memtest"
	"memd/tiers"
)

// Notes go into a real store and come out of it as they were; a second time nothing is
// left to do.
func TestThroughTheStore(t *testing.T) {
	service := tiers.New(memtest.Store(t, "", memtest.NewClock(), nil))
	admin := memd.LocalAdmin()
	for _, name := range []string{"Re: plan", "- x", "yes", `"q`, "2026-01-01", "🚀", "two\nlines", "会议纪要", "Q3 Report", "q3-report", "<!-- x -->"} {
		at := notes.Place{Source: "notes/a.md", Project: "project/x"}
		text := render(t, &notes.Note{Name: name, Description: "about " + name, Type: notes.Project, Body: "---\nthe body of " + name, Why: "w " + name, HowToApply: "h"})
		file, err := read(t, text).Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		v := notes.Compare(notes.Sides{File: file})
		written, err := service.RememberLongTerm(t.Context(), admin, file.Request(v.Base))
		if err != nil || !written.Created {
			t.Fatalf("%q: %+v, %v", name, written.Memory, err)
		}
		stored, err := service.Get(t.Context(), admin, written.ID)
		if err != nil {
			t.Fatal(err)
		}
		row := notes.FromMemory(stored, nil)
		if v := notes.Compare(notes.Sides{File: file, Row: row}); v.Outcome != notes.Unchanged || row.Name != name {
			t.Errorf("%q: %+v, %q", name, v, row.Name)
		}
		exported := render(t, row.At(at))
		again, err := read(t, exported).Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		if v := notes.Compare(notes.Sides{File: again, Row: row}); v.Outcome != notes.Unchanged {
			t.Errorf("%q: exported it is %+v", name, v)
		}
		written, err = service.RememberLongTerm(t.Context(), admin, again.Request(stored.Version))
		if err != nil || !written.Unchanged {
			t.Errorf("%q: written again it is %+v, %v", name, written.Memory, err)
		}
		over := render(t, notes.FromMemory(stored, read(t, text)).At(at))
		if got := read(t, over); got.Digest() != read(t, exported).Digest() || !strings.HasPrefix(over, text[:strings.Index(text, "type:")]) {
			t.Errorf("%q: over the person's file it is %q", name, over)
		}
	}
}
