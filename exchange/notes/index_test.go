package notes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"memd"
	"memd/exchange/notes"
)

func index(t testing.TB, old string, entries ...notes.Entry) string {
	t.Helper()
	var b strings.Builder
	if err := notes.RenderIndex(&b, old, entries, func(path string) bool { return path == "theirs.md" }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inBounds fails for an index larger than one may be.
func inBounds(t testing.TB, text string) {
	t.Helper()
	if n := strings.Count(text, "\n"); n > notes.MaxIndexLines || len(text) > notes.MaxIndexBytes || !strings.HasSuffix(text, "\n") {
		t.Fatalf("%d lines, %d bytes", n, len(text))
	}
}

func TestIndex(t *testing.T) {
	got := index(t, "", notes.Entry{Name: "b", Path: "b.md", Description: "second", Importance: 5}, notes.Entry{Name: "A [1]", Path: "in/a (1).md", Description: "two\nlines", Importance: 5}, notes.Entry{Name: "会议", Path: "会议.md", Importance: 9})
	want := "# Memory\n\n- [会议](会议.md)\n- [b](b.md) — second\n- [A \\[1\\]](in/a%20%281%29.md) — two lines\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	entries, err := notes.ReadIndex(strings.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]notes.Entry{{Name: "会议", Path: "会议.md"}, {Name: "b", Path: "b.md", Description: "second"}, {Name: "A [1]", Path: "in/a (1).md", Description: "two lines"}}, entries); diff != "" {
		t.Error(diff)
	}
	if got := index(t, ""); got != "# Memory\n" {
		t.Errorf("%q", got)
	}
}

// The forms of seeds 002 and 003.
func TestForeignIndex(t *testing.T) {
	const text = "\ufeff# Memory Index\r\n\r\n- **[user_nanki](user_user_nanki.md)** (user) — 用户名字是 nanki\r\n- [会议纪要 24h 内发出](feedback_meeting.md) — 三段式格式\r\n* [x](x.md): y\r\nMind the [guide](guide.md).\r\n- [site](https://example.com/a.md) — b\r\n"
	entries, err := notes.ReadIndex(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []notes.Entry{{Name: "user_nanki", Path: "user_user_nanki.md", Description: "用户名字是 nanki"}, {Name: "会议纪要 24h 内发出", Path: "feedback_meeting.md", Description: "三段式格式"}, {Name: "x", Path: "x.md", Description: "y"}}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Error(diff)
	}
	got := index(t, text, entries[0])
	if want := "# Memory Index\n\nMind the [guide](guide.md).\n- [site](https://example.com/a.md) — b\n\n- [user_nanki](user_user_nanki.md) — 用户名字是 nanki\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A line that leads to what is no memory's file is a person's, however it is written.
func TestIndexOfAPerson(t *testing.T) {
	const text = "# Memory\n\n- [a](a.md) — old\n- [the rules](theirs.md) — read them\n- [gone](gone.md)\n"
	got := index(t, text, notes.Entry{Name: "a", Path: "a.md", Description: "new"})
	if want := "# Memory\n\n- [the rules](theirs.md) — read them\n\n- [a](a.md) — new\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFullIndex(t *testing.T) {
	many := func(n int, hook string) (entries []notes.Entry) {
		for i := range n {
			entries = append(entries, notes.Entry{Name: fmt.Sprintf("n%03d", i), Path: fmt.Sprintf("n%03d.md", i), Description: hook, Importance: 1 + i%10, UpdatedAt: memd.At(time.UnixMilli(int64(i) * 1000))})
		}
		return entries
	}
	text := index(t, "", many(198, "")...)
	inBounds(t, text)
	if strings.Contains(text, "Not listed") || strings.Count(text, "\n") != 200 {
		t.Errorf("198 entries of 200 lines do not fit: %s", text)
	}
	for name, entries := range map[string][]notes.Entry{"lines": many(500, "short"), "bytes": many(150, strings.Repeat("部", 400)), "one too many": many(199, "")} {
		text := index(t, "", entries...)
		inBounds(t, text)
		if again := index(t, text, entries...); again != text {
			t.Errorf("%s: %q, then %q", name, text, again)
		}
		rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		listed, err := notes.ReadIndex(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if end := rows[len(rows)-1]; !strings.HasPrefix(end, fmt.Sprintf("> Not listed: %d more notes", len(entries)-len(listed))) || !strings.Contains(end, "merge") {
			t.Errorf("%s: the last line is %q", name, end)
		}
		least, shown := 11, map[string]bool{}
		for _, e := range listed {
			shown[e.Path] = true
		}
		for _, e := range entries {
			if shown[e.Path] {
				least = min(least, e.Importance)
			}
		}
		for _, e := range entries {
			if !shown[e.Path] && e.Importance > least {
				t.Errorf("%s: %s of importance %d is left out, one of %d is listed", name, e.Path, e.Importance, least)
			}
		}
	}
	var b strings.Builder
	if err := notes.RenderIndex(&b, strings.Repeat("mine\n", 199), many(3, ""), nil); memd.CodeOf(err) != memd.CodeTooLarge || b.Len() > 0 {
		t.Errorf("%v, %q", err, b.String())
	}
}

func TestIndexRoundTrips(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		entries := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) notes.Entry {
			file := rapid.OneOf(rapid.SampledFrom([]string{"a", "in/b c", "(x)", "50%", "é#1", "会议", "a?b", "[c]"}), rapid.StringMatching(`[a-z]{1,3}`)).Draw(t, "file")
			return notes.Entry{Name: aTitle().Draw(t, "name"), Path: file + ".md", Description: anyText().Draw(t, "description"), Importance: rapid.IntRange(1, 10).Draw(t, "importance")}
		}), 0, 8, func(e notes.Entry) string { return e.Path }).Draw(rt, "entries")
		text := index(t, "", entries...)
		inBounds(t, text)
		back, err := notes.ReadIndex(strings.NewReader(text))
		if err != nil || len(back) != len(entries) {
			rt.Fatalf("%q: %+v, %v", text, back, err)
		}
		byPath := cmpopts.SortSlices(func(a, b notes.Entry) bool { return a.Path < b.Path })
		if diff := cmp.Diff(entries, back, byPath, cmpopts.IgnoreFields(notes.Entry{}, "Name", "Description", "Importance", "UpdatedAt")); diff != "" {
			rt.Fatal(diff)
		}
		for i := range back { // what was cut is cut the same again
			back[i].Importance = 5
			for _, e := range entries {
				if e.Path == back[i].Path {
					back[i].Importance = e.Importance
				}
			}
		}
		if again := index(t, "", back...); again != text {
			rt.Fatalf("%q, then %q", text, again)
		}
	})
}
