package importers_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"memd"
	"memd/exchange/importers"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", importers.MaxEntry+1)
	lines := importers.NewLines(strings.NewReader("\ufeffa\r\n\n" + long + "\n" + long[1:] + "\nlast"))
	for i, want := range []struct {
		text string
		err  error
	}{{"a", nil}, {"", nil}, {"", importers.ErrLong}, {"", importers.ErrLong}, {"last", nil}} {
		text, n, err := lines.Next()
		if string(text) != want.text || n != i+1 || err != want.err {
			t.Fatalf("line %d is %.20q at %d, %v", i+1, text, n, err)
		}
	}
	if _, _, err := lines.Next(); err != io.EOF {
		t.Fatalf("at the end: %v", err)
	}
}

func TestElements(t *testing.T) {
	text := "\ufeff{\n\"version\": \"1\",\n\"deep\": {\"a\": [[1], {\"b\": null}]},\n\"list\": [\n  {\"a\":\n 1},\n  2],\n\"left\": [3], \"n\": 4}"
	var got []string
	for e, err := range importers.Elements(strings.NewReader(text), "list") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name+" "+strings.Join(strings.Fields(string(e.Raw)), "")+" "+string(rune('0'+e.Line)))
	}
	if want := "version \"1\" 2|list {\"a\":1} 5|list 2 7|n 4 8"; strings.Join(got, "|") != want {
		t.Fatalf("got %s", strings.Join(got, "|"))
	}
}

// What is too deep, too long or cut short ends the reading with an error, in bounded
// memory.
func TestElementsOfHostileDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"a number":    "1",
		"nothing":     "",
		"two":         `{"list": []} {}`,
		"more":        `[1]]`,
		"cut":         `{"list": [{"a": 1}`,
		"deep":        `{"x": ` + strings.Repeat("[", 1_000_000),
		"deep list":   `[` + strings.Repeat("[", 1_000_000),
		"long string": `{"x": "` + strings.Repeat("x", importers.MaxEntry+100_000) + `"}`,
	} {
		var last error
		for _, err := range importers.Elements(strings.NewReader(text), "list") {
			last = err
		}
		if last == nil {
			t.Errorf("%s: read without an error", name)
		}
		if strings.HasPrefix(name, "long") && !errors.Is(last, importers.ErrLong) {
			t.Errorf("%s: %v", name, last)
		}
	}
}

func FuzzElements(f *testing.F) {
	f.Add([]byte(`{"a": 1, "list": [{"b": [2]}, "x"], "c": {"d": []}}`))
	f.Add([]byte("[1,\n2]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for e, err := range importers.Elements(bytes.NewReader(data), "list") {
			if lines := bytes.Count(data, []byte("\n")) + 1; e.Line < 1 || e.Line > lines || err == nil && len(e.Raw) == 0 {
				t.Fatalf("line %d of %d, %q, %v", e.Line, lines, e.Raw, err)
			}
		}
	})
}

func TestTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01T10:00:00Z":      "2026-03-01T10:00:00.000Z",
		"2026-03-01T12:00:00+02:00": "2026-03-01T10:00:00.000Z",
		"2026-03-01 10:00:00":       "2026-03-01T10:00:00.000Z",
		"2026-03-01T10:00:00.5":     "2026-03-01T10:00:00.500Z",
		" 2026-03-01 ":              "2026-03-01T00:00:00.000Z",
		"1772359200":                "2026-03-01T10:00:00.000Z",
		"1772359200.25":             "2026-03-01T10:00:00.250Z",
		"1772359200000":             "2026-03-01T10:00:00.000Z",
		"1772359200000000":          "2026-03-01T10:00:00.000Z",
		"2026":                      "",
		"NaN":                       "",
		"-1":                        "",
		"1e300":                     "",
		"yesterday":                 "",
		"0001-01-01T00:00:00Z":      "",
		"":                          "",
	} {
		if got := importers.Time(text).String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestID(t *testing.T) {
	at := memd.At(time.UnixMilli(1772359200123))
	id := importers.ID(at, "a", "b")
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 || parsed.Variant() != uuid.RFC4122 {
		t.Fatalf("%s: %v", id, err)
	}
	if sec, nsec := parsed.Time().UnixTime(); time.Unix(sec, nsec).UnixMilli() != at.UnixMilli() {
		t.Errorf("%s is of %v", id, time.Unix(sec, nsec))
	}
	if id != importers.ID(at, "a", "b") || id == importers.ID(at, "ab", "") || id == importers.ID(memd.Time{}, "a", "b") {
		t.Error("the id does not follow from time and parts")
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("a b\n\nc", 5)
	f.Add(strings.Repeat("k", 199), 10)
	f.Add("\xff\x00é\u2028字", 3)
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = 2 + max&0xfff
		if line := importers.Line(s, max); utf8.RuneCountInString(line) > max || !utf8.ValidString(line) || strings.ContainsAny(line, "\n\r\x00") {
			t.Fatalf("%q is %q", s, line)
		}
		if cut := importers.Cut(s, max+100); len(cut) > max+100 || utf8.ValidString(s) && !utf8.ValidString(cut) {
			t.Fatalf("%q is cut to %q", s, cut)
		}
		if key := importers.Key("a", s); !memd.ValidKey(key) {
			t.Fatalf("%q has the key %q", s, key)
		}
		if ns := importers.Namespace("project/", s); ns != "" && !memd.ValidNamespace(ns) {
			t.Fatalf("%q is the namespace %q", s, ns)
		}
		importers.Time(s)
	})
}

func TestSourceOf(t *testing.T) {
	for _, c := range []struct{ file, root, home, want string }{
		{"/home/a/src/app/notes/x.md", "/home/a/src/app", "/home/a", "notes/x.md"},
		{"/home/a/.claude/x y.md", "/home/a/src/app", "/home/a", ".claude/x%20y.md"},
		{"/srv/memory.json", "", "/home/a", "srv/memory.json"},
		{"/home/a/memory.jsonl", "", "/home/a", "./memory.jsonl"},
	} {
		if got := importers.SourceOf(c.file, c.root, c.home); got != c.want {
			t.Errorf("%s is %q, want %q", c.file, got, c.want)
		}
	}
}
