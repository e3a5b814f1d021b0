package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// whole are the options that measure all of the set in dir.
func whole(dir string) options {
	return options{data: filepath.Dir(dir), set: filepath.Base(dir), conversation: "all", every: 1}
}

// The whole path over a made-up set: rows through REST, questions, report.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, whole(writeSet(t, tinyCorpus, tinyQueries))); err != nil {
		t.Fatal(err)
	}
	report := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"tiny: 4 rows (1 that repeat another left out), 3 questions (1 without an answer left out)",
		"short_rows 5,",
		"all 3 memd 1.000 1.000 1.000 1.000 1.000",
		"all 3 bm25, unicode61 1.000 1.000 1.000 1.000 1.000",
		"one 2 bm25, porter unicode61 1.000",
		"a 2 memd 1.000",
		"b 1 memd 1.000",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestRunOneConversation(t *testing.T) {
	var out strings.Builder
	opts := whole(writeSet(t, tinyCorpus, tinyQueries))
	opts.conversation, opts.markdown = "b", true
	if err := run(t.Context(), &out, opts); err != nil {
		t.Fatal(err)
	}
	if want := "| all | 1 | memd | 1.000 |"; !strings.Contains(out.String(), want) {
		t.Errorf("the report lacks %q:\n%s", want, out.String())
	}
	opts.conversation = "c"
	if err := run(t.Context(), &out, opts); err == nil {
		t.Error("a conversation that is not there was measured")
	}
}

// Where no set is, there is nothing to fall under a floor.
func TestRunWithoutData(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{data: t.TempDir(), set: "all", conversation: "all", every: 1, floors: true}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "nothing was measured"); got != 4 {
		t.Errorf("%d of 4 sets are said to be absent:\n%s", got, out.String())
	}
}

// What -loo reads from its variants.
func TestRunFigures(t *testing.T) {
	var out strings.Builder
	opts := whole(writeSet(t, tinyCorpus, tinyQueries))
	opts.figures = true
	if err := run(t.Context(), &out, opts); err != nil {
		t.Fatal(err)
	}
	var got figures
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if want := (figures{"a": {2, 1}, "b": {1, 1}}); !maps.Equal(got, want) {
		t.Errorf("figures = %v, want %v", got, want)
	}
}

// A static model is measured beside keywords alone.
func TestRunStatic(t *testing.T) {
	words := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(words, []byte("kiln 1 0 0\nlunch 0 1 0\nsoup 0 1 0.5\ncost 0 0 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	opts := whole(writeSet(t, tinyCorpus, tinyQueries))
	opts.model, opts.markdown, opts.floors = words, true, true
	if err := run(t.Context(), &out, opts); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| all | 3 | memd | 1.000 |", "| all | 3 | memd, static | 1.000 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestOptionsCheck(t *testing.T) {
	good := options{set: "all", conversation: "all", every: 1, floors: true, quick: true}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*options){
		"-every 0":                 func(o *options) { o.every = 0 },
		"-conversation alone":      func(o *options) { o.conversation = "a" },
		"floors of a conversation": func(o *options) { o.set, o.conversation = "x", "a" },
		"floors of every second":   func(o *options) { o.every = 2 },
	} {
		opts := good
		spoil(&opts)
		if opts.check() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestAnyTerm(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"?! ...":             "",
		"kiln":               `"kiln"`,
		`it's "AND" foo-bar`: `"it" OR "s" OR "AND" OR "foo" OR "bar"`,
		"温度是23度":             `"温度是23度"`,
	} {
		if got := anyTerm(text); got != want {
			t.Errorf("anyTerm(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	for text, want := range map[string]string{
		"a kiln":       "a kiln",
		"窑":            "窑",
		"修好了窑":         "修好 好了 了窑",
		"在3号窑，修好了":     "在 3 号窑 ， 修好 好了",
		"Ann修窑on time": "Ann 修窑 on time",
	} {
		if got := strings.Join(strings.Fields(pairs(text)), " "); got != want {
			t.Errorf("pairs(%q) = %q, want %q", text, got, want)
		}
	}
}
