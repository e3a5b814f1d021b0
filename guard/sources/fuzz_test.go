package sources

import (
	"strings"
	"testing"
)

// Whatever a page holds, reading it ends, and each of its headings is found again
// by its slug, in a section that begins with its line.
func FuzzMarkdown(f *testing.F) {
	f.Add(page, "docs/a.md#commands:3")
	f.Add("# a\n# a\n# a-1\n\na\n=\n> # b\n- # c\n", "a.md#a-1")
	f.Add("<h2 id='x'>x</h2><a name=y>\n\n# \xff\x00\r\n", "x.html#x")
	f.Add("---\n---\n#\n##\n", "x.go#T.M:1-2")
	f.Add(aNote, "a.md")
	f.Fuzz(func(t *testing.T, text, source string) {
		text = plain([]byte(text))
		for _, ext := range []string{".md", ".html", ".go", ".txt"} {
			p := SplitPath(source)
			p.File = "x" + ext
			section, gone := p.cited(text)
			if (section != "") && gone != "" || !strings.Contains(text, section) {
				t.Errorf("%s: %q and %q", ext, section, gone)
			}
			if p.hash(section) != hash(section) && (ext != ".md" || !strings.HasPrefix(text, "---")) {
				t.Errorf("%s: a part of %q does not count", ext, section)
			}
		}
		seen := map[string]bool{}
		for _, h := range outlineOf(text).headings {
			if seen[h.name] {
				t.Errorf("the slug %q stands twice", h.name)
			}
			seen[h.name] = true
			if h.name == "" {
				continue
			}
			at, end, ok := findMarkdown(text, h.name)
			if !ok || at > h.at || end < at || h.at > 0 && text[h.at-1] != '\n' {
				t.Errorf("%q at %d: found at %d to %d, %v", h.name, h.at, at, end, ok)
			}
		}
	})
}
