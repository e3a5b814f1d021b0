package secrets

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Floors of what is found and of what is right among it; for the shapes that
// were held out, which tell what to expect of a shape that nobody thought of,
// what was reached without looking at them.
const (
	minRecall    = 0.98
	minPrecision = 0.97
	minHeld      = 0.94
)

// tally counts how the lines of a corpus are judged.
type tally struct {
	secrets, found  int // lines that hold one; those whose secret is covered wholly
	harmless, wrong int // lines that hold none; findings where no secret stands, one a line
}

func (t tally) plus(u tally) tally {
	return tally{t.secrets + u.secrets, t.found + u.found, t.harmless + u.harmless, t.wrong + u.wrong}
}

func (t tally) recall() float64    { return float64(t.found) / float64(t.secrets) }
func (t tally) precision() float64 { return float64(t.found) / float64(t.found+t.wrong) }

func (t tally) String() string {
	return fmt.Sprintf("recall %.4f (%d of %d secrets), precision %.4f (%d false alarms; %d harmless lines)",
		t.recall(), t.found, t.secrets, t.precision(), t.wrong, t.harmless)
}

// covered reports whether every byte of a secret lies in a finding, and whether
// a finding lies beside it altogether.
func covered(s sample, found []Finding) (whole, beside bool) {
	missing := make([]bool, len(s.text))
	for _, at := range s.secrets {
		for i := at[0]; i < at[1]; i++ {
			missing[i] = s.text[i] > ' '
		}
	}
	for _, f := range found {
		for i := f.Start; i < f.End; i++ {
			missing[i] = false
		}
		beside = beside || !slices.ContainsFunc(s.secrets, func(at [2]int) bool { return f.Start < at[1] && f.End > at[0] })
	}
	return !slices.Contains(missing, true), beside
}

// Of the corpus 98 in 100 secrets are found wholly, and 97 in 100 findings are
// right.
func TestCorpus(t *testing.T) {
	tuned, heldOut := judge(t, New(Options{Key: []byte("k")}))
	all := tuned.plus(heldOut)
	for _, c := range []struct {
		name string
		tally
		recall, precision float64
	}{{"tuned by", tuned, minRecall, minPrecision}, {"held out", heldOut, minHeld, minHeld}, {"all", all, minRecall, minPrecision}} {
		t.Logf("%s: %v", c.name, c.tally)
		if c.tally.recall() < c.recall || c.tally.precision() < c.precision {
			t.Errorf("%s: below recall %.2f or precision %.2f", c.name, c.recall, c.precision)
		}
	}
}

// judge scans the corpus, and names what went wrong with the shapes that rules
// are tuned by.
func judge(t testing.TB, s *Scanner) (tuned, heldOut tally) {
	for _, path := range []string{"../testdata/secrets.tsv", "../testdata/harmless.tsv"} {
		for _, line := range samples(t, path) {
			sum := &tuned
			if held(line.shape) {
				sum = &heldOut
			}
			found := s.Scan(line.text)
			show := func(what string) {
				if !held(line.shape) || *showHeld {
					t.Logf("%s: %s: %q %v", what, line.shape, line.text, names(line.text, found))
				}
			}
			if len(line.secrets) == 0 {
				sum.harmless++
				if len(found) > 0 {
					sum.wrong++
					show("false alarm")
				}
				continue
			}
			sum.secrets++
			whole, beside := covered(line, found)
			if whole {
				sum.found++
			} else {
				show("missed")
			}
			if beside {
				sum.wrong++
				show("beside")
			}
		}
	}
	return tuned, heldOut
}

// names are findings as a test shows them: the texts of the corpus are made up.
func names(text string, found []Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.Rule+"="+strings.ReplaceAll(text[f.Start:f.End], "\n", `\n`))
	}
	return all
}
