//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"memd"
	"memd/api/client"
	"memd/configs"
	"memd/internal/dirlock"
	"memd/store"
)

// buildMemd builds the daemon as it is released and returns the binary.
func buildMemd(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "memd")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "memd/cmd/memd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build memd: %v\n%s", err, out)
	}
	return binary
}

// filledDir makes a data folder that holds rows short rows.
func filledDir(b *testing.B, rows int) string {
	b.Helper()
	dir := b.TempDir()
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Budgets: Room(rows)})
	if err != nil {
		b.Fatal(err)
	}
	insertShort(b, s, makeRows(rows))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}

// process is a running `memd serve`.
type process struct {
	cmd    *exec.Cmd
	client *client.Client
	log    strings.Builder
	ready  time.Duration // from the start of the process to 200 on /readyz
}

// pollEvery is how often a starting daemon is asked whether it is ready.
const pollEvery = 200 * time.Microsecond

// startMemd starts the daemon on dir, under the budgets that Room gives, and
// waits until it is ready.
func startMemd(b *testing.B, binary, dir string, rows int) *process {
	b.Helper()
	p := &process{client: client.New(client.Unix(filepath.Join(dir, dirlock.SocketName)))}
	p.cmd = exec.CommandContext(b.Context(), binary, "serve", "--dir", dir, "--listen", "off")
	p.cmd.Env = append([]string{"HOME=" + dir}, budgetEnv(Room(rows))...)
	p.cmd.Stderr = &p.log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for p.client.Ready(ctx) != nil {
		if ctx.Err() != nil {
			p.stop(b)
			b.Fatalf("memd was not ready within a minute:\n%s", p.log.String())
		}
		time.Sleep(pollEvery)
	}
	p.ready = time.Since(began)
	return p
}

// ask asks the daemon one question and returns how long the answer took; it
// fails the benchmark when nothing is found but something must be.
func (p *process) ask(b *testing.B, question string, must bool) time.Duration {
	b.Helper()
	untouched := false
	began := time.Now()
	reply, err := p.client.Recall(b.Context(), memd.Query{Query: question, Touch: &untouched})
	took := time.Since(began)
	if err != nil || must && len(reply.Value.Results) == 0 {
		b.Fatalf("%d results, error %v", len(reply.Value.Results), err)
	}
	return took
}

// stop ends the daemon and waits for it.
func (p *process) stop(b *testing.B) {
	b.Helper()
	p.client.Close()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		b.Fatalf("memd ended with %v:\n%s", err, p.log.String())
	}
}

// budgetEnv is the environment that puts budgets in force.
func budgetEnv(budgets configs.Budgets) []string {
	var env []string
	for _, setting := range budgets.Map() {
		env = append(env, "MEMD_BUDGETS_"+strings.ToUpper(setting.Key)+"="+setting.Value)
	}
	return env
}

// resident returns a field of the process's status in MB: VmRSS is all of its
// resident memory, RssAnon what the system could not drop and read again.
func (p *process) resident(b *testing.B, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if os.IsNotExist(err) {
		b.Skip("resident memory is read from /proc")
	}
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	b.Fatalf("the status of the process has no field %s", field)
	return 0
}
