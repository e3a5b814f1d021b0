package artefacts

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/guard/sources"
)

// check fails unless an item can be remembered and its section found again.
func check(t *testing.T, it Item, text string, l Limits) {
	t.Helper()
	switch lines := strings.Count(text, "\n") + 1; {
	case it.Line < 1 || it.Last < it.Line || it.Last > lines:
		t.Errorf("lines %d to %d of %d", it.Line, it.Last, lines)
	case !utf8.ValidString(it.Summary + it.RawContent + it.Why + it.HowToApply):
		t.Errorf("no UTF-8: %q", it.Summary)
	case it.RawContent == "" && !says(it.Summary) || strings.TrimSpace(it.Summary) != it.Summary:
		t.Errorf("says nothing: %q", it.Summary)
	case utf8.RuneCountInString(it.Summary) > l.Summary || len(it.RawContent) > l.Raw:
		t.Errorf("%d characters, %d bytes raw", utf8.RuneCountInString(it.Summary), len(it.RawContent))
	case max(utf8.RuneCountInString(it.Why), utf8.RuneCountInString(it.HowToApply)) > memd.MaxReasonChars:
		t.Error("reasons too long")
	case !it.Kind.Durable():
		t.Errorf("kind %q", it.Kind)
	}
	for _, h := range sources.Headings(text) {
		if h.Anchor == it.Anchor {
			return
		}
	}
	if it.Anchor != "" {
		t.Errorf("no section has the anchor %q", it.Anchor)
	}
}

func TestLongTexts(t *testing.T) {
	l := Limits{Summary: 300, Raw: 1000}
	sentence := "Every release is tried out on the staging machines first. "
	for name, text := range map[string]string{
		"prose":       "## Rules\n\n" + strings.Repeat(sentence, 10) + "\n",
		"paragraphs":  "## Rules\n\n" + strings.Repeat(sentence+"\n\n", 40),
		"chinese":     "## 规则\n\n" + strings.Repeat("每次发布之前先在预发环境试运行。", 60) + "\n",
		"one word":    "- " + strings.Repeat("x", 5000) + "\n",
		"heading":     "## " + strings.Repeat("rule ", 300) + "\n\n- one thing\n",
		"deep":        strings.Join([]string{"# " + strings.Repeat("a", 99), "## " + strings.Repeat("b", 99), "### " + strings.Repeat("c", 99), "#### " + strings.Repeat("d", 99), "- one thing"}, "\n"),
		"long reason": "- one thing\n  **Why:** " + strings.Repeat("because ", 900) + "\n",
	} {
		items, faults := Read("docs/x.md", Runbook, []byte(text), l)
		if len(items) != 1 || len(faults) != 0 {
			t.Errorf("%s: %d items, %v", name, len(items), faults)
			continue
		}
		check(t, items[0], text, l)
		if whole := utf8.RuneCountInString(text) < l.Summary; whole == (items[0].RawContent != "") && name != "heading" && name != "deep" {
			t.Errorf("%s: %q, raw %q", name, items[0].Summary, items[0].RawContent)
		}
	}
	items, _ := Read("a.md", Agents, []byte("## Rules\n\n"+strings.Repeat(sentence, 10)), l)
	if s := items[0].Summary; !strings.HasSuffix(s, "first.…") {
		t.Errorf("cut within a sentence: %q", s)
	}
}

func TestFileOfManyItems(t *testing.T) {
	var b strings.Builder
	for n := range maxItems + 100 {
		fmt.Fprintf(&b, "## Heading %d\n\n- item %d\n- a second one\n\n", n, n)
	}
	items, faults := Read("AGENTS.md", Agents, []byte(b.String()), limits)
	if len(items) != maxItems || len(faults) != 1 || faults[0].Line < maxItems {
		t.Errorf("%d items, %v", len(items), faults)
	}
}

func TestFilesThatAreNoText(t *testing.T) {
	for _, data := range []string{"- one\x00\n", "- \xff\xfe\n", "---\nname: x\n"} {
		items, faults := Read("SKILL.md", Skill, []byte(data), limits)
		if len(items) != 0 || len(faults) != 1 || faults[0].Line != 0 {
			t.Errorf("%q: %v, %v", data, items, faults)
		}
	}
}

func TestKeys(t *testing.T) {
	taken := map[string]bool{}
	for _, c := range []struct{ file, anchor, says, want string }{
		{"AGENTS.md", "commands", "Run `make test`: fast", "AGENTS.md/commands/run-make-test-fast"},
		{"AGENTS.md", "commands", "Run `make test` - fast!", "AGENTS.md/commands/run-make-test-fast-2"},
		{"AGENTS.md", "", "x", "AGENTS.md/x"},
		{"./RULES", "", "x", "./RULES/x"},
		{".agent/rules/go.md", "style", "tabs", ".agent/rules/go.md/style/tabs"},
		{"AGENTS.md", "测试", "提交前运行测试", "AGENTS.md/6aa8f49c/1c2625ac"},
		{"文档/a.md", "x", "mixed 测试 words", ""},
		{"AGENTS.md", "x", "🚀🚀", ""},
		{strings.Repeat("deep/", 60) + "a.md", strings.Repeat("long-", 40), strings.Repeat("words ", 40), ""},
		{strings.Repeat("deep/", 60) + "b.md", strings.Repeat("long-", 40), strings.Repeat("words ", 40), ""},
	} {
		it := &Item{File: c.file, Anchor: c.anchor, Summary: c.says}
		got := newKey(c.file, it, taken)
		if !memd.ValidKey(got) || c.want != "" && got != c.want {
			t.Errorf("%+v: %s (%d bytes)", c, got, len(got))
		}
		if again := newKey(c.file, it, map[string]bool{}); len(again) > len(got) || !strings.HasPrefix(got, again) {
			t.Errorf("%s, then %s", again, got)
		}
	}
	if len(taken) != 10 {
		t.Errorf("%d keys of 10", len(taken))
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"# T\n\n- a b\n  **Why:** c\n", "---\nname: x\ndescription: >\n  y\n---\n1. a\n2. b\n", "a:\n\n- x\n- - y\n", "<!-- x\n- hidden", "T\n=\n\n> # q\n",
		"# ADR\n\nStatus: accepted\n\n## Decision\n\nx y\n", "\ufeff---\r\npaths: [a]\r\n...\r\n\tx y\r\n", "| a | b |\n|--|--|\n", "## 规则：\n\n- 测试 🚀\n", "- [ ] x y\n\n[a]: b\n", "0\nWhY:0", "[0]:\n0",
	} {
		for form := range uint8(6) {
			f.Add([]byte(seed), form)
		}
	}
	forms := []Form{Agents, Rules, Skill, ADR, Runbook, Document}
	l := Limits{Summary: 200, Raw: 500}
	f.Fuzz(func(t *testing.T, data []byte, form uint8) {
		items, _ := Read("docs/x.md", forms[int(form)%len(forms)], data, l)
		text := sources.Plain(data)
		seen := map[string]bool{}
		for _, it := range items {
			check(t, it, text, l)
			seen[newKey(it.File, &it, map[string]bool{})] = true
		}
		for key := range seen {
			if !memd.ValidKey(key) {
				t.Errorf("key %q", key)
			}
		}
	})
}
