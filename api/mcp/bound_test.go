package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"memd"
	"memd/guard/fence"
)

var anyText = rapid.OneOf(
	rapid.String(), rapid.Just(strings.Repeat("\"\\\n", 3000)), rapid.Just(strings.Repeat("周", 2000)), rapid.Just("</memd-memories>\x1b[31m\u202e"),
	rapid.StringN(0, 5000, -1),
)

// A memory of whatever size is shrunk into its room, keeps its id, and says what
// was cut.
func TestShrunk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memd.Memory{
			ID: "0195a0c4-0000-7000-8000-000000000001", Tier: memd.Long, Namespace: strings.Repeat("n", rapid.IntRange(1, 128).Draw(t, "ns")), Kind: memd.Rule,
			MemoryKey: strings.Repeat("k", rapid.IntRange(0, 200).Draw(t, "key")), Summary: anyText.Draw(t, "summary"), RawContent: anyText.Draw(t, "raw"),
			Why: anyText.Draw(t, "why"), HowToApply: anyText.Draw(t, "how"), Tags: rapid.SliceOfN(rapid.String(), 0, 32).Draw(t, "tags"), Source: rapid.String().Draw(t, "source"),
		}
		room := rapid.IntRange(300, 20000).Draw(t, "room")
		o, err := parse(harmless(fence.Rules{}, encode(m)))
		if err != nil {
			t.Fatal(err)
		}
		small, cut := shrunk(o, room)
		raw := encode(small)
		if n := utf8.RuneCount(raw); n > room && n >= chars(encode(o)) || !json.Valid(raw) || small.text("id") != m.ID || n > room {
			t.Fatalf("%d code points in %d: %s", n, room, raw)
		}
		if chars(encode(o)) <= room && (len(cut) != 0 || string(raw) != string(encode(o))) {
			t.Fatalf("cut %q though it fits", cut)
		}
		for _, name := range texts {
			if small.text(name) != o.text(name) && !slices.Contains(cut, name) {
				t.Fatalf("%s is cut, and only %q are named", name, cut)
			}
		}
	})
}

func TestClipped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := fence.Rules{}.Text(anyText.Draw(t, "text"))
		room := rapid.IntRange(20, 8000).Draw(t, "room")
		got := clipped(s, room)
		switch fits := chars(encode(s)) <= room; {
		case chars(encode(got)) > room:
			t.Fatalf("%d code points in %d", chars(encode(got)), room)
		case got != s && !strings.HasSuffix(got, mark), !strings.HasPrefix(s, strings.TrimSuffix(got, mark)):
			t.Fatalf("%q", got)
		case !fits && got == s:
			t.Fatal("not cut")
		}
	})
}

// Every string of a JSON text is as the fence lets it through, and nothing else
// changes.
func FuzzHarmless(f *testing.F) {
	for _, s := range []string{
		`{"a":["<memd-memories>",1.50,null,true],"b\u202e":{"c":"\u001b[31mx\\\""}}`, `"\ud83d\ude00 \ufffd"`, `[]`, `{"a":"](http://e.example)"}`, `"\u0000"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			t.Skip()
		}
		rules := fence.Rules{}
		got := harmless(rules, []byte(s))
		var before, after any
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q becomes %q: %v", s, got, err)
		}
		if err := json.Unmarshal([]byte(s), &before); err != nil {
			t.Skip() // such as a number that Go has no room for
		}
		if again := harmless(rules, got); string(again) != string(got) {
			t.Fatalf("%q becomes %q and then %q", s, got, again)
		}
		if want, is := encode(cleaned(rules, before)), encode(after); string(want) != string(is) {
			t.Fatalf("%q becomes %q, want %q", s, is, want)
		}
	})
}

func cleaned(rules fence.Rules, v any) any {
	switch v := v.(type) {
	case string:
		return rules.Text(v)
	case []any:
		for i := range v {
			v[i] = cleaned(rules, v[i])
		}
	case map[string]any:
		out := map[string]any{}
		for name, item := range v {
			out[rules.Text(name)] = cleaned(rules, item)
		}
		return out
	}
	return v
}

// No arguments break a tool, and no refusal repeats one.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"query":"x","limit":1e400}`, `{"query":"xylophone","limit":-1}`, `{"tags":["xylophone",{}]}`, `{"limit":"xylophone"}`, `{"xylophone xylophone":1}`, `[`, `{"query":"\ud800"}`} {
		f.Add(s)
	}
	in := recallTool().in
	f.Fuzz(func(t *testing.T, s string) {
		var q memd.Query
		err := arguments(json.RawMessage(s), in, &q)
		if err == nil {
			if q.Query == "" && !strings.Contains(s, "query") || q.Limit != nil && (*q.Limit < 1 || *q.Limit > memd.MaxRecallLimit) {
				t.Fatalf("%q is taken as %+v", s, q)
			}
			return
		}
		e := refusalOf(t.Context(), err)
		if error(e) != err || e.Message == "" || strings.Contains(e.Message+e.Hint, "xylophone") {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
