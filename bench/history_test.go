//go:build unix

package bench

import (
	"cmp"
	"flag"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
)

// Size of the store that fills its budgets: an active database and as many
// historical ones as are kept, of 9.9 MiB each.
const (
	databases    = 21
	databaseRows = 9500
)

// fullBudgets let a full store stand as it is.
func fullBudgets() configs.Budgets {
	b := Room(databases * databaseRows)
	b.StoreBytes = 1 << 40
	return b
}

// fullStore makes a store of all databases in dir, of the same short rows that
// bare, unless it is "", gets in one.
func fullStore(b *testing.B, dir, bare string, texts []string) {
	b.Helper()
	made := make(chan struct{})
	go func() {
		defer close(made)
		if bare != "" {
			fill(b, bare, texts, len(texts))
		}
	}()
	fill(b, dir, texts, databaseRows)
	<-made
}

// fill writes one short row a text into a new store in dir, and rolls over
// after every so many.
func fill(b *testing.B, dir string, texts []string, every int) {
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Budgets: fullBudgets()})
	if err != nil {
		b.Error(err)
		return
	}
	rng := rand.New(rand.NewPCG(4, 4))
	now := s.Now()
	for first := 0; first < len(texts) && err == nil; first += every {
		if first > 0 {
			_, err = s.Rollover(b.Context())
		}
		last := min(first+every, len(texts))
		for n := first; n < last && err == nil; n += 500 {
			err = s.Update(b.Context(), func(tx *store.Tx) error {
				for i := n; i < min(n+500, last); i++ {
					m := shortRow(i, texts[i], now, rng)
					if err := tx.Insert(&m); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	if err != nil {
		b.Error(err)
	}
	if err := s.Close(); err != nil {
		b.Error(err)
	}
}

// BenchmarkRecall21 asks questions of a store that fills its budgets, an active
// and 20 historical databases of 9.9 MiB each, and by turns asks SQLite alone
// for the 50 best rows of the same words in one database of the same rows: of
// words taken from a row, and of the commonest words there are. Ratios are of
// CPU time; overlap is how much of the first ten the same question has among the
// first ten where every row that holds a word is read, up to the depth of a recall.
func BenchmarkRecall21(b *testing.B) {
	texts := makeRows(databases * databaseRows)
	dir, one := b.TempDir(), b.TempDir()
	fullStore(b, dir, one, texts)
	s := memtest.Store(b, dir, nil, func(into *configs.Budgets) { *into = fullBudgets() })
	began := time.Now()
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	indexed := time.Since(began)
	bare := bareSearch(b, filepath.Join(one, store.ActiveName))
	for _, of := range []struct {
		name      string
		questions []string
	}{{"questions", makeQuestions(texts, 200)}, {"common", commonQuestions(texts, 50)}} {
		b.Run(of.name, func(b *testing.B) {
			engine := recall.New(s, nil)
			askBoth(b, engine, of.questions, bare)
			b.ReportMetric(overlap(b, engine, of.questions[:min(len(of.questions), 50)]), "overlap@10")
			b.ReportMetric(indexed.Seconds(), "index-s")
			b.ReportMetric(float64(s.IndexBytes())/1e6, "index-MB")
		})
	}
}

// turn is how many questions memd and SQLite answer by turns. One at a time each
// finds in the processor's caches what the other left there.
var turn = flag.Int("recall.turn", 20, "questions that memd and SQLite answer by turns")

// askBoth asks memd and SQLite by turns and reports medians and 99th
// percentiles of their CPU time after a first question, with what memd allocates
// for one.
func askBoth(b *testing.B, engine *recall.Engine, questions []string, bare func(match string) error) {
	var ours, theirs []float64
	var before, after runtime.MemStats
	var allocated, objects uint64
	ask(b, engine, memd.Query{Query: questions[0]}) // which compiles statements in every database
	i := 0
	for b.Loop() {
		some := make([]string, *turn)
		for n := range some {
			some[n] = questions[i%len(questions)]
			i++
		}
		runtime.ReadMemStats(&before)
		for _, q := range some {
			ours = append(ours, milliseconds(costOf(func() { ask(b, engine, memd.Query{Query: q}) }).cpu))
		}
		runtime.ReadMemStats(&after)
		allocated, objects = allocated+after.TotalAlloc-before.TotalAlloc, objects+after.Mallocs-before.Mallocs
		for _, q := range some {
			theirs = append(theirs, milliseconds(costOf(func() {
				if err := bare(matchAny(q)); err != nil {
					b.Fatal(err)
				}
			}).cpu))
		}
	}
	b.ReportMetric(0, "ns/op") // a sum of both
	b.ReportMetric(float64(allocated)/float64(i)/1e3, "KB/recall")
	b.ReportMetric(float64(objects)/float64(i), "allocs/recall")
	for _, of := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		mine, its := quantile(ours, of.share), quantile(theirs, of.share)
		b.ReportMetric(mine, "recall-"+of.name+"-ms")
		b.ReportMetric(its, "bare-"+of.name+"-ms")
		b.ReportMetric(mine/its, of.name+"-ratio")
	}
}

// ask fails unless there is an answer.
func ask(b *testing.B, engine *recall.Engine, q memd.Query) memd.Answer {
	b.Helper()
	q.Touch = new(bool)
	answer, err := engine.Recall(b.Context(), memd.LocalAdmin(), q)
	if err != nil || len(answer.Results) == 0 {
		b.Fatalf("%d results, error %v", len(answer.Results), err)
	}
	return answer
}

// overlap is the share of first results that stay the same where all is read.
func overlap(b *testing.B, engine *recall.Engine, questions []string) float64 {
	same, all := 0, 0
	for _, q := range questions {
		got := ask(b, engine, memd.Query{Query: q})
		whole := ask(b, engine, memd.Query{Query: q, Explain: true})
		for _, want := range whole.Results {
			all++
			if slices.ContainsFunc(got.Results, func(h memd.Hit) bool { return h.ID == want.ID }) {
				same++
			}
		}
	}
	return float64(same) / float64(all)
}

// commonQuestions are made of the commonest words of some texts, stop words
// aside, three each.
func commonQuestions(texts []string, n int) []string {
	count := map[string]int{}
	for _, text := range texts[:min(len(texts), 2000)] {
		for _, word := range contentWords(text) {
			count[word]++
		}
	}
	words := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })[:12]
	rng := rand.New(rand.NewPCG(8, 8))
	questions := make([]string, n)
	for i := range questions {
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		questions[i] = strings.Join(words[:3], " ")
	}
	return questions
}

// quantile returns the value that a share of values does not pass; it sorts
// them.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	return values[min(len(values)-1, int(share*float64(len(values))))]
}

// BenchmarkStart21 takes the time from the start of the memd binary on a store
// that fills its budgets to its first 200 on /readyz and to its answer to one
// recall after that, and that of opening it and answering within a process.
func BenchmarkStart21(b *testing.B) {
	binary, dir := buildMemd(b), b.TempDir()
	fullStore(b, dir, "", makeRows(databases*databaseRows))
	coldStart(b, binary, databases*databaseRows, func() string { return dir })
}

// BenchmarkMemory21 reports the resident memory of a daemon that owns a store
// that fills its budgets: just started, and after 200 questions.
func BenchmarkMemory21(b *testing.B) {
	binary, dir := buildMemd(b), b.TempDir()
	fullStore(b, dir, "", makeRows(databases*databaseRows))
	idleMemory(b, binary, dir, databases*databaseRows)
}
