package confine_test

import (
	"strings"
	"testing"

	"memd/guard/confine"
)

func TestNames(t *testing.T) {
	for _, name := range []string{
		"a.md", "docs/with space.md", "文档/设计.md", "100%.md", ".github/CODEOWNERS", "a..b.md", "...x", "e\u0301.md", "می\u200cخواهم.md", "👩\u200d👧.md",
		"x.go:12", "half ½.md", "what?.md", "aux.c", "console", "com10", "lpt", "a…b.md", "shot\u202f3.png", "~/x", "$HOME", "-rf",
		strings.Repeat("a", 255), strings.Repeat("部", 85),
	} {
		if err := confine.Check(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]error{
		"": confine.Outside, ".": confine.Outside, "..": confine.Outside, "../a": confine.Outside, "a/../b": confine.Outside, "a/..": confine.Outside,
		"/etc/passwd": confine.Outside, "//host/a": confine.Outside, "a//b": confine.Outside, "a/": confine.Outside, "./a": confine.Outside,
		`..\a`: confine.Outside, `a\b`: confine.Outside, `\\host\a`: confine.Outside, "a\x00.md": confine.Outside, "a\xff": confine.Outside,
		"．．": confine.Outside, "．．／a": confine.Outside, "a／b": confine.Outside, "a＼b": confine.Outside, "a﹨b": confine.Outside, "‥": confine.Outside,
		"‥/a": confine.Outside, "a/．/b": confine.Outside, "․․/a": confine.Outside, "℀": confine.Outside, "...": confine.Outside, ". .": confine.Outside,
		"a⁄b": confine.BadName, "a∕b": confine.BadName, "a∖b": confine.BadName, "a⧸b": confine.BadName,
		"a\nb": confine.BadName, "a\x1b[31m": confine.BadName, "a\x7f": confine.BadName, "a\u202eb": confine.BadName, "a\u200bb": confine.BadName, "\ufeffa": confine.BadName,
		"a\u2028b": confine.BadName, "a\u00adb": confine.BadName, "a.": confine.BadName, "a ": confine.BadName, "a/b./c": confine.BadName, "a\u00a0": confine.BadName,
		"CON": confine.BadName, "docs/nul": confine.BadName, "com1": confine.BadName, "LPT9": confine.BadName, "COM¹": confine.BadName, "ｃｏｎ": confine.BadName,
		"con/a.md": confine.BadName, "aux .": confine.BadName, "CONIN$": confine.BadName,
		strings.Repeat("a", 256): confine.TooLong, strings.Repeat("部", 86): confine.TooLong, strings.Repeat("a/", 2000) + "a": confine.TooLong,
	} {
		if err := confine.Check(name); err != want {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

func TestEscapes(t *testing.T) {
	for name, want := range map[string]string{
		"a.md": "a.md", "with%20space.md": "with space.md", "%E6%96%87.md": "文.md", "100%25.md": "100%.md", "a+b": "a+b", "a%2561": "a%61",
		"%2e%2e%2fa": "../a", "..%2Fa": "../a", "a%5Cb": `a\b`, "a%00": "a\x00", "%EF%BC%8E%EF%BC%8E/a": "．．/a", // Check's to refuse
	} {
		if got, err := confine.Unescaped(name); err != nil || got != want {
			t.Errorf("%q: %q, %v", name, got, err)
		}
		if want != "" && strings.ContainsAny(want, "\\\x00．") || strings.HasPrefix(want, "..") {
			if err := confine.Check(want); err != confine.Outside {
				t.Errorf("%q: %v", want, err)
			}
		}
	}
	for _, name := range []string{"%zz", "%", "%2", "%252e%252e%252fa", "%252E", "%25252e", "a%255cb", "a%2500", "a%252Fb"} {
		if got, err := confine.Unescaped(name); err != confine.Outside {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}
