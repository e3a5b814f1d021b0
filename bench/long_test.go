package bench

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
)

// BenchmarkLongQuery asks the longest and the widest queries there may be of a
// store of 20,000 short rows and, in the same run, ordinary questions. It
// reports the medians and their ratios.
func BenchmarkLongQuery(b *testing.B) {
	texts := makeRows(20000)
	s := memtest.Store(b, b.TempDir(), nil, func(budgets *configs.Budgets) { *budgets = Room(manyRows) })
	insertShort(b, s, texts)
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	engine := recall.New(s, nil)
	ordinary := makeQuestions(texts, 100)
	var distinct strings.Builder
	for i := range 5000 {
		distinct.WriteString("t" + strconv.Itoa(i) + " ")
	}
	var words strings.Builder
	for _, text := range texts {
		if words.Len() > 20000 {
			break
		}
		words.WriteString(text + " ")
	}
	queries := map[string]string{
		"distinct": distinct.String(),      // 5,000 terms, of which the store has few
		"words":    words.String()[:20000], // of the rows
		"repeated": strings.Repeat("a", 20000),
	}
	untouched := false
	ask := func(query string) time.Duration {
		began := time.Now()
		if _, err := engine.Recall(b.Context(), memd.LocalAdmin(), memd.Query{Query: query, Touch: &untouched}); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		took["ordinary"] = append(took["ordinary"], ask(ordinary[i%len(ordinary)]))
		for name, query := range queries {
			took[name] = append(took[name], ask(query))
		}
	}
	p50 := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][len(took[name])/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(p50("ordinary"), "ordinary-p50-ms")
	for name := range queries {
		b.ReportMetric(p50(name), name+"-p50-ms")
		b.ReportMetric(p50(name)/p50("ordinary"), name+"-ratio")
	}
}
