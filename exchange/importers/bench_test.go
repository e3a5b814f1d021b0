package importers_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/exchange/importers"
	"memd/exchange/importers/engram"
	"memd/exchange/importers/graph"
	"memd/exchange/importers/transcript"
)

// long is a file that is made while it is read: n parts between a beginning and an end.
type long struct {
	begin, end string
	part       func(i int) string
	n          int

	i    int // of the next part, -1 for the beginning
	rest string
}

func (l *long) Seek(int64, int) (int64, error) {
	l.i, l.rest = 0, l.begin
	return 0, nil
}

func (l *long) Read(p []byte) (int, error) {
	for l.rest == "" {
		switch {
		case l.i < l.n:
			l.rest = l.part(l.i)
		case l.i == l.n:
			l.rest = l.end
		default:
			return 0, io.EOF
		}
		l.i++
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// text are so many bytes of ordinary words.
func text(n int) string { return strings.Repeat("berth crane rail quay ", n/22) }

// forms are files of n entries, of some 4 KiB each.
func forms(n int) map[string]importers.Items {
	return map[string]importers.Items{
		"graph": graph.Read(&long{n: n, part: func(i int) string {
			return fmt.Sprintf(`{"type":"entity","name":"entity %d","entityType":"t","observations":["number %d is %s","of the dock"]}`+"\n", i, i, text(4000))
		}}, origin("memory.json")),
		"engram": engram.Read(&long{n: n, begin: `{"version":"0.1.0","observations":[{"id":0,"deleted_at":"x"}`, end: "]}", part: func(i int) string {
			return fmt.Sprintf(",\n"+`{"id":%d,"sync_id":"o%d","session_id":"s","type":"discovery","title":"number %d","content":"is %s","project":"p","updated_at":"2026-03-01 10:00:00"}`, i, i, i, text(4000))
		}}, engram.Options{Origin: origin("engram.json")}),
		"transcript": transcript.Read(&long{n: n, part: func(i int) string {
			at := dated.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
			return fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"s","timestamp":"%s","message":{"role":"user","content":"where is number %d?"}}`+"\n"+
				`{"type":"assistant","uuid":"a%d","sessionId":"s","timestamp":"%s","message":{"role":"assistant","content":[{"type":"text","text":"number %d: %s"}]}}`+"\n"+
				`{"type":"user","uuid":"t%d","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]}}`+"\n", i, at, i, i, at, i, text(1000), i, text(3000))
		}}, transcript.Options{Origin: origin("s.jsonl")}),
	}
}

// However large a file is, reading it takes no more memory than some entries do.
func TestBoundedMemory(t *testing.T) {
	const files, most = 12 << 20, 8 << 20
	for name, items := range forms(files / 4096) {
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n, peak := 0, uint64(0)
		for _, err := range items {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n%1000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
			}
		}
		if n != files/4096 || peak > before.HeapAlloc+most {
			t.Errorf("%s: %d entries of %d MiB took %d MiB", name, n, files>>20, int64(peak-before.HeapAlloc)>>20)
		}
	}
}

// BenchmarkImport is the import of 1,000 entries of 4 KiB into a store, and that again.
func BenchmarkImport(b *testing.B) {
	const n = 1000
	for name, items := range forms(n) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d := newDoor(b, func(budgets *configs.Budgets) { budgets.ActiveBytes = 1 << 30 })
				var took [2]time.Duration
				for i := range took {
					start := time.Now()
					r, err := importers.Run(b.Context(), d, items, importers.Options{Now: memd.At(d.clock.Now())})
					if took[i] = time.Since(start); err != nil || r.Refused > 0 {
						b.Fatal(errors.Join(err, r.Failed()))
					}
				}
				b.ReportMetric(n/took[0].Seconds(), "entries/s")
				b.ReportMetric(n/took[1].Seconds(), "again/s")
			}
		})
	}
}
