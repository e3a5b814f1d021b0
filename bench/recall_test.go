package bench

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/store/terms"
	"memd/tiers"
)

// BenchmarkRecall50k asks questions of a store of 50,000 short rows and, in
// the same run, asks SQLite alone for the 50 best rows of the same words. It
// reports the median of both and their ratio.
func BenchmarkRecall50k(b *testing.B) {
	texts := makeRows(50000)
	dir := b.TempDir()
	s := memtest.Store(b, dir, nil, func(budgets *configs.Budgets) { *budgets = Room(manyRows) })
	insertShort(b, s, texts)
	engine := recall.New(s, nil)
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	questions := makeQuestions(texts, 200)
	bare := bareSearch(b, filepath.Join(dir, store.ActiveName))

	untouched := false
	var ours, theirs []time.Duration
	i := 0
	for b.Loop() {
		q := questions[i%len(questions)]
		i++
		began := time.Now()
		answer, err := engine.Recall(b.Context(), memd.LocalAdmin(), memd.Query{Query: q, Touch: &untouched})
		ours = append(ours, time.Since(began))
		if err != nil || len(answer.Results) == 0 {
			b.Fatalf("%d results, error %v", len(answer.Results), err)
		}
		began = time.Now()
		if err := bare(matchAny(q)); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(began))
	}
	p50 := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(p50(ours), "recall-p50-ms")
	b.ReportMetric(p50(theirs), "bare-p50-ms")
	b.ReportMetric(p50(ours)/p50(theirs), "ratio")
}

// insertShort writes one short row a text, of various ages and importance.
func insertShort(b testing.TB, s *store.Set, texts []string) {
	b.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	now := s.Now()
	for first := 0; first < len(texts); first += 1000 {
		err := s.Update(context.Background(), func(tx *store.Tx) error {
			for i := first; i < min(first+1000, len(texts)); i++ {
				m := shortRow(i, texts[i], now, rng)
				if err := tx.Insert(&m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// shortRow is the nth short row of a store, at most four weeks old.
func shortRow(n int, text string, now memd.Time, rng *rand.Rand) memd.Memory {
	at := memd.At(now.Add(-time.Duration(rng.IntN(28*24)) * time.Hour))
	m := memd.Memory{
		ID: fmt.Sprintf("00000000-0000-7000-8000-%012d", n), Tier: memd.Short, Namespace: memd.DefaultNamespace,
		Kind: memd.Event, Importance: 1 + rng.IntN(10), SourceStatus: memd.SourceNone, Summary: text,
		CreatedAt: at, UpdatedAt: at, WrittenAt: at,
	}
	m.ContentHash = tiers.ContentHash(&m)
	return m
}

// makeQuestions returns n questions of eight content words each, taken from
// one row: who asks uses words of what they look for, rare and common.
func makeQuestions(texts []string, n int) []string {
	rng := rand.New(rand.NewPCG(5, 5))
	questions := make([]string, n)
	for i := range questions {
		words := contentWords(texts[rng.IntN(len(texts))])
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		questions[i] = "why is the " + strings.Join(words[:min(8, len(words))], " ") + " of it then?"
	}
	return questions
}

// contentWords returns the distinct words of a text that are no stop words.
func contentWords(text string) []string {
	var words []string
	for _, t := range terms.Query(text, 1<<10) {
		if !t.Stop {
			words = append(words, strings.Trim(t.Match, `"`))
		}
	}
	return words
}

// matchAny is the FTS5 expression for the content words of a question.
func matchAny(question string) string {
	return `"` + strings.Join(contentWords(question), `" OR "`) + `"`
}

// bareSearch returns a function that runs the bare keyword query, the way
// SQLite does it by itself on memd's own driver, on the database at path.
func bareSearch(b *testing.B, path string) func(match string) error {
	b.Helper()
	file := url.URL{Path: path}
	db, err := sql.Open(sql.Drivers()[0], "file:"+file.EscapedPath()+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1) // which keeps its pragmas
	if _, err := db.Exec(`PRAGMA cache_size = -4096`); err != nil {
		b.Fatal(err)
	}
	bare, err := db.Prepare(`SELECT rowid FROM short_fts WHERE short_fts MATCH ? ORDER BY rank LIMIT 50`)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		bare.Close()
		db.Close()
	})
	return func(match string) error {
		rows, err := bare.QueryContext(context.Background(), match)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var rid int64
			if err := rows.Scan(&rid); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}
