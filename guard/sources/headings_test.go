package sources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever heading is named, its anchor leads to its section and to no other.
func TestHeadingsResolve(t *testing.T) {
	text := Plain([]byte("\xef\xbb\xbf---\nname: x\n---\n# Title\r\n\r\n## Commands\r\n\r\none\r\n\r\n## Commands\n\ntwo\n\n```\n## no heading\n```\n\n" +
		"Setext\n------\n\nthree\n\n## 测试 规则 🚀\n\n四\n\n## 🚀\n\nfive\n\n> ## Quoted\n\n### `code` and [a link](x.md)\n\nsix\n\n<h2>Of HTML</h2>\n\nseven\n"))
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := New(map[string]string{"x": folder})
	var anchors []string
	for _, h := range Headings(text) {
		anchors = append(anchors, h.Anchor)
		if h.At > h.Stop || h.Stop > h.End || h.At > 0 && text[h.At-1] != '\n' {
			t.Errorf("%+v", h)
		}
		if h.Anchor == "" {
			continue
		}
		if got := c.File("x", "a.md#"+h.Anchor); got.Hash != hash(text[h.At:h.End]) {
			t.Errorf("#%s: %+v", h.Anchor, got)
		}
	}
	want := "title commands commands-1 setext 测试-规则-  quoted code-and-a-link of-html"
	if got := strings.Join(anchors, " "); got != want {
		t.Errorf("anchors %q, want %q", got, want)
	}
}
