package fence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memd"
	"memd/guard/fence"
)

// aContext is one of three memories: with all fields, with a text of two
// paragraphs, and one whose text was shortened.
func aContext() string {
	m, plain, third := aMemory(), aMemory(), aMemory()
	plain.ID, plain.MemoryKey, plain.Kind, plain.Source = "0195a0c4-0000-7000-8000-000000000002", "", memd.Event, ""
	plain.Summary, plain.Why, plain.HowToApply, plain.VerifiedAt, plain.Stale = "The build was slow\n\nand then it was not", "", "", memd.Time{}, false
	third.MemoryKey, third.Kind, third.Stale = "api/port", memd.Fact, false
	r := fence.Rules{}
	return fence.Wrap("\n## Rules and preferences\n" + r.Entry(&m, now) + "\n## Known\n" + r.Entry(&plain, now) + r.Shortened(&third, "The port is", now))
}

// stripped is text without the indents of its lines.
func stripped(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}

// What memd gave out is known again whatever a client or an agent did to it, as long
// as nothing was added.
func TestMade(t *testing.T) {
	text := aContext()
	lines := strings.Split(text, "\n")
	each := func(prefix string) string { return prefix + strings.Join(lines, "\n"+prefix) }
	part := func(from, to int) string { return strings.Join(lines[from:len(lines)-to], "\n") }
	trimmed := strings.Split(text, "\n")
	for i, l := range trimmed {
		trimmed[i] = strings.TrimRight(l, " ")
	}
	m := aMemory()
	cases := map[string]string{
		"as it is": text, "with CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "trimmed at the ends of lines": strings.Join(trimmed, "\n"),
		"without its first line": part(1, 0), "without its last line": part(0, 1), "without the fence": part(1, 1), "entries alone": part(4, 1),
		"one entry": fence.Rules{}.Entry(&m, now), "its beginning": strings.Join(lines[:6], "\n"), "cut below a heading": strings.Join(lines[:4], "\n"),
		"cut within a boundary": text[1 : len(text)-20], "cut within an id": text[30:], "cut within the sentence": text[80:], "cut within a head": text[:strings.Index(text, "api/port")+4],
		"the rest of an entry, and more": part(7, 0), "the rest of the last entry": part(len(lines)-3, 0),
		"indented": each("    "), "quoted": each("> "), "quoted twice": each("> > "), "commented": each("// "), "in a list": each("  * "), "in a table": each("| "),
		"without indents": stripped(text), "in one line": strings.Join(strings.Fields(text), " "),
		"in a block of code": "I recalled:\n```html\n" + text + "\n```\n", "quoted in a block of code": "~~~\n" + each("> ") + "\n~~~",
		"announced": "Here is my memory:\n\n" + text, "announced with its subject": "**What I remember about the kumquat deploys:**\n" + text,
		"announced in one line": "I was told: " + strings.Join(strings.Fields(text), " "), "announced in Chinese": "以下是我的记忆：\n" + text, "ended": text + "\n\n(recalled from memd)",
		"in Chinese, with its subject": "关于部署的记忆：\n" + text,
		"the sentence wrapped":         strings.Replace(text, "is an observation", "is\nan observation", 1), "the sentence wrapped in a quotation": strings.Replace(each("> "), "is an observation", "is\n> an observation", 1),
		"in JSON": fmt.Sprintf("%q", text), "in JSON twice": fmt.Sprintf("%q", fmt.Sprintf("%q", text)),
		"in JSON of Go": asJSON(t, text), "in entities": strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text),
		"boundaries in capitals": strings.ReplaceAll(text, "memd-memories", "MEMD-MEMORIES"), "wide boundaries": strings.NewReplacer("<", "＜", ">", "＞").Replace(text),
		"with zero widths": strings.ReplaceAll(text, "memd-", "memd-\u200b"), "coloured": strings.ReplaceAll(text, "memd-memories", "\x1b[1mmemd-memories\x1b[0m"),
		"with other dashes": strings.ReplaceAll(text, "memd-memories", "memd\u2011memories"), "twice": text + "\n" + text,
		"two lines of a manifest": "[rule] deploy.freeze (3 days): No deploys on Mondays\n[event] 0195a0c4-0000-7000-8000-000000000002 (today): The build was slow",
		"a manifest in a list":    "Manifest:\n* [rule] deploy.freeze (3 days): No deploys\n* [fact] api/port (1 day): 8080\n",
		"what recall prints":      "1. deploy.freeze  [long rule, 3 days]\n   No deploys on Mondays\n   matched keyword; score 0.9000; id " + m.ID,
		"what get prints":         "deploy.freeze  STALE (age)\nid          " + m.ID + "\ntier        long\nnamespace   default\n\nsummary\n  No deploys\n\n  at all\n\nwhy\n  payroll",
		"what list prints":        "ID                                    TIER  KIND  KEY  IMP  AGE  SUMMARY\n" + m.ID + "  long  rule  deploy.freeze v1  5  today  No deploys",
	}
	m.ContentHash = "sha256:" + strings.Repeat("0", 64)
	m.Tags, m.Access = []string{}, []string{}
	for name, v := range map[string]any{
		"a memory in JSON": m, "a recall in JSON": memd.Answer{Results: []memd.Hit{{Memory: m}}, Degraded: []string{}},
		"a list in JSON": memd.Page{Memories: []memd.Memory{m, m}}, "a context in JSON": memd.Context{Text: text, UsedChars: 9, Included: []memd.Ref{{ID: m.ID}}},
		"the answer of a tool": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "structuredContent": memd.Context{Text: text}},
	} {
		cases[name] = asJSON(t, v)
		cases[name+", announced"] = "The tool returned:\n```json\n" + cases[name] + "\n```"
		cases[name+", one after the other"] = cases[name] + "\n" + cases[name]
	}
	for name, s := range cases {
		if !fence.Made(s) {
			t.Errorf("%s: not known again: %q", name, s)
		}
		for _, beside := range []string{"", "recalled", "Context from memd", "3 memories:", "What I know of deploys:", "记忆"} {
			if !fence.Made(beside, s) {
				t.Errorf("%s, beside %q: not known again", name, beside)
			}
		}
		for _, said := range []string{"Never deploy on Mondays.", "周一禁止部署", "No.", "8080", "Нет", "Kumquat: Tuesday", "I forgot to deploy:"} {
			for how, texts := range map[string][]string{
				"before": {said + "\n\n" + s}, "after": {s + "\n\n" + said}, "around": {said + "\n" + s + "\n" + said}, "beside": {said, s}, "as its reason": {"recalled", s, said},
			} {
				if fence.Made(texts...) {
					t.Errorf("%s: %q %s it is lost", name, said, how)
				}
			}
		}
	}
}

// A text of the user's own is none of memd's, whatever it quotes and speaks of.
func TestOwnWordsAreKept(t *testing.T) {
	text := aContext()
	lines := strings.Split(text, "\n")
	for i := range lines {
		if fence.Made(lines[i]) || fence.Made("It said: "+lines[i]) || fence.Made("> "+lines[i]) || fence.Made("A context has this line: `"+lines[i]+"`, and more.") {
			t.Errorf("one quoted line is taken for all: %q", lines[i])
		}
		// Between the lines of a context, below an entry or above it.
		if own := strings.Join(lines[:i], "\n") + "\nThat cost us two hours today.\n" + strings.Join(lines[i:], "\n"); fence.Made(own) {
			t.Errorf("a line of one's own is lost before %q", lines[i])
		}
	}
	head := lines[4]
	for _, s := range append([]string{
		"", "the element memd-memories fences memories", `<memd-memories id="x">`, "</memd-memories>", "- [rule] no deploys on Mondays (source AGENTS.md)",
		"- [x] done\n- [ ] to do\n- [fact] checked (verified 2026-01-01)", "- [event] started\n  the build\n- [event] ended\n  it too", "memories recorded earlier are given as data",
		"memd get 0195a0c4-0000-7000-8000-000000000001 shows it", "[rule] deploy.freeze (3 days): No deploys on Mondays", "This memory is 3 days old",
		"memd begins a context with " + fence.Open("0123456789abcdef") + " and ends it with " + fence.Close("0123456789abcdef"),
		fence.Open("0123456789abcdef") + " is how a context begins.\nIts id is a hash.\n" + fence.Close("0123456789abcdef") + " is how it ends.",
		"The rule deploy.freeze (no deploys on Mondays) came up in recall and saved us.", "Memories", "memories recalled", "What I remember:", "以下是我的记忆：",
		head + "\nthis one is wrong since March", "I followed this:\n" + head + "\n" + lines[5] + "\nand the deploy went well", "We decided (see below) to keep it.\n" + strings.Join(lines[3:7], "\n"),
		"## Known\n\n## Recent\n", "\n\n## Known", "## Deploys are forbidden\n" + strings.Join(lines[4:7], "\n"), "```\n## Known\n```", "1. deploy [fast]\n   at night", "id  0195a0c4\ntier  gold\nsummary\n  all is well", "tier one is cached, tier two is not",
		`{"id": "0195a0c4-0000-7000-8000-000000000001", "tier": "gold", "summary": "mine", "content_hash": "none"}`, `{"text": "my own words about memd-memories", "included": []}`,
		`{"note": "mine", "memories": [{"id":"0195a0c4-0000-7000-8000-000000000001","tier":"long","summary":"x","content_hash":"sha256:00"}]}`,
		strings.Join(lines[5:9], "\n"), "\x01\x01", "\x04", "&#1;&#1;&#4;", "[]", "{}", "[{]}",
	}, harmless...) {
		if fence.Made(s) || fence.Made("", s) {
			t.Errorf("taken for memd's own: %q", s)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Whatever a text is, with a sentence of one's own before or after it, it is one's own.
func FuzzMade(f *testing.F) {
	text := aContext()
	for _, s := range []string{
		text, stripped(text), fmt.Sprintf("%q", text), text[:len(text)/2], text[len(text)/2:], "> " + strings.ReplaceAll(text, "\n", "\n> "),
		`{"text":"` + fence.Open("0123456789abcdef") + `","included":[]}`, "k\nid  0195a0c4-0000-7000-8000-000000000001\ntier  long\n\nsummary\n  x\n",
		"1. k  [long rule, today]\n   x\n", "[rule] k (today): x\n[rule] l (today): y", "\x1b]0;memd-memories", "&lt;memd-memories id=&quot;0123456789abcdef&quot;&gt;",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const own = "Kumquat said so."
		if fence.Made(own+"\n\n"+s) || fence.Made(s+"\n\n"+own) || fence.Made(s, own) || fence.Made(own, s) {
			t.Errorf("one's own words are lost beside %q", s)
		}
		fence.Made(s)
	})
}
