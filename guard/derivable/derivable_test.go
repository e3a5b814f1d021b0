package derivable_test

import (
	"os"
	"strings"
	"testing"

	"memd/guard/derivable"
)

// The least that the rules may reach over the corpus of testdata, all of it made up.
const (
	leastPrecision = 0.95
	leastRecall    = 0.97
)

// sample is a text of the corpus.
type sample struct {
	rule        derivable.Rule // "" for a text that is worth keeping
	shape, text string
}

// positives are the records of testdata/positive.txt: a line "=== rule shape",
// then the text.
func positives(t testing.TB) (all []sample) {
	for record := range strings.SplitSeq(strings.TrimPrefix(read(t, "positive.txt"), "=== "), "\n=== ") {
		head, text, _ := strings.Cut(record, "\n")
		rule, _, _ := strings.Cut(head, " ")
		all = append(all, sample{derivable.Rule(rule), head, strings.TrimSuffix(text, "\n")})
	}
	return all
}

// harmless are the lines of testdata/harmless.txt, in which \n and \t stand for
// what they do in Go.
func harmless(t testing.TB) (all []sample) {
	for line := range strings.Lines(read(t, "harmless.txt")) {
		text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.TrimSuffix(line, "\n"))
		all = append(all, sample{shape: "harmless", text: text})
	}
	return all
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCorpus(t *testing.T) {
	bad, good := positives(t), harmless(t)
	shapes := map[string]bool{}
	for _, s := range bad {
		shapes[s.shape] = true
	}
	if len(bad) < 60 || len(shapes) < 10 || len(good) < 150 {
		t.Fatalf("%d positives of %d shapes and %d harmless texts", len(bad), len(shapes), len(good))
	}
	found, alarms, exact := 0, 0, 0
	for _, s := range bad {
		got := derivable.Of(s.text)
		if got == s.rule {
			exact++
		}
		if got != "" {
			found++
		} else {
			t.Logf("missed (%s): %.120q", s.shape, s.text)
		}
	}
	for _, s := range good {
		if got := derivable.Of(s.text); got != "" {
			alarms++
			t.Logf("false alarm (%s): %.120q", got, s.text)
		}
	}
	precision, recall := float64(found)/float64(found+alarms), float64(found)/float64(len(bad))
	t.Logf("%d positives of %d shapes, %d harmless: precision %.3f, recall %.3f, by the rule's own name %d",
		len(bad), len(shapes), len(good), precision, recall, exact)
	if precision < leastPrecision || recall < leastRecall {
		t.Errorf("precision %.3f (at least %.2f), recall %.3f (at least %.2f)", precision, leastPrecision, recall, leastRecall)
	}
	if exact < found*9/10 {
		t.Errorf("%d of %d found by another rule than meant", found-exact, found)
	}
}

// A command is an instruction where a reason stands beside it, and evidence where
// it stands behind a summary in words; what code and git hold is neither anywhere.
func TestFields(t *testing.T) {
	const once, diff = "git push origin fix/pool --force", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
	for name, c := range map[string]struct {
		texts derivable.Texts
		want  string
	}{
		"a command":                      {derivable.Texts{Summary: once}, "command summary"},
		"a command and what is behind":   {derivable.Texts{Summary: once, RawContent: "the branch was cut from another"}, "command summary"},
		"a command with a reason":        {derivable.Texts{Summary: once, Why: "the mirror drops others"}, ""},
		"a command with an instruction":  {derivable.Texts{Summary: once, HowToApply: "after each rebase"}, ""},
		"a command behind words":         {derivable.Texts{Summary: "the mirror wants forced pushes", RawContent: once}, ""},
		"a diff behind words":            {derivable.Texts{Summary: "the limit was raised", RawContent: diff}, "diff raw_content"},
		"a diff as the reason":           {derivable.Texts{Summary: "the limit was raised", Why: diff, HowToApply: diff}, "diff why, diff how_to_apply"},
		"nothing at all":                 {derivable.Texts{}, ""},
		"line ends of another system":    {derivable.Texts{Summary: strings.ReplaceAll(diff, "\n", "\r\n")}, "diff summary"},
		"line ends escaped on the way":   {derivable.Texts{Summary: strings.ReplaceAll(diff, "\n", `\n`)}, "diff summary"},
		"one line of a trace":            {derivable.Texts{Summary: "it fails in\n\t/src/pool.go:88 +0x1c5\nwhen the pool is closed twice"}, ""},
		"as many lines as may be quoted": {derivable.Texts{Summary: fenced(derivable.MaxCodeLines)}, ""},
		"one more":                       {derivable.Texts{Summary: fenced(derivable.MaxCodeLines + 1)}, "code_block summary"},
	} {
		var got []string
		for _, f := range derivable.Look(c.texts) {
			got = append(got, string(f.Rule)+" "+f.Field)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, r := range derivable.Rules() {
		if r.Said() == "" {
			t.Errorf("%s has no words", r)
		}
	}
}

func fenced(lines int) string {
	return "The loop:\n```go\n" + strings.Repeat("x = next(x)\n", lines) + "```\nin short"
}

// Any text is looked at in bounded time, and none twice with another answer.
func FuzzOf(f *testing.F) {
	for _, s := range positives(f) {
		f.Add(s.text)
	}
	f.Add("```\n```\n~~~")
	f.Add("@@ -1 +1 @@\n\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		first := derivable.Of(text)
		if again := derivable.Of(text); again != first {
			t.Errorf("%q and then %q", first, again)
		}
	})
}

// BenchmarkOf looks at 4 KB of prose, and of code that is just short enough.
func BenchmarkOf(b *testing.B) {
	for name, text := range map[string]string{
		"prose": strings.Repeat("The release is held back until the owner of billing has looked at it.\n", 58),
		"code":  strings.Repeat(fenced(18)+"\nThen it ends, which nobody would guess.\nSo look twice.\nAnd ask.\nAnd wait.\n", 12),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				derivable.Of(text)
			}
		})
	}
}
