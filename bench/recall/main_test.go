package main

import (
	"strings"
	"testing"
)

// The whole path over a made-up set: rows through REST, questions, report.
func TestRun(t *testing.T) {
	var out strings.Builder
	dir := writeSet(t, tinyCorpus, tinyQueries)
	if err := run(t.Context(), &out, options{dir: dir, conversation: "all"}); err != nil {
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
	dir := writeSet(t, tinyCorpus, tinyQueries)
	if err := run(t.Context(), &out, options{dir: dir, conversation: "b", markdown: true}); err != nil {
		t.Fatal(err)
	}
	if want := "| all | 1 | memd | 1.000 |"; !strings.Contains(out.String(), want) {
		t.Errorf("the report lacks %q:\n%s", want, out.String())
	}
	if err := run(t.Context(), &out, options{dir: dir, conversation: "c"}); err == nil {
		t.Error("a conversation that is not there was measured")
	}
}

func TestRunWithoutData(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, options{dir: t.TempDir(), conversation: "all"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "nothing was measured") {
		t.Errorf("the report is %q", out.String())
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
