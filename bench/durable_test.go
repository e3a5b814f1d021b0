//go:build unix

package bench

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"memd"
	"memd/store"
	"memd/tiers"
)

// BenchmarkDurableWrites compares three ways to have rows acknowledged when
// they are durable, each with as many clients, and each client waiting for its
// answer before it writes the next row:
//
//   - rest: POST /v1/remember over the daemon's socket, see poster;
//   - service: tiers.Service.Remember, called in process;
//   - direct: store.Set.Update, called in process with the statements of a
//     remembered row and nothing else: rows made beforehand are neither
//     validated nor hashed, and no answer is made.
//
// The three write the same rows through the same writer to new stores, by
// turns, in rounds that each begin with another. A ratio is the median over the
// rounds of the direct way's time to the other's. The processor time of rest
// includes that of the clients.
func BenchmarkDurableWrites(b *testing.B) {
	texts := makeRows(writeRows)
	requests := rememberRequests(b, texts)
	ways := []struct {
		name  string
		write func(b *testing.B, dir string, n int) cost
	}{
		{"rest", func(b *testing.B, dir string, n int) cost { return writeREST(b, dir, requests, n) }},
		{"service", func(b *testing.B, dir string, n int) cost { return writeService(b, dir, texts, n) }},
		{"direct", func(b *testing.B, dir string, n int) cost { return writeDirect(b, dir, texts, n) }},
	}
	for _, n := range []int{1, 8, 32} {
		b.Run("clients="+strconv.Itoa(n), func(b *testing.B) {
			rounds := make(map[string][]cost, len(ways))
			for b.Loop() {
				first := len(rounds["direct"]) % len(ways)
				for _, way := range slices.Concat(ways[first:], ways[:first]) {
					rounds[way.name] = append(rounds[way.name], way.write(b, b.TempDir(), n))
				}
			}
			b.ReportMetric(0, "ns/op") // a sum of three different things
			for _, way := range ways {
				reportWrites(b, way.name, rounds[way.name], rounds["direct"])
			}
		})
	}
}

// reportWrites reports the rounds of one way, and how they compare to direct's.
func reportWrites(b *testing.B, name string, rounds, direct []cost) {
	var rates, cpus, ratios, cpuRatios []float64
	for i, c := range rounds {
		rates = append(rates, writeRows/c.wall.Seconds())
		cpus = append(cpus, float64(c.cpu.Microseconds())/writeRows)
		ratios = append(ratios, direct[i].wall.Seconds()/c.wall.Seconds())
		cpuRatios = append(cpuRatios, direct[i].cpu.Seconds()/c.cpu.Seconds())
	}
	b.ReportMetric(median(rates), name+"-rows/s")
	b.ReportMetric(median(cpus), name+"-cpu-µs/row")
	if name != "direct" {
		b.ReportMetric(median(ratios), name+"-ratio")
		b.ReportMetric(median(cpuRatios), name+"-cpu-ratio")
	}
}

// writeAll lets every writer write one of writeRows rows after the other until
// all are written, and returns what that took.
func writeAll(b *testing.B, writers []func(row int) error) cost {
	b.Helper()
	var next atomic.Int64
	failed := make(chan error, len(writers))
	runtime.GC() // the garbage of what was before is not this one's
	took := costOf(func() {
		var running sync.WaitGroup
		for _, write := range writers {
			running.Go(func() {
				for row := int(next.Add(1)) - 1; row < writeRows; row = int(next.Add(1)) - 1 {
					if err := write(row); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		running.Wait()
	})
	close(failed)
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
	return took
}

// writeREST writes the rows of requests with n clients, each with a connection
// of its own, as processes would.
func writeREST(b *testing.B, dir string, requests [][]byte, n int) cost {
	b.Helper()
	d, err := Serve(dir, Room(writeRows), nil)
	if err != nil {
		b.Fatal(err)
	}
	writers := make([]func(int) error, n)
	posters := make([]*poster, n)
	for k := range n {
		p := newPoster(b, dir)
		posters[k] = p
		writers[k] = func(row int) error { return p.post(requests[row]) }
	}
	took := writeAll(b, writers)
	for _, p := range posters {
		err = errors.Join(err, p.Close())
	}
	if err := errors.Join(err, d.Close()); err != nil {
		b.Fatal(err)
	}
	return took
}

func writeService(b *testing.B, dir string, texts []string, n int) cost {
	b.Helper()
	return writeStore(b, dir, n, func(s *store.Set) func(int) error {
		service, caller := tiers.New(s), memd.LocalAdmin()
		return func(row int) error {
			_, err := service.Remember(b.Context(), caller, memd.Remember{Summary: texts[row]})
			return err
		}
	})
}

func writeDirect(b *testing.B, dir string, texts []string, n int) cost {
	b.Helper()
	return writeStore(b, dir, n, func(s *store.Set) func(int) error {
		rows := madeRows(b, texts, s.Now())
		return func(row int) error { return insertDirect(b.Context(), s, &rows[row]) }
	})
}

// writeStore writes with n goroutines into a new store in dir.
func writeStore(b *testing.B, dir string, n int, writer func(*store.Set) func(int) error) cost {
	b.Helper()
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Budgets: Room(writeRows)})
	if err != nil {
		b.Fatal(err)
	}
	took := writeAll(b, slices.Repeat([]func(int) error{writer(s)}, n))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

// madeRows returns the rows as which texts are remembered.
func madeRows(tb testing.TB, texts []string, now memd.Time) []memd.Memory {
	tb.Helper()
	rows := make([]memd.Memory, len(texts))
	for i, text := range texts {
		id, err := uuid.NewV7()
		if err != nil {
			tb.Fatal(err)
		}
		rows[i] = memd.Memory{
			ID: id.String(), Tier: memd.Short, Namespace: memd.DefaultNamespace, Kind: memd.Event, Summary: text,
			Importance: memd.DefaultImportance, SourceStatus: memd.SourceNone, Tags: []string{}, Access: []string{},
			CreatedAt: now, UpdatedAt: now, WrittenAt: now,
		}
		rows[i].ContentHash = tiers.ContentHash(&rows[i])
	}
	return rows
}

// insertDirect writes m with the statements that tiers.Service.Remember runs
// for content that does not stand yet: the look for equal content, the count
// against the row budget, the row and its audit entry.
func insertDirect(ctx context.Context, s *store.Set, m *memd.Memory) error {
	return s.Update(ctx, func(tx *store.Tx) error {
		if has, err := tx.HasContent(m.Namespace, m.ContentHash); has || err != nil {
			return errors.Join(err, errors.New("the content stands already"))
		}
		if _, err := tx.Rows(memd.Short); err != nil {
			return err
		}
		if err := tx.Insert(m); err != nil {
			return err
		}
		return tx.Audit(store.Entry{At: m.WrittenAt, Caller: memd.LocalAdmin().Name, Action: "remember", ID: m.ID, Namespace: m.Namespace})
	})
}

// The direct way leaves behind what the service does.
func TestDirectRow(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC) }
	texts := makeRows(1)
	written := func(write func(*store.Set) error) []table {
		dir := t.TempDir()
		s, err := store.Open(t.Context(), store.Options{Dir: dir, Budgets: Room(1), Now: now})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(s), s.Close()); err != nil {
			t.Fatal(err)
		}
		tables := []table{readTable(t, dir, "short"), readTable(t, dir, "audit")}
		for _, table := range tables { // the id alone is random
			for i, column := range table.columns {
				if column == "id" || column == "memory_id" {
					table.rows[0][i] = ""
				}
			}
		}
		return tables
	}
	want := written(func(s *store.Set) error {
		_, err := tiers.New(s).Remember(t.Context(), memd.LocalAdmin(), memd.Remember{Summary: texts[0]})
		return err
	})
	got := written(func(s *store.Set) error {
		return insertDirect(t.Context(), s, &madeRows(t, texts, s.Now())[0])
	})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(table{})); diff != "" {
		t.Errorf("the direct way differs from the service (-service +direct):\n%s", diff)
	}
}
