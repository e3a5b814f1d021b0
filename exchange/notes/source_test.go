package notes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/exchange/notes"
	"memd/guard/sources"
)

// A note that is its memory's source is the same source after memd has written into it
// what it knows of the memory.
func TestOwnSourceStaysTheSame(t *testing.T) {
	root := t.TempDir()
	checker := sources.New(map[string]string{"user": root})
	look := func(text string) string {
		if err := os.WriteFile(filepath.Join(root, "a.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found := checker.File("user", "a.md")
		if found.Status != memd.SourceOK {
			t.Fatalf("%+v", found)
		}
		return found.Hash
	}
	for _, text := range []string{
		"---\nname: a\ndescription: d\ntype: user\n---\nbody\n",
		"---\n# a comment\ndescription: \"d: e\"\nname: 'a'\ntags:\n- x\n- y\n\ntype: user # of people\nmine: 1\n---\nbody",
		"\ufeff---\r\ntype: reference\r\nname: a\r\ndescription: >\r\n  d\r\n  e\r\nimportance: 3\r\n---\r\nbody\r\n",
	} {
		file := read(t, text)
		at, err := file.Resolve(notes.Place{Source: "a.md", Namespace: "user"})
		if err != nil {
			t.Fatal(err)
		}
		now, err := memd.ParseTime("2026-11-30T02:00:00.000Z")
		if err != nil {
			t.Fatal(err)
		}
		m := memd.Memory{
			Namespace: "user", MemoryKey: "a", Kind: at.Request(0).Kind, Version: 7, Summary: at.Description, RawContent: at.Body, Importance: 9, Tags: []string{"t"}, Source: "a.md",
			VerifiedAt: now, Owner: "o", Access: []string{"x"}, ExpiresAt: now, ResolvedAt: now, UpdatedAt: now, ContentHash: "sha256:00",
		}
		over := render(t, notes.FromMemory(m, file).At(notes.Place{Source: "a.md"}))
		if look(over) != look(text) || strings.Count(over, "\n") < 15 {
			t.Errorf("another source than\n%s\nis\n%s", text, over)
		}
	}
}
