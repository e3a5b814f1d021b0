//go:build unix

package bench

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/store"
	"memd/tiers"
)

// Clients that work without a break while databases roll over.
const (
	rollWriters = 8
	rollReaders = 4
	readPause   = 5 * time.Millisecond // of a reader, who else would leave the writers no processor
)

// BenchmarkRollover rolls over an active database of 9.9 MiB, over and over,
// under load: clients that remember rows, and clients that read rows by id. It
// reports how long the requests took that met a rollover, and how long the
// rollover. Once by renames, and once by copies, as where a shell has the
// database open.
func BenchmarkRollover(b *testing.B) {
	b.Run("renames", func(b *testing.B) { rolloverPause(b, false) })
	b.Run("copy", func(b *testing.B) { rolloverPause(b, true) })
}

func rolloverPause(b *testing.B, foreign bool) {
	dir := b.TempDir()
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Budgets: fullBudgets()})
	if err != nil {
		b.Fatal(err)
	}
	l := &rollLoad{service: tiers.New(s), texts: makeRows(databaseRows), full: make(chan struct{}, 1)}
	stop := l.begin(b)
	var took []float64
	for b.Loop() {
		<-l.full // which also takes what a slow rollover left
		shell := func() {}
		if foreign {
			shell = openElsewhere(b, filepath.Join(dir, store.ActiveName))
		}
		began := time.Now()
		r, err := s.Rollover(b.Context())
		ended := time.Now()
		shell()
		if err != nil || !r.Rolled {
			b.Fatalf("%+v, error %v", r, err)
		}
		took = append(took, milliseconds(ended.Sub(began)))
		l.rolled(began, ended)
	}
	stop()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op") // most of it fills databases
	for _, of := range []struct {
		name  string
		waits []float64
	}{{"write", l.writes.met}, {"read", l.reads.met}, {"rollover", took}} {
		b.ReportMetric(quantile(of.waits, 0.5), of.name+"-p50-ms")
		b.ReportMetric(quantile(of.waits, 0.99), of.name+"-p99-ms")
		b.ReportMetric(quantile(of.waits, 1), of.name+"-max-ms")
	}
}

// rollLoad is the clients and what they measured.
type rollLoad struct {
	service       *tiers.Service
	texts         []string
	count         atomic.Int64  // rows written
	full          chan struct{} // told after every databaseRows
	writes, reads requests
}

// requests are those that ended lately.
type requests struct {
	mu    sync.Mutex
	ended []request
	met   []float64 // ms of those that met a rollover
}

type request struct{ began, ended time.Time }

// begin starts the clients. stop ends them.
func (l *rollLoad) begin(b *testing.B) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var clients sync.WaitGroup
	first, err := l.service.Remember(ctx, memd.LocalAdmin(), memd.Remember{Summary: "the row that is read"})
	if err != nil {
		b.Fatal(err)
	}
	client := func(into *requests, pause time.Duration, ask func() error) {
		clients.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(pause)
				began := time.Now()
				err := ask()
				if errors.Is(err, context.Canceled) {
					return
				}
				if err != nil {
					b.Error(err)
					return
				}
				into.add(request{began, time.Now()})
			}
		})
	}
	for range rollWriters {
		client(&l.writes, 0, func() error {
			n := l.count.Add(1)
			text := strconv.FormatInt(n, 10) + " " + l.texts[int(n)%len(l.texts)]
			_, err := l.service.Remember(ctx, memd.LocalAdmin(), memd.Remember{Summary: text})
			if n%databaseRows == 0 {
				select {
				case l.full <- struct{}{}:
				default:
				}
			}
			return err
		})
	}
	for range rollReaders {
		client(&l.reads, readPause, func() error {
			_, err := l.service.Get(ctx, memd.LocalAdmin(), first.ID)
			return err
		})
	}
	return func() {
		cancel()
		clients.Wait()
	}
}

// rolled takes the requests that met the rollover from began to ended.
func (l *rollLoad) rolled(began, ended time.Time) {
	// Those that are under way end soon: they wait for nothing any more.
	for _, r := range []*requests{&l.writes, &l.reads} {
		for last := ended; !last.After(ended.Add(20 * time.Millisecond)); {
			time.Sleep(time.Millisecond)
			r.mu.Lock()
			last = r.ended[len(r.ended)-1].ended
			r.mu.Unlock()
		}
		r.mu.Lock()
		for _, q := range r.ended {
			if q.began.Before(ended) && q.ended.After(began) {
				r.met = append(r.met, milliseconds(q.ended.Sub(q.began)))
			}
		}
		r.ended = r.ended[len(r.ended)-1:]
		r.mu.Unlock()
	}
}

func (r *requests) add(q request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, q)
}

// openElsewhere opens the database at path as a shell would. The caller must
// close it.
func openElsewhere(b *testing.B, path string) (done func()) {
	b.Helper()
	file := url.URL{Path: path}
	db, err := sql.Open(sql.Drivers()[0], "file:"+file.EscapedPath())
	if err != nil {
		b.Fatal(err)
	}
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM meta`).Scan(&rows); err != nil {
		b.Fatal(err)
	}
	return func() { db.Close() }
}
