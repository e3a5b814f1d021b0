//go:build unix

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// groomRows are the rows of a store of about 200 MiB.
const groomRows = 185_000

// groomBudgets keep all of them, in databases of the usual size.
func groomBudgets(b *configs.Budgets) {
	b.HistoryFiles, b.StoreBytes = 1000, 1<<40
	b.ShortRows, b.ArchiveRows, b.LongRows = 1<<30, 1<<30, 1<<30
}

// BenchmarkGroom runs a full groom over a store of 185,000 rows in some 20
// databases, where passes that judge are capped, while a client asks one question
// after the other. It reports the seconds that takes, the size of the store, and
// the 99th percentile of questions before and meanwhile.
func BenchmarkGroom(b *testing.B) {
	texts := makeRows(groomRows)
	s := memtest.Store(b, "", nil, groomBudgets)
	insertToGroom(b, s, texts)
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	engine, runner := recall.New(s, nil), groom.New(s, nil)
	questions := makeQuestions(texts, 1000)
	n := 0
	question := func() float64 {
		began := time.Now()
		ask(b, engine, memd.Query{Query: questions[n%len(questions)]})
		n++
		return milliseconds(time.Since(began))
	}
	for b.Loop() {
		var quiet, loaded []float64
		for range 500 {
			quiet = append(quiet, question())
		}
		bytes := storeBytes(b, s)
		done := make(chan groom.Report)
		began := time.Now()
		go func() {
			report, err := runner.Run(b.Context(), groom.Options{})
			if err != nil {
				b.Error(err)
			}
			done <- report
		}()
		var report groom.Report
		for report.Passes == nil {
			select {
			case report = <-done:
			default:
				loaded = append(loaded, question())
			}
		}
		took := time.Since(began)
		changed := 0
		for _, p := range report.Passes {
			changed += p.Changed
			b.Logf("%-18s planned %6d changed %6d %8d bytes", p.Name, p.Planned, p.Changed, p.Bytes)
			if p.Error != "" {
				b.Errorf("%s: %s", p.Name, p.Error)
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(took.Seconds(), "s")
		b.ReportMetric(float64(changed), "changed")
		b.ReportMetric(float64(bytes)/(1<<20), "MiB")
		b.ReportMetric(quantile(quiet, 0.99), "quiet-p99-ms")
		b.ReportMetric(quantile(loaded, 0.99), "loaded-p99-ms")
		b.ReportMetric(quantile(loaded, 1), "loaded-max-ms")
		b.ReportMetric(quantile(loaded, 0.99)/quantile(quiet, 0.99), "p99-ratio")
		b.ReportMetric(quantile(loaded, 0.5)/quantile(quiet, 0.5), "p50-ratio")
	}
}

// BenchmarkGroomPlan makes a dry run over stores of different sizes.
func BenchmarkGroomPlan(b *testing.B) {
	for _, rows := range []int{10_000, 50_000, 150_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			s := memtest.Store(b, "", nil, groomBudgets)
			insertToGroom(b, s, makeRows(rows))
			runner := groom.New(s, nil)
			for b.Loop() {
				if _, err := runner.Run(b.Context(), groom.Options{DryRun: true}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(rows), "µs/row")
		})
	}
}

// insertToGroom fills a store with rows of all ages: of ten 7 short ones, 2 in the
// archive, and one that is a version of a key, of which each has 25.
func insertToGroom(b *testing.B, s *store.Set, texts []string) {
	rng := rand.New(rand.NewPCG(6, 6))
	now := s.Now()
	for first := 0; first < len(texts); first += 500 {
		err := s.Update(b.Context(), func(tx *store.Tx) error {
			for i := first; i < min(first+500, len(texts)); i++ {
				if err := insertAged(tx, i, texts[i], now, rng); err != nil {
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

func insertAged(tx *store.Tx, n int, text string, now memd.Time, rng *rand.Rand) error {
	m := shortRow(n, text, now, rng)
	switch n % 10 {
	case 0:
		key := n / 250
		m.Tier, m.Kind, m.Source, m.SourceStatus, m.VerifiedAt = memd.Long, memd.Fact, "AGENTS.md", memd.SourceUnchecked, m.WrittenAt
		m.MemoryKey, m.Version = fmt.Sprint("key-", key), 1+n/10%25
		m.ContentHash = tiers.ContentHash(&m)
		if err := tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: m.Version, ID: m.ID}); err != nil {
			return err
		}
	case 1, 2:
		m.Tier = memd.Archive
		m.WrittenAt = memd.At(now.Add(-time.Duration(rng.IntN(2*365*24)) * time.Hour))
	}
	return tx.Insert(&m)
}

// storeBytes is the size of all databases.
func storeBytes(b *testing.B, s *store.Set) (sum int64) {
	files, err := filepath.Glob(filepath.Join(s.Dir(), store.HistoryDir, "*.db"))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range append(files, filepath.Join(s.Dir(), store.ActiveName)) {
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}
