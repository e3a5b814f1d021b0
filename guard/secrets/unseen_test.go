package secrets

import "testing"

// Floors for the lines of a stranger: what was reached without looking at them.
const (
	minStrangeRecall    = 0.92
	minStrangePrecision = 0.98
)

// Another hand wrote the lines of the files strangers_*.tsv, in shapes that it thought of
// without knowing any rule, and no rule was tuned by them: they tell what to expect of
// what the corpus has not. Names that stand beside a secret, such as the ids of access
// keys, are not marked there, and may be taken out with it.
func TestStrangers(t *testing.T) {
	var all tally
	s := New(Options{Key: []byte("k")})
	for _, line := range samples(t, "../testdata/strangers_secrets.tsv") {
		all.secrets++
		if whole, _ := covered(line, s.Scan(line.text)); whole {
			all.found++
		}
	}
	for _, line := range samples(t, "../testdata/strangers_harmless.tsv") {
		all.harmless++
		if len(s.Scan(line.text)) > 0 {
			all.wrong++
		}
	}
	t.Logf("strangers: %v", all)
	if all.recall() < minStrangeRecall || all.precision() < minStrangePrecision {
		t.Errorf("below recall %.2f or precision %.2f", minStrangeRecall, minStrangePrecision)
	}
}
