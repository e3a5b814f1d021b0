//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/exchange/jsonl"
)

// BenchmarkWholeStore measures the built binary as it takes a file of lines into an empty
// folder, as it does so again, and as it writes the store out, with no daemon: the time
// of each process, its start included, and the most memory that it had resident. Rows are
// short; row budgets have room for them, and bytes are those of the default.
func BenchmarkWholeStore(b *testing.B) {
	for _, c := range []struct {
		name      string
		rows, raw int // bytes of raw_content
	}{
		{"rows=40000", 40000, 0},
		{"rows=5000,raw=32KB", 5000, 32 << 10}, // most of the 200 MiB of budgets.store_bytes
	} {
		b.Run(c.name, func(b *testing.B) {
			binary, file := buildMemd(b), filepath.Join(b.TempDir(), "lines")
			size := writeLines(b, file, c.rows, c.raw)
			for b.Loop() {
				dir := b.TempDir()
				budgets := configs.DefaultBudgets()
				budgets.ShortRows = 2 * c.rows // or the second import would first look what is new
				env := append([]string{"HOME=" + dir, "MEMD_DIR=" + filepath.Join(dir, "d")}, budgetEnv(budgets)...)
				for _, step := range []struct{ name, command string }{{"import", "import"}, {"again", "import"}, {"export", "export"}} {
					cmd := exec.CommandContext(b.Context(), binary, step.command, "--jsonl", file)
					cmd.Env = env
					began := time.Now()
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%s: %v\n%s", step.name, err, out)
					}
					took := time.Since(began).Seconds()
					b.ReportMetric(float64(c.rows)/took, step.name+"-rows/s")
					b.ReportMetric((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()*1e6/float64(c.rows), step.name+"-cpu-µs/row")
					b.ReportMetric(mostResident(cmd), step.name+"-MB-resident")
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(size)/1e6, "file-MB")
		})
	}
}

// mostResident is the most memory that an ended process had, in MB.
func mostResident(cmd *exec.Cmd) float64 {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes there
		return float64(usage.Maxrss) / 1e6
	}
	return float64(usage.Maxrss) * 1024 / 1e6
}

// writeLines writes a file of rows with so many bytes of raw_content, and returns its size.
func writeLines(b *testing.B, path string, rows, raw int) int64 {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w, err := jsonl.NewWriter(f, jsonl.Header{Memd: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	texts := makeRows(rows)
	for i, text := range texts {
		rec := memd.Record{Type: memd.MemoryRecord, ID: fmt.Sprintf("01a00000-0000-7000-8000-%012x", i), Tier: memd.Short, Summary: text,
			CreatedAt: memd.At(time.Date(2026, 1, 1, 0, 0, i%3600, 0, time.UTC))}
		for j := i; len(rec.RawContent) < raw; j++ {
			rec.RawContent += texts[j%rows] + "\n"
		}
		rec.RawContent = strings.TrimSpace(rec.RawContent[:min(raw, len(rec.RawContent))])
		if err := w.Write(&rec); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return info.Size()
}
