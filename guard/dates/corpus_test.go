package dates

import (
	"os"
	"strings"
	"testing"
	"time"
)

// monday is the day on which the corpus is written.
var monday = time.Date(2026, time.November, 30, 10, 0, 0, 0, time.UTC)

// corpus are the texts of testdata/corpus.tsv, with the dates that belong there.
func corpus(t testing.TB) (texts []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			texts = append(texts, line)
		}
	}
	return texts
}

func TestCorpus(t *testing.T) {
	told, alone := 0, 0
	for _, want := range corpus(t) {
		plain := Bare(want)
		if got := Absolute(plain, monday); got != want {
			t.Errorf("%s\n got %s", want, got)
		}
		if got := Absolute(want, monday.AddDate(0, 0, 40)); got != want {
			t.Errorf("again, later: %s\n got %s", want, got)
		}
		if got := Stripped(want); got != plain {
			t.Errorf("stripped: %s\n got %s", want, got)
		}
		if got := Carried(plain, want); got != want {
			t.Errorf("carried: %s\n got %s", want, got)
		}
		if plain == want {
			alone++
		} else {
			told++
		}
	}
	if told < 80 || alone < 80 {
		t.Errorf("%d texts with dates and %d without", told, alone)
	}
}
