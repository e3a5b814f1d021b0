//go:build unix

package bench

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"memd"
	"memd/recall"
	"memd/store"
)

// manyRows is the size of the store that the benchmarks call large.
const manyRows = 50000

// median returns the middle of values; it sorts them.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// BenchmarkColdStart takes the time from the start of the memd binary to its
// first 200 on /readyz, and to its answer to one recall after that; beside it
// that of opening the same database and answering the same recall within a
// running process. The difference is what a process of its own, the lock, the
// socket, the routes and the write probe cost.
func BenchmarkColdStart(b *testing.B) {
	binary := buildMemd(b)
	b.Run("empty", func(b *testing.B) {
		coldStart(b, binary, 0, func() string { return b.TempDir() })
	})
	b.Run("rows="+strconv.Itoa(manyRows), func(b *testing.B) {
		dir := filledDir(b, manyRows)
		coldStart(b, binary, manyRows, func() string { return dir })
	})
}

// coldStart measures on the folders that dir gives, which hold rows rows.
func coldStart(b *testing.B, binary string, rows int, dir func() string) {
	question := makeQuestions(makeRows(1000), 1)[0]
	var readies, answers, opens []float64
	for b.Loop() {
		p := startMemd(b, binary, dir(), rows)
		readies = append(readies, milliseconds(p.ready))
		answers = append(answers, milliseconds(p.ready+p.ask(b, question, rows > 0)))
		p.stop(b)
		opens = append(opens, milliseconds(openAndAsk(b, dir(), rows, question)))
	}
	b.ReportMetric(0, "ns/op") // a sum of all, and of what is between
	b.ReportMetric(median(readies), "ready-ms")
	b.ReportMetric(median(answers), "answered-ms")
	b.ReportMetric(median(opens), "open-ms")
	b.ReportMetric(median(readies)/median(opens), "ratio")
	b.ReportMetric(median(answers)/median(opens), "answered-ratio")
}

// openAndAsk opens the store in dir, in this process, and asks one question.
func openAndAsk(b *testing.B, dir string, rows int, question string) time.Duration {
	b.Helper()
	untouched := false
	began := time.Now()
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Budgets: Room(rows)})
	if err != nil {
		b.Fatal(err)
	}
	answer, err := recall.New(s, nil).Recall(b.Context(), memd.LocalAdmin(), memd.Query{Query: question, Touch: &untouched})
	took := time.Since(began)
	if err != nil || rows > 0 && len(answer.Results) == 0 {
		b.Fatalf("%d results, error %v", len(answer.Results), err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

// settle is how long a daemon is left alone before it counts as idle.
const settle = 3 * time.Second

// BenchmarkIdleMemory reports the resident memory of a daemon that owns a
// large store and does nothing: just started, and after some questions.
func BenchmarkIdleMemory(b *testing.B) {
	idleMemory(b, buildMemd(b), filledDir(b, manyRows), manyRows)
}

// idleMemory measures on the folder dir, which holds rows rows.
func idleMemory(b *testing.B, binary, dir string, rows int) {
	questions := makeQuestions(makeRows(1000), 200)
	for b.Loop() {
		p := startMemd(b, binary, dir, rows)
		time.Sleep(settle)
		b.ReportMetric(p.resident(b, "VmRSS"), "idle-MB")
		b.ReportMetric(p.resident(b, "RssAnon"), "idle-anon-MB")
		for _, q := range questions {
			p.ask(b, q, true)
		}
		time.Sleep(settle)
		b.ReportMetric(p.resident(b, "VmRSS"), "used-MB")
		b.ReportMetric(p.resident(b, "RssAnon"), "used-anon-MB")
		p.stop(b)
	}
	b.ReportMetric(0, "ns/op")
}
