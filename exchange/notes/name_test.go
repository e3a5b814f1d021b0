package notes_test

import (
	"path"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"memd"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// titled is a note of a title, as an import makes it.
func titled(t testing.TB, name, namespace string) *notes.Note {
	t.Helper()
	n, err := (&notes.Note{Name: name, Description: "d", Type: notes.User, Namespace: namespace}).Resolve(notes.Place{Source: "a.md"})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// folded is what a file system without case and of one Unicode form takes a name for.
func folded(name string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKD.String(name))) }

var confusable = append([]string{
	"Q3 Report", "q3-report", "q3 report", "Q3-Report", "q3_report", "q3--report", "q3-report-", "🚀", "🚀🚀", "❤", "❤️", "会议纪要", "会议 纪要", "日本語", "ﬁle", "file", "FILE", "straße", "strasse", "STRASSE", "ı", "i", "İ", "é", "e\u0301", "E\u0301",
	"CON", "con", "aux", "nul.md", "com1", "COM¹", "lpt9.txt", "memory", "MEMORY", "Memory.md", "AGENTS", "agents", "readme", "skill", ".", "..", "...", "/", "a/b", `a\b`, "a:b", "a*b?", "a.md", ".hidden", "-rf", "~", "$HOME", "\u0301", "a\u200bb", "ab",
	strings.Repeat("a", 80), strings.Repeat("a", 81), strings.Repeat("a", 82), strings.Repeat("部", 26), strings.Repeat("部", 27), strings.Repeat("部", 390), "note", "q3-report-0123456789abcdef",
}, hostile...)

func TestPathsNeverCollide(t *testing.T) {
	seen, keys := map[string]string{}, map[string]string{}
	for _, name := range confusable {
		if strings.TrimSpace(name) == "" || len([]rune(name)) > 400 {
			continue
		}
		n := titled(t, name, "user")
		file := notes.Path("user", n)
		if err := confine.CheckPortable(file); err != nil || !notes.IsNote(file) || strings.Contains(file, "/") || len(file) > 120 {
			t.Errorf("%q: %q: %v", name, file, err)
		}
		if other, ok := seen[folded(file)]; ok && other != name {
			t.Errorf("%q and %q are both %q", name, other, file)
		}
		if other, ok := keys[n.MemoryKey]; ok && other != name || !memd.ValidKey(n.MemoryKey) {
			t.Errorf("%q and %q have the key %q", name, other, n.MemoryKey)
		}
		seen[folded(file)], keys[n.MemoryKey] = name, name
	}
	for name, want := range map[string]string{
		"q3-report": "q3-report.md", "会议纪要": "会议纪要.md", "user_profile": "user_profile.md", "日本語": "日本語.md",
		"Q3 Report": "q3-report-03600cdd4d9b35f6.md", "🚀": "note-ebbc0b2870eb323f.md", "CON": "con-a3dbc4b644a9a2c5.md", "会议 纪要": "会议-纪要-abb2ca452fae027f.md",
	} {
		if got := notes.Path("user", titled(t, name, "user")); got != want { // a file once written is found again
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestPathOfNamespaces(t *testing.T) {
	seen := map[string]string{}
	for _, namespace := range []string{"user", "default", "project/memd", "project/con", "project/x.md", "project/.git", "project/a-", "project/" + strings.Repeat("a", 110), "agent/bob", "agent", "nul", "memory", "a.", "team/a./b"} {
		if !memd.ValidNamespace(namespace) {
			t.Fatal(namespace)
		}
		file := notes.Path("default", titled(t, "a", namespace))
		if err := confine.CheckPortable(file); err != nil || path.Ext(file) != ".md" {
			t.Errorf("%s: %q: %v", namespace, file, err)
		}
		if other := seen[file]; other != "" {
			t.Errorf("%s and %s are both %q", namespace, other, file)
		}
		seen[file] = namespace
		for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
			if notes.IsNote(folder) || strings.HasPrefix(path.Base(folder), ".") {
				t.Errorf("%s: the folder %q", namespace, folder)
			}
		}
	}
	if seen["a.md"] != "default" || seen["project/memd/a.md"] != "project/memd" {
		t.Errorf("%q", seen)
	}
}

// Two rows of one namespace never share a file, whatever titles they keep.
func TestPathsOfRowsNeverCollide(t *testing.T) {
	aName := rapid.OneOf(rapid.SampledFrom(confusable), aTitle(), rapid.StringMatching(`[ab]{1,2}`)).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	rapid.Check(t, func(rt *rapid.T) {
		var rows [2]*notes.Note
		names := rapid.SliceOfN(aName, 1, 3).Draw(rt, "names")
		for i := range rows {
			key := rapid.OneOf(rapid.Map(rapid.SampledFrom(names), notes.KeyOf), rapid.Map(rapid.SampledFrom(names), func(s string) string { return notes.KeyOf(notes.KeyOf(s)) })).Draw(rt, "key")
			rows[i] = &notes.Note{Name: rapid.OneOf(rapid.SampledFrom(names), rapid.Just(key)).Draw(rt, "name"), MemoryKey: key, Namespace: "user"}
		}
		a, b := notes.Path("user", rows[0]), notes.Path("user", rows[1])
		if confine.CheckPortable(a) != nil || !notes.IsNote(a) {
			rt.Fatalf("%q", a)
		}
		if rows[0].MemoryKey != rows[1].MemoryKey && folded(a) == folded(b) {
			rt.Fatalf("%+v and %+v are both %q", rows[0], rows[1], a)
		}
	})
}

func TestOtherFiles(t *testing.T) {
	copyOf := notes.OvertakenPath("project/x/a.md")
	if copyOf != "project/x/a.memd.md" || notes.IsNote(copyOf) || confine.CheckPortable(copyOf) != nil {
		t.Errorf("%q", copyOf)
	}
	for file, want := range map[string]bool{"a.md": true, "A.MD": true, "in/b c.md": true, "MEMORY.md": false, "memory.MD": false, "a.txt": false, ".md": false, ".a.md": false, "a.memd.md": false, "a": false} {
		if notes.IsNote(file) != want {
			t.Errorf("%s: %v", file, !want)
		}
	}
	for file, want := range map[string]string{"notes/a.md": "notes/a.md", "./a b.md": "a%20b.md", "a#b%.md": "a%23b%25.md", "会议.md": "会议.md"} {
		if got := notes.SourceOf(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
