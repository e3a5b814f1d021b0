package notes_test

import (
	"errors"
	"testing"
	"time"

	"memd"
	"memd/exchange/notes"
)

var place = notes.Place{Source: "notes/a.md", Project: "project/x"}

const noon = 1_700_000_000_000

// row is a stored memory at a version, which says text.
func row(version int, says string) *notes.Note {
	return notes.FromMemory(memd.Memory{
		Tier: memd.Long, Namespace: "user", Kind: memd.User, MemoryKey: "a", Version: version, Summary: says, Importance: 5, Source: "notes/a.md",
		VerifiedAt: memd.At(time.UnixMilli(noon)), UpdatedAt: memd.At(time.UnixMilli(noon + int64(version))), ContentHash: "sha256:00",
	}, nil)
}

// file is what a row's file says after an edit.
func file(t *testing.T, from *notes.Note, edit func(*notes.Note)) *notes.Note {
	t.Helper()
	n := read(t, render(t, from.At(place)))
	if edit != nil {
		edit(n)
		n = read(t, render(t, n))
	}
	n, err := n.Resolve(place)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCompare(t *testing.T) {
	old, newer := row(1, "old"), row(2, "new")
	says := func(s string) func(*notes.Note) { return func(n *notes.Note) { n.Description = s } }
	louder := func(n *notes.Note) { n.Importance = 9 }
	bare := func(n *notes.Note) {
		*n = notes.Note{Name: "a", Description: n.Description, Type: n.Type}
	}
	sparse := func(edit func(*notes.Note)) *notes.Note { // what a person wrote, and memd stamped
		n := file(t, old, bare)
		return file(t, n.Stamped(old, n.Digest()), edit)
	}
	verified := row(2, "new")
	verified.VerifiedAt, verified.Importance, verified.Tags = newer.UpdatedAt, 7, []string{"t"}
	last := old.Digest()
	broken := &notes.Fault{File: "a.md", Line: 3, Code: memd.CodeInvalidRequest, Reason: "broken"}
	for name, c := range map[string]struct {
		sides notes.Sides
		want  notes.Outcome
		do    notes.Action
		base  int
	}{
		"neither":                    {notes.Sides{Last: last}, notes.Unchanged, notes.Nothing, 0},
		"a new row":                  {notes.Sides{Row: old}, notes.Created, notes.WriteFile, 1},
		"a removed file":             {notes.Sides{Last: last, Row: old}, notes.Created, notes.WriteFile, 1},
		"a new file":                 {notes.Sides{File: file(t, old, bare)}, notes.Created, notes.WriteRow, 0},
		"a file of another store":    {notes.Sides{File: file(t, old, nil)}, notes.Created, notes.WriteRow, 0},
		"broken":                     {notes.Sides{Last: last, Row: old, Fault: broken}, notes.Refused, notes.Nothing, 0},
		"forgotten":                  {notes.Sides{Last: last, File: file(t, old, nil)}, notes.Updated, notes.RemoveFile, 0},
		"forgotten, the record lost": {notes.Sides{Gone: true, File: file(t, old, nil)}, notes.Updated, notes.RemoveFile, 0},
		"forgotten, edited":          {notes.Sides{Last: last, File: file(t, old, louder)}, notes.Refused, notes.Nothing, 0},
		"forgotten, a person's file": {notes.Sides{Gone: true, File: file(t, old, bare)}, notes.Refused, notes.Nothing, 0},
		"as it was":                  {notes.Sides{Last: last, File: file(t, old, nil), Row: old}, notes.Unchanged, notes.WriteFile, 1},
		"the record lost":            {notes.Sides{File: file(t, old, nil), Row: old}, notes.Unchanged, notes.WriteFile, 1},
		"less is stated":             {notes.Sides{File: file(t, old, bare), Row: old}, notes.Unchanged, notes.WriteFile, 1},
		"both the same edit":         {notes.Sides{Last: last, File: file(t, newer, nil), Row: newer}, notes.Unchanged, notes.WriteFile, 2},
		"the file edited":            {notes.Sides{Last: last, File: file(t, old, says("mine")), Row: old}, notes.Updated, notes.WriteRow, 1},
		"its metadata":               {notes.Sides{Last: last, File: file(t, old, louder), Row: old}, notes.Updated, notes.WriteRow, 1},
		"by the file's own record":   {notes.Sides{File: file(t, old, louder), Row: old}, notes.Updated, notes.WriteRow, 1},
		"the row written":            {notes.Sides{Last: last, File: file(t, old, nil), Row: newer}, notes.Updated, notes.WriteFile, 2},
		"the row, by its record":     {notes.Sides{File: file(t, old, nil), Row: newer}, notes.Updated, notes.WriteFile, 2},
		"a later file of another":    {notes.Sides{File: file(t, newer, nil), Row: old}, notes.Updated, notes.WriteRow, 1},
		"little is stated":           {notes.Sides{File: sparse(nil), Row: old}, notes.Unchanged, notes.WriteFile, 1},
		"little, the row written":    {notes.Sides{File: sparse(nil), Row: verified}, notes.Updated, notes.WriteFile, 2},
		"little, more of it":         {notes.Sides{File: sparse(louder), Row: old}, notes.Updated, notes.WriteRow, 1},
		"little, edited":             {notes.Sides{File: sparse(says("mine")), Row: old}, notes.Updated, notes.WriteRow, 1},
		"little, both edited":        {notes.Sides{File: sparse(says("mine")), Row: verified}, notes.Conflict, notes.KeepBoth, 2},
		"little, forgotten":          {notes.Sides{Gone: true, File: sparse(nil)}, notes.Updated, notes.RemoveFile, 0},
		"little, edited, forgotten":  {notes.Sides{Gone: true, File: sparse(louder)}, notes.Refused, notes.Nothing, 0},
		"both edited":                {notes.Sides{Last: last, File: file(t, old, says("mine")), Row: newer}, notes.Conflict, notes.KeepBoth, 2},
		"both, by the record":        {notes.Sides{File: file(t, old, louder), Row: newer}, notes.Conflict, notes.KeepBoth, 2},
		"imported again, edited":     {notes.Sides{File: file(t, old, func(n *notes.Note) { bare(n); n.Description = "mine" }), Row: old}, notes.Updated, notes.WriteRow, 1},
		"a row from elsewhere":       {notes.Sides{File: file(t, old, func(n *notes.Note) { bare(n); n.Source = "AGENTS.md" }), Row: old}, notes.Conflict, notes.KeepBoth, 1},
	} {
		got := notes.Compare(c.sides)
		if got.Outcome != c.want || got.Do != c.do || got.Base != c.base {
			t.Errorf("%s: %+v, want %s, %s, %d", name, got, c.want, c.do, c.base)
		}
		if (got.Outcome == notes.Refused || got.Outcome == notes.Conflict) && got.Reason == "" {
			t.Errorf("%s: no reason", name)
		}
	}
}

// After what a comparison asks for was done, there is nothing left to do.
func TestCompareSettles(t *testing.T) {
	base := row(1, "old")
	for _, v := range []int{1, 2} {
		for _, mine := range []string{"old", "mine"} {
			held, now := file(t, base, func(n *notes.Note) { n.Description = mine }), row(v, map[int]string{1: "old", 2: "new"}[v])
			switch got := notes.Compare(notes.Sides{Last: base.Digest(), File: held, Row: now}); got.Do {
			case notes.WriteRow, notes.KeepBoth:
				now = row(v+1, held.Description)
			case notes.WriteFile:
			default:
				t.Fatalf("%+v", got)
			}
			after := read(t, render(t, now.At(place)))
			after, err := after.Resolve(place)
			if err != nil {
				t.Fatal(err)
			}
			if got := notes.Compare(notes.Sides{Last: now.Digest(), File: after, Row: now}); got.Outcome != notes.Unchanged {
				t.Errorf("version %d, %s: %+v", v, mine, got)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		note  notes.Note
		place notes.Place
		want  string // the namespace, or the field at fault
		ok    bool
	}{
		{notes.Note{Type: notes.User}, place, "user", true},
		{notes.Note{Type: notes.Reference}, place, "project/x", true},
		{notes.Note{Type: notes.Feedback, Why: "w", HowToApply: "h"}, place, "user", true},
		{notes.Note{Type: notes.Project, Why: "w", HowToApply: "h"}, place, "project/x", true},
		{notes.Note{Type: notes.User}, notes.Place{Namespace: "team/y"}, "team/y", true},
		{notes.Note{Type: notes.User, Namespace: "agent/z"}, notes.Place{Namespace: "team/y"}, "agent/z", true},
		{notes.Note{Type: notes.Reference}, notes.Place{}, "namespace", false},
		{notes.Note{Type: notes.Feedback, HowToApply: "h"}, place, "why", false},
		{notes.Note{Type: notes.Project, Why: "w", HowToApply: "\u200b"}, place, "how_to_apply", false},
		{notes.Note{Type: notes.Project, Kind: memd.Decision, Why: "w"}, place, "how_to_apply", false},
		{notes.Note{Type: notes.Reference, Kind: memd.Rule}, place, "project/x", true},
	} {
		c.note.Name, c.note.Description = "Q3 Report", "d"
		got, err := c.note.Resolve(c.place)
		if fault, _ := errors.AsType[*notes.Fault](err); c.ok != (err == nil) || err != nil && (fault.Field != c.want || fault.Code != memd.CodeMissingField) || err == nil && got.Namespace != c.want {
			t.Errorf("%+v: %+v, %v", c.note, got, err)
		}
	}
}

func TestFromMemoryKeepsAFile(t *testing.T) {
	m := memd.Memory{Namespace: "project/x", Kind: memd.Decision, MemoryKey: "a", Summary: "s", Why: "w", HowToApply: "h", Importance: 5, Source: "notes/a.md", Tags: []string{}}
	over := read(t, "---\nmine: 1\nname: a\ndescription: 's'\ntype: project\nkind: decision\n---\n**Why:** w\n**How to apply:** h\n")
	got := render(t, notes.FromMemory(m, over).At(place))
	want := "---\nmine: 1\nname: a\ndescription: 's'\ntype: project\nkind: decision\nmemory_key: a\nnamespace: project/x\nimportance: 5\nsyncHash: " + notes.FromMemory(m, nil).SyncHash + "\n---\n**Why:** w\n**How to apply:** h\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	m.Kind, m.Why = memd.Rule, ""
	if n := notes.FromMemory(m, over); n.Type != notes.Reference || n.Kind != memd.Rule {
		t.Errorf("%+v", n)
	}
	if n := notes.FromMemory(memd.Memory{Kind: memd.Preference}, nil); n.Type != notes.User || n.Kind != memd.Preference {
		t.Errorf("%+v", n)
	}
}

func TestPatch(t *testing.T) {
	at := memd.At(time.UnixMilli(noon))
	m := memd.Memory{Tags: []string{"a"}, Access: []string{"b"}}
	if p, any := (&notes.Note{}).Patch(m); any {
		t.Errorf("%+v", p)
	}
	p, any := (&notes.Note{Tags: []string{}, Access: []string{}, ExpiresAt: at, ResolvedAt: at}).Patch(m)
	if !any || !p.Tags.Set || len(p.Tags.Value) > 0 || !p.Access.Set || p.ExpiresAt.Value != at || p.ResolvedAt.Value != at {
		t.Errorf("%+v", p)
	}
	if _, any := (&notes.Note{Tags: []string{"a"}, ExpiresAt: at}).Patch(memd.Memory{ExpiresAt: at}); any {
		t.Error("what the row has is asked for")
	}
}
