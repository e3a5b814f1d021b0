//go:build unix

package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
	"memd/tiers"
)

// writers are the clients that write beside a recall.
const writers = 8

// BenchmarkRecallBesideWrites asks questions of a store of 50,000 rows, in turns
// of 50 alone and of 50 while 8 clients write as fast as they are answered, and
// reports the 99th percentile of both and their ratio.
func BenchmarkRecallBesideWrites(b *testing.B) {
	texts := makeRows(manyRows)
	s := memtest.Store(b, "", nil, func(budgets *configs.Budgets) {
		*budgets = Room(4 * manyRows)
	})
	insertShort(b, s, texts)
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	engine, service := recall.New(s, nil), tiers.New(s)
	questions := makeQuestions(texts, 200)
	var quiet, loaded []float64
	var written atomic.Int64
	turn := 0
	for b.Loop() {
		stop := func() {}
		into := &quiet
		if turn%2 == 1 {
			stop, into = writeAlong(b, service, &written), &loaded
		}
		for i := range 50 {
			began := time.Now()
			ask(b, engine, memd.Query{Query: questions[(turn*50+i)%len(questions)]})
			*into = append(*into, milliseconds(time.Since(began)))
		}
		stop()
		turn++
	}
	if len(loaded) == 0 {
		return // the first turn, which only counts
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(quantile(quiet, 0.99), "quiet-p99-ms")
	b.ReportMetric(quantile(loaded, 0.99), "loaded-p99-ms")
	b.ReportMetric(quantile(loaded, 0.99)/quantile(quiet, 0.99), "p99-ratio")
	b.ReportMetric(quantile(loaded, 0.5)/quantile(quiet, 0.5), "p50-ratio")
	b.ReportMetric(float64(written.Load())/float64(turn/2), "writes/turn")
}

// writeAlong has clients write until the returned function is called, which
// waits for them.
func writeAlong(b *testing.B, service *tiers.Service, written *atomic.Int64) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var clients sync.WaitGroup
	for c := range writers {
		clients.Go(func() {
			for ctx.Err() == nil {
				n := written.Add(1)
				_, err := service.Remember(context.WithoutCancel(ctx), memd.LocalAdmin(), memd.Remember{
					Summary: fmt.Sprintf("client %d said in message %d that the deployment went well", c, n),
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		clients.Wait()
	}
}
