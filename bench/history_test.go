//go:build unix

package bench

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
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
// for the 50 best rows of the same words in one database of the same rows.
func BenchmarkRecall21(b *testing.B) {
	texts := makeRows(databases * databaseRows)
	dir, one := b.TempDir(), b.TempDir()
	fullStore(b, dir, one, texts)
	s := memtest.Store(b, dir, nil, func(into *configs.Budgets) { *into = fullBudgets() })
	engine := recall.New(s, nil)
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	questions := makeQuestions(texts, 200)
	bare := bareSearch(b, filepath.Join(one, store.ActiveName))

	untouched := false
	var ours, theirs []float64
	i := 0
	for b.Loop() {
		q := questions[i%len(questions)]
		i++
		began := time.Now()
		answer, err := engine.Recall(b.Context(), memd.LocalAdmin(), memd.Query{Query: q, Touch: &untouched})
		ours = append(ours, milliseconds(time.Since(began)))
		if err != nil || len(answer.Results) == 0 {
			b.Fatalf("%d results, error %v", len(answer.Results), err)
		}
		began = time.Now()
		if err := bare(matchAny(q)); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, milliseconds(time.Since(began)))
	}
	b.ReportMetric(0, "ns/op") // a sum of both
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
