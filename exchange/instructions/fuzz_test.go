package instructions

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Any text ends in a reason or in a part that has no line more than it had; no glob
// that is taken fails.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		"", "---\npaths: [a/**]\n---\ntext\n@include x.md\n", "\ufeff---\r\npaths: '*.go'\r\n...\r\nx", "```\n@include a\n```", "@include a\n---\n",
		"---\npaths: &a [*a]\n---\n", "---\npaths:\n  - |\n    x\n---\n", "> - @include x\n@include \"a b\"\n", "---\n---\n", "\x00", "a\xff",
		"---\npaths: [\"{a,{b,c}}/[^x]?\\\\*\"]\n---\n\t@include x\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := clean(data)
		if err != nil {
			return
		}
		if !utf8.ValidString(text) || strings.Contains(text, "\r") || text != "" && !strings.HasSuffix(text, "\n") {
			t.Fatalf("%q is cleaned to %q", data, text)
		}
		head, rest, err := frontmatter(text)
		if err != nil {
			return
		}
		if !strings.HasSuffix(text, rest) || !strings.Contains(text, head) {
			t.Fatalf("%q is parted into %q and %q", text, head, rest)
		}
		if globs, err := globsOf(head); err == nil {
			for _, at := range []string{"a", "src/a.go", "ä/x y/z"} {
				(&ruleOf{folder: ".", at: at}).applies(globs)
			}
		}
		left, includes := split(rest)
		had := strings.Split(rest, "\n")
		for _, line := range strings.Split(left, "\n") {
			i := slices.Index(had, line)
			if i < 0 {
				t.Fatalf("%q became %q", rest, left)
			}
			had = had[i+1:]
		}
		if strings.Count(rest, "\n")-strings.Count(left, "\n") != len(includes) {
			t.Fatalf("%q became %q, which includes %q", rest, left, includes)
		}
	})
}
