package secrets

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// The library's rules find here what its own detector finds with them.
func TestLibrary(t *testing.T) {
	theirs, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	theirs.IgnoreGitleaksAllow = true
	ours := compiled.get().library
	texts := []string{"a: " + github + "\n\n", "tokens\n" + github + "\n" + github}
	for _, path := range []string{"../testdata/secrets.tsv", "../testdata/harmless.tsv"} {
		for _, s := range samples(t, path) {
			texts = append(texts, s.text)
		}
	}
	for _, path := range []string{"secrets.go", "scan_test.go", "harmless_test.go", "../../docs/operations.md", "../../go.sum"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	findings := 0
	for _, text := range texts {
		var want, got []string
		for _, f := range theirs.DetectString(text) {
			want = append(want, f.RuleID+" "+f.Secret)
		}
		findings += len(want)
		for _, h := range ours.matches(text) {
			// It leaves out a generic finding beside one with a form in the same line.
			if line := h.rule + " " + text[h.start:h.end]; h.rule != ruleGeneric || slices.Contains(want, line) {
				got = append(got, line)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.80q: %s", text, diff)
		}
	}
	if findings < 150 {
		t.Errorf("the detector has %d findings: too few to compare by", findings)
	}
}

// Every rule for texts has words that it begins at, so that a text without any
// is passed over.
func TestRulesHaveWords(t *testing.T) {
	for _, r := range compiled.get().library.rules {
		if len(r.Keywords) == 0 {
			t.Errorf("%s has none", r.RuleID)
		}
	}
}
