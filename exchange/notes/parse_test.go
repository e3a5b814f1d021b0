package notes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"memd"
	"memd/exchange/notes"
)

// said compares what notes say, not how they were written.
var said = cmp.Options{cmpopts.IgnoreUnexported(notes.Note{}), cmpopts.EquateEmpty()}

func read(t testing.TB, text string) *notes.Note {
	t.Helper()
	n, err := notes.Parse(strings.NewReader(text), "a.md")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}

func render(t testing.TB, n *notes.Note) string {
	t.Helper()
	var b strings.Builder
	if err := n.Render(&b); err != nil {
		t.Fatalf("%+v: %v", n, err)
	}
	return b.String()
}

// hostile are names and descriptions that YAML, Markdown or a file system takes for
// something else.
var hostile = []string{
	"Re: plan", "- x", "yes", "No", "on", "y", "null", "~", "true", "1", "1.50", "0x10", "1e3", "12:30", "1_000", ".inf", "2026-01-01", "2026-01-01T00:00:00Z", `"q`, "'q", "it's",
	"two\nlines", "two\r\nlines", "tail\n", "\n\nhead", " lead", "trail ", "tab\tbed", "#no", "a #b", "a: b", "a:", ":a", "?", "? a", "-", "---", "...", "--- a", "|", ">", "| x", "&a", "*a", "!a", "%a", "@a", "`a`",
	"[a]", "{a: b}", "a, b", "a]", "a}", "\\", `a\nb`, "🚀", "👩‍👧", "❤️", "会议纪要", "日本語: 計画", "مرحبا", "é", "e\u0301", "a\u00a0b", "a\u2028b", "a\u0085b", "a\ufeffb", "a\u200bb", "a\u202eb", "\U000e0041x",
	"<<", "=", "a\x01b", "a\x7fb", "<!-- x -->", "**Why:** x", "../../x", "CON", "nul.md", strings.Repeat("long ", 60),
}

func TestHostileTexts(t *testing.T) {
	for _, s := range hostile {
		want := &notes.Note{
			Name: s, Description: s, Type: notes.Feedback, Body: "---\nx", Why: "**How to apply:** y\n**Why:** z", HowToApply: "b", Tags: []string{s, "a, b"}, Owner: s,
		}
		once := render(t, want)
		got := read(t, once)
		if diff := cmp.Diff(want, got, said); diff != "" {
			t.Errorf("%q in %s: %s", s, once, diff)
		}
		if twice := render(t, got); twice != once {
			t.Errorf("%q: %q, then %q", s, once, twice)
		}
	}
}

// What a person wrote keeps its bytes, but for what changed.
func TestForeignFilesKeepTheirBytes(t *testing.T) {
	const head = "---\n# who\n'name': \"Re: plan\" # title\n\nfoo:\n  - 1\n  - &x {a: b}\nbar: *x\ndescription: >\n  two\n  lines\n# of four\ntype: feedback\ntags:\n- a\n- b\n\n# end\n---\n"
	for _, text := range []string{
		head, head + "body", head + "\n\n---\n\nbody \n\n", head + "**Why**: a\n**how to apply：** b\n", strings.ReplaceAll(head+"a\nb\n", "\n", "\r\n"), "\ufeff" + head + "x\r\ny\rz",
		"---\nname: a\ndescription: b\ntype: user\n...\n---\nbody", "---  \nname: a\ndescription: b\ntype: user\n---", "---\ndescription: |+\n  a\n\n\nname: b\ntype: user\nlast: |\n  x\n\n---\nc",
		"---\nname: a\ndescription: b\ntype: user\nlist: [a,\n  b]\n? c\n: d\n<<: {e: f}\n---\n",
	} {
		n := read(t, text)
		if got := render(t, n); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	n := read(t, strings.ReplaceAll(head+"body\n", "\n", "\r\n"))
	if n.Name != "Re: plan" || n.Description != "two lines\n" || n.Body != "body" {
		t.Errorf("%+v", n)
	}
	n.Type, n.Importance, n.Tags, n.Why = notes.Project, 7, nil, "because\nof this"
	want := strings.ReplaceAll(head, "type: feedback\ntags:\n- a\n- b\n", "type: project\nimportance: 7\n")
	want = strings.ReplaceAll(want+"body\n\n**Why:** because\nof this\n", "\n", "\r\n")
	if got := render(t, n); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if diff := cmp.Diff(n, read(t, want), said); diff != "" {
		t.Error(diff)
	}
}

func TestBody(t *testing.T) {
	const head = "---\nname: a\ndescription: b\ntype: user\n---\n"
	for text, want := range map[string][3]string{
		"":                   {},
		"a\n":                {"a"},
		"---\nb\n":           {"---\nb"},
		"\n\n    code\n\n\n": {"    code"},
		"a\n**Why:** b\n**How to apply:** c\nd\n":         {"a", "b", "c\nd"},
		"**How to apply:** c\n\n**Why:**\n\nb\n":          {"", "b", "c"},
		"a\n**WHY：** b\n**How to Apply**: c":              {"a", "b", "c"},
		"a\n**Why:** b\n**Why:** c\n":                     {"a", "b\n**Why:** c"},
		"a\n\\**Why:** b\n\\\\**Why:** c\n- **Why:** d\n": {"a\n**Why:** b\n\\**Why:** c\n- **Why:** d"},
		"a **Why:** b\n **Why:** c\n":                     {"a **Why:** b\n **Why:** c"},
	} {
		n := read(t, head+text)
		if got := [3]string{n.Body, n.Why, n.HowToApply}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		fresh := *read(t, head)
		fresh.Body, fresh.Why, fresh.HowToApply = want[0], want[1], want[2]
		back := read(t, render(t, &fresh))
		if got := [3]string{back.Body, back.Why, back.HowToApply}; got != want {
			t.Errorf("%q: written and read it is %q", want, got)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	const ok = "name: a\ndescription: b\ntype: user\n"
	for text, want := range map[string]struct {
		line  int
		field string
		code  memd.Code
	}{
		"":                                       {1, "", memd.CodeInvalidRequest},
		"# Heading\nxyzzy":                       {1, "", memd.CodeInvalidRequest},
		"---\nxyzzy: 1\n":                        {1, "", memd.CodeInvalidRequest},
		"---\n---\nxyzzy":                        {1, "name", memd.CodeMissingField},
		"---\n" + ok + "x: \"xyzzy\n---":         {5, "", memd.CodeInvalidRequest},
		"---\nname: Re: xyzzy\n---\n":            {2, "", memd.CodeInvalidRequest},
		"---\r\nname: a\r\nb: [xyzzy\r\n---\r\n": {3, "", memd.CodeInvalidRequest},
		"---\n" + ok + "xyzzy: 1\nxyzzy: 2\n---": {6, "", memd.CodeInvalidRequest},
		"---\n{name: a, description: xyzzy, type: user}\n---\n": {2, "", memd.CodeInvalidRequest},
		"---\n- xyzzy\n---\n":                                         {2, "", memd.CodeInvalidRequest},
		"---\nxyzzy\n---\n":                                           {2, "", memd.CodeInvalidRequest},
		"---\n" + ok + "importance: xyzzy\n---":                       {5, "importance", memd.CodeInvalidRequest},
		"---\n" + ok + "\nimportance: 11\n---":                        {6, "importance", memd.CodeInvalidRequest},
		"---\n" + ok + "version: 0\n---":                              {5, "version", memd.CodeInvalidRequest},
		"---\n" + ok + "verified_at: xyzzy\n---":                      {5, "verified_at", memd.CodeInvalidRequest},
		"---\n" + ok + "tags: {xyzzy: 1}\n---":                        {5, "tags", memd.CodeInvalidRequest},
		"---\n" + ok + "a: &x xyzzy\nowner: *x\n---":                  {6, "owner", memd.CodeInvalidRequest},
		"---\n" + ok + "owner: &x xyzzy\na: *x\n---":                  {5, "owner", memd.CodeInvalidRequest},
		"---\n" + ok + "memory_key: xyzzy!\n---":                      {5, "memory_key", memd.CodeInvalidRequest},
		"---\n" + ok + "namespace: Xyzzy\n---":                        {5, "namespace", memd.CodeInvalidRequest},
		"---\n" + ok + "kind: event\n---":                             {5, "kind", memd.CodeInvalidRequest},
		"---\n" + ok + "kind: feedback\n---":                          {5, "kind", memd.CodeInvalidRequest},
		"---\nname: a\ndescription: b\ntype: xyzzy\n---":              {4, "type", memd.CodeInvalidRequest},
		"---\nname: a\ndescription:\ntype: user\n---":                 {3, "description", memd.CodeMissingField},
		"---\nname: \"\\u200b\"\ndescription: b\ntype: user\n---":     {2, "name", memd.CodeMissingField},
		"---\n" + ok + "---\nbody\nxyzzy\xff":                         {7, "", memd.CodeInvalidRequest},
		"---\n" + ok + "---\nxyzzy\x00":                               {6, "", memd.CodeInvalidRequest},
		"---\nname: a\n\x00\n---\n":                                   {3, "", memd.CodeInvalidRequest},
		"---\na: " + strings.Repeat("[", 60000) + "\n---":             {2, "", memd.CodeInvalidRequest},
		"---\na:\n  " + strings.Repeat("- ", 60000) + "\n---":         {2, "", memd.CodeInvalidRequest},
		"---\n" + strings.Repeat("xyzzy:\n", 15000) + "---":           {2, "", memd.CodeInvalidRequest},
		"---\n" + strings.Repeat("? xyzzy\n", 15000) + "---":          {2, "", memd.CodeInvalidRequest},
		"---\na: {" + strings.Repeat("\"xyzzy\":1,", 9000) + "}\n---": {2, "", memd.CodeInvalidRequest},
		"---\na: " + strings.Repeat("x", 200<<10) + "\n---":           {2, "", memd.CodeTooLarge},
		"---\n" + ok + "---\n" + strings.Repeat("x", notes.MaxBytes):  {0, "", memd.CodeTooLarge},
	} {
		_, err := notes.Parse(strings.NewReader(text), "in/a.md")
		fault, ok := errors.AsType[*notes.Fault](err)
		if !ok {
			t.Errorf("%.80q: %v", text, err)
			continue
		}
		if fault.File != "in/a.md" || fault.Line != want.line || fault.Field != want.field || memd.CodeOf(err) != want.code {
			t.Errorf("%.80q: %+v, want %+v", text, fault, want)
		}
		if !strings.HasPrefix(err.Error(), "in/a.md:") || strings.Contains(strings.ToLower(err.Error()), "xyzzy") {
			t.Errorf("%.80q: the error is %q", text, err)
		}
	}
}

func TestRenderRefusesWhatCannotBeRead(t *testing.T) {
	for name, n := range map[string]*notes.Note{
		"no name":      {Description: "b", Type: notes.User},
		"broken UTF-8": {Name: "a\xff", Description: "b", Type: notes.User},
		"NUL":          {Name: "a", Description: "b", Type: notes.User, Body: "a\x00"},
		"no type":      {Name: "a", Description: "b", Type: "rule"},
		"importance":   {Name: "a", Description: "b", Type: notes.User, Importance: 11},
	} {
		var b strings.Builder
		if err := n.Render(&b); err == nil || b.Len() > 0 {
			t.Errorf("%s: %v, %q", name, err, b.String())
		}
	}
}
