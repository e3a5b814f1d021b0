package notes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"memd"
	"memd/exchange/notes"
)

// anyText is text of any runes, and of pieces that mean something to a reader.
func anyText() *rapid.Generator[string] {
	pieces := append([]string{"**Why:**", "**How to apply**:", "\\**Why:**", "\n", "\r\n", "\r", "---\n", "  ", "\t", "```\n", "<!-- name: \"x\" -->\n", "plain words ", "中文"}, hostile...)
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 12, -1)), 0, 6).Draw(t, "parts")
		return strings.ReplaceAll(strings.Join(parts, ""), "\x00", "")
	})
}

func aTitle() *rapid.Generator[string] {
	return rapid.Map(anyText(), func(s string) string {
		if r := []rune(s); len(r) > 390 {
			s = string(r[:390])
		}
		return "t" + s
	})
}

func aTime() *rapid.Generator[memd.Time] {
	return rapid.Map(rapid.Int64Range(0, 4102444800000), func(ms int64) memd.Time {
		if ms%3 == 0 {
			return memd.Time{}
		}
		return memd.At(time.UnixMilli(ms))
	})
}

func aNote() *rapid.Generator[*notes.Note] {
	return rapid.Custom(func(t *rapid.T) *notes.Note {
		n := &notes.Note{
			Name: aTitle().Draw(t, "name"), Description: aTitle().Draw(t, "description"), Type: rapid.SampledFrom([]notes.Type{notes.User, notes.Feedback, notes.Project, notes.Reference}).Draw(t, "type"),
			Body: anyText().Draw(t, "body"), Why: anyText().Draw(t, "why"), HowToApply: anyText().Draw(t, "how"),
			Kind:       rapid.SampledFrom([]memd.Kind{"", memd.Rule, memd.Fact}).Draw(t, "kind"),
			Importance: rapid.IntRange(0, 10).Draw(t, "importance"), Version: rapid.IntRange(0, 99).Draw(t, "version"),
			Source: anyText().Draw(t, "source"), Owner: anyText().Draw(t, "owner"),
			VerifiedAt: aTime().Draw(t, "verified"), UpdatedAt: aTime().Draw(t, "updated"),
		}
		if rapid.Bool().Draw(t, "tagged") {
			n.Tags = rapid.SliceOfN(anyText(), 0, 3).Draw(t, "tags")
		}
		return n
	})
}

// A note comes out as it went in, and byte for byte from then on, also over a file
// that a person wrote in another way.
func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := aNote().Draw(rt, "note")
		once := render(t, n)
		got := read(t, once)
		if got.Digest() != n.Digest() || got.Name != n.Name || got.Description != n.Description || !cmp.Equal(got.Tags, n.Tags) {
			rt.Fatalf("%q is read as %+v", once, got)
		}
		if twice := render(t, got); twice != once {
			rt.Fatalf("%q, then %q", once, twice)
		}
		foreign := once
		if rapid.Bool().Draw(rt, "crlf") {
			foreign = strings.ReplaceAll(strings.ReplaceAll(once, "\r", ""), "\n", "\r\n")
		}
		if rapid.Bool().Draw(rt, "own field") {
			foreign = strings.Replace(foreign, "---", "---\n# mine\nfoo: {a: [1, 2]}\n", 1)
		}
		foreign = "\ufeff" + foreign
		over := read(t, foreign)
		if kept := render(t, over); kept != foreign {
			rt.Fatalf("%q became %q", foreign, kept)
		}
		over.Importance, over.Why, over.Description = 3, "because", "else"
		changed := render(t, over)
		again := read(t, changed)
		if again.Digest() != over.Digest() || render(t, again) != changed || strings.Contains(foreign, "foo:") != strings.Contains(changed, "foo:") {
			rt.Fatalf("%q changed to %q", foreign, changed)
		}
	})
}

// A row comes back from its file as it was, by what its content_hash counts and more.
func TestRowsRoundTrip(t *testing.T) {
	place := notes.Place{Source: "notes/a.md", Project: "project/x"}
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.SampledFrom(memd.AllKinds()).Filter(memd.Kind.Durable).Draw(rt, "kind")
		m := memd.Memory{
			Tier: memd.Long, Namespace: rapid.SampledFrom([]string{"user", "project/x", "default"}).Draw(rt, "namespace"), Kind: k, MemoryKey: rapid.StringMatching(`[A-Za-z0-9._/-]{1,20}`).Draw(rt, "key"),
			Version: 3, Summary: aTitle().Draw(rt, "summary"), RawContent: anyText().Draw(rt, "raw"), Why: "w" + anyText().Draw(rt, "why"), HowToApply: "h" + anyText().Draw(rt, "how"),
			Importance: rapid.IntRange(1, 10).Draw(rt, "importance"), Tags: rapid.SliceOfN(aTitle(), 0, 2).Draw(rt, "tags"),
			Source: rapid.SampledFrom([]string{"notes/a.md", "AGENTS.md#a"}).Draw(rt, "source"), VerifiedAt: memd.At(time.UnixMilli(1e12)), UpdatedAt: aTime().Draw(rt, "updated"), ContentHash: "sha256:00",
		}
		row := notes.FromMemory(m, nil)
		file, err := read(t, render(t, row.At(place))).Resolve(place)
		if err != nil {
			rt.Fatal(err)
		}
		if v := notes.Compare(notes.Sides{File: file, Row: row}); v.Outcome != notes.Unchanged {
			rt.Fatalf("%+v\n%+v\n%+v", v, row, file)
		}
		req := file.Request(3)
		back := notes.FromMemory(memd.Memory{
			Namespace: req.Namespace, Kind: req.Kind, MemoryKey: req.MemoryKey, Summary: req.Summary, RawContent: req.RawContent, Why: req.Why, HowToApply: req.HowToApply,
			Importance: *req.Importance, Tags: req.Tags, Source: req.Source, VerifiedAt: req.VerifiedAt,
		}, nil)
		if back.Digest() != row.Digest() || !memd.ValidKey(req.MemoryKey) {
			rt.Fatalf("%+v came back as %+v", row, back)
		}
	})
}

// The key of a note tells its name, or its row keeps it.
func TestTitlesSurviveTheStore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := aNote().Draw(rt, "note")
		n.Why, n.HowToApply = "w", "h"
		n, err := n.Resolve(notes.Place{Source: "a.md", Namespace: "project/x"})
		if err != nil {
			rt.Fatal(err)
		}
		req := n.Request(0)
		back := notes.FromMemory(memd.Memory{MemoryKey: req.MemoryKey, Namespace: req.Namespace, Kind: req.Kind, RawContent: req.RawContent}, nil)
		body := strings.TrimSpace(n.Body)
		if back.Name != n.Name || !strings.Contains(body, "\r") && strings.TrimSpace(back.Body) != body {
			rt.Fatalf("%q, %q came back as %q, %q", n.Name, n.Body, back.Name, back.Body)
		}
	})
}
