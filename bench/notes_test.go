//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/api/client"
	"memd/configs"
	"memd/exchange/folder"
	"memd/exchange/notes"
)

// manyNotes are the notes of the folder that is imported.
const manyNotes = 10000

// BenchmarkNotes imports a folder of 10,000 notes over the socket, imports it again,
// exports it twice and, of a folder that was exported, imports it into another store,
// which brings every file up to date as well. Beside it stand reading and parsing the
// files alone, and writing the same rows without files, which bounds what an import can
// reach. It raises budgets.long_rows and active_bytes.
func BenchmarkNotes(b *testing.B) {
	dir := b.TempDir()
	requests := writeNotes(b, dir)
	took, used := map[string][]float64{}, map[string]time.Duration{} // seconds, processor time
	measure := func(what string, work func() error) {
		var err error
		cost := costOf(func() { err = work() })
		if err != nil {
			b.Fatal(err)
		}
		took[what] = append(took[what], cost.wall.Seconds())
		used[what] += cost.cpu
	}
	o := folder.Options{Dir: dir, Project: "project/x"}
	run := func(s client.Values, way func(context.Context, folder.Store, folder.Options) (*folder.Report, error), o folder.Options, want func(*folder.Report) int) func() error {
		return func() error {
			r, err := way(b.Context(), s, o)
			if err == nil && want(r) != manyNotes {
				err = fmt.Errorf("%d created, %d updated, %d unchanged, %d in conflict, %d refused", r.Created, r.Updated, r.Unchanged, r.Conflict, r.Refused)
			}
			return err
		}
	}
	created := func(r *folder.Report) int { return r.Created }
	unchanged := func(r *folder.Report) int { return r.Unchanged }
	for b.Loop() {
		s := notesDaemon(b)
		measure("parse", func() error { return parseAll(dir) })
		measure("import", run(s, folder.Import, o, created))
		measure("import-again", run(s, folder.Import, o, unchanged))
		rows := notesDaemon(b)
		measure("rows", func() error { return rememberAll(b.Context(), rows, requests) })
		out := folder.Options{Dir: filepath.Join(b.TempDir(), "out"), Project: "project/x"}
		measure("export", run(s, folder.Export, out, created))
		measure("export-again", run(s, folder.Export, out, unchanged))
		measure("import-exported", run(notesDaemon(b), folder.Import, out, created))
	}
	b.ReportMetric(0, "ns/op") // a sum of different things
	seconds := func(what string) float64 { return median(took[what]) }
	for what := range took {
		b.ReportMetric(manyNotes/seconds(what), what+"-files/s")
		b.ReportMetric(float64(used[what].Microseconds())/float64(manyNotes*len(took[what])), what+"-cpu-µs/file")
	}
	b.ReportMetric(manyNotes/(seconds("import")-seconds("parse")), "after-parse-files/s")
	b.ReportMetric(seconds("import-again")/seconds("import"), "again-ratio")
	b.ReportMetric(seconds("import")/seconds("rows"), "of-rows-ratio")
}

// writeNotes writes the folder, and returns the requests that its rows are made by.
func writeNotes(b *testing.B, dir string) []memd.RememberLongTerm {
	b.Helper()
	requests := make([]memd.RememberLongTerm, manyNotes)
	for i, text := range makeRows(manyNotes) {
		n := &notes.Note{Name: fmt.Sprintf("Note %d", i), Description: text, Type: notes.Reference, Body: text + "\n\n" + text, Tags: []string{"bench"}}
		path := notes.Path("", &notes.Note{Name: n.Name, MemoryKey: notes.KeyOf(n.Name)})
		path = filepath.Join(dir, strconv.Itoa(i%10), filepath.Base(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := n.Render(f); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		resolved, err := n.Resolve(notes.Place{Source: "n.md", Namespace: "project/x"})
		if err != nil {
			b.Fatal(err)
		}
		requests[i] = resolved.Request(0)
	}
	return requests
}

func notesDaemon(b *testing.B) client.Values {
	b.Helper()
	budgets := configs.DefaultBudgets()
	budgets.LongRows, budgets.ActiveBytes = manyNotes, 1<<40
	d, err := Serve(b.TempDir(), budgets, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.Error(err)
		}
	})
	return client.Values{Client: d.Client}
}

// parseAll reads and parses every note, on as many cores as there are.
func parseAll(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.md"))
	if err != nil {
		return err
	}
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(names)); i = next.Add(1) - 1 {
				f, err := os.Open(names[i])
				if err == nil {
					_, err = notes.Parse(f, "")
					_ = f.Close()
				}
				if err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// rememberAll writes rows as an import does, without files.
func rememberAll(ctx context.Context, s client.Values, requests []memd.RememberLongTerm) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(requests)); i = next.Add(1) - 1 {
				if _, err := s.RememberLongTerm(ctx, requests[i]); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
