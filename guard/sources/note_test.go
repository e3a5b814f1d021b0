package sources

import (
	"strings"
	"testing"

	"memd"
)

const aNote = "---\nname: style\ndescription: Minutes go out in a day\ntype: feedback\nmine: stays\n---\nMinutes.\n\n**Why:** forgotten\n"

// What memd keeps in a note about its memory changes nothing of what the note says;
// whatever a person says in it does, and so do those fields in a file that is no note.
func TestNotesAsSources(t *testing.T) {
	of := func(name, text string) string {
		c, _ := folder(t, map[string]string{name: text})
		return want(t, c, name, memd.SourceOK, "").Hash
	}
	with := func(fields string) string { return strings.Replace(aNote, "type:", fields+"type:", 1) }
	same := []string{
		with("updatedAt: 2026-11-30T02:00:00.000Z\ncontentHash: sha256:00\nversion: 3\nsyncHash: sha256:01\nverified_at: \"2026-11-30\"\n"),
		with("memory_key: style\nnamespace: user\nimportance: 7\ntags: [a, b]\nowner: x\naccess: []\nexpires_at: x\nresolved_at: x\nkind: rule\nsource: a.md\n"),
		with("tags:\n  - a\n  - b\naccess:\n- c\n\"version\" : 4\n"),
		strings.Replace(aNote, "mine: stays\n", "mine: stays\nversion: 4\n", 1),
		strings.ReplaceAll(with("version: 3\n"), "\n", "\r\n"),
		"\ufeff" + with("version: 3\n"),
	}
	for _, text := range same {
		if of("notes/a.md", text) != of("notes/a.md", aNote) {
			t.Errorf("what memd keeps counts in\n%s", text)
		}
	}
	seen := map[string]string{of("a.md", aNote): aNote}
	for _, text := range []string{
		strings.Replace(aNote, "stays", "goes", 1),
		strings.Replace(aNote, "a day", "two days", 1),
		strings.Replace(aNote, "feedback", "user", 1),
		strings.Replace(aNote, "name: style", "name: form", 1),
		strings.Replace(aNote, "forgotten", "lost", 1),
		aNote + "version: 3\n",
		aNote + "---\nversion: 3\n---\n",
		with("notes:\n  version: 3\n"),
		with("versions: 3\n"),
		"\n" + with("version: 3\n"),
	} {
		if h := of("a.md", text); seen[h] != "" {
			t.Errorf("of one hash are\n%s\nand\n%s", text, seen[h])
		} else {
			seen[h] = text
		}
	}
	for name, text := range map[string]string{
		"a.md": strings.Replace(aNote, "feedback", "skill", 1), "b.md": strings.Replace(aNote, "description:", "describes:", 1), "c.md": strings.Replace(aNote, "name:", "title:", 1), "d.txt": aNote,
		"e.md": strings.Replace(aNote, "\n---\nMinutes", "\nMinutes", 1),
	} {
		if h := of(name, strings.Replace(text, "mine:", "version: 3\nmine:", 1)); h == of(name, text) || of(name, text) != hash(text) {
			t.Errorf("%s is taken for a note", name)
		}
	}
}
