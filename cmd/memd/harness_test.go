package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memd/api/client"
	"memd/internal/dirlock"
)

// patience bounds every wait of these tests. Nothing sleeps: what is waited
// for is asked again or read from a pipe.
const patience = 20 * time.Second

// The tests run the program as its users do: as a process.
func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "memd-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "memd"), ".")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return 1
	}
	if err := os.Setenv(binaryVariable, filepath.Join(dir, "memd")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// binaryVariable says where the program under test is.
const binaryVariable = "TEST_MEMD_BINARY"

// box is a data folder and the environment that leads to it.
type box struct {
	t   testing.TB
	dir string
	env []string
}

// newBox makes a box, and has the doctor look at it when the test ends.
func newBox(t testing.TB) *box {
	t.Helper()
	home, err := os.MkdirTemp("", "memd") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: filepath.Join(home, "d"), env: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "MEMD_DIR=" + filepath.Join(home, "d"),
		"MEMD_LISTEN=127.0.0.1:0", "MEMD_LOG_FORMAT=json",
		"MEMD_GROOM_SCHEDULE=@every 9000h", "MEMD_GROOM_LIGHT=@every 9000h", // whatever the hour, no groom but the tests' own
		"GORACE=atexit_sleep_ms=0", // a binary built with -race sleeps a second before it ends
	}}
	t.Cleanup(func() {
		if r := b.run("doctor"); r.code != 0 && !t.Failed() && !t.Skipped() {
			t.Errorf("the doctor says %d: %s%s", r.code, r.out, r.err)
		}
		_ = os.RemoveAll(home)
	})
	return b
}

// result is how a command ended.
type result struct {
	out, err string
	code     int
}

func (b *box) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv(binaryVariable), args...)
	cmd.Env = b.env
	cmd.Dir = filepath.Dir(b.dir)
	return cmd
}

// run runs a command to its end, with nothing on stdin.
func (b *box) run(args ...string) result { return b.feed("", args...) }

// feed runs a command with a text on stdin.
func (b *box) feed(stdin string, args ...string) result {
	b.t.Helper()
	cmd := b.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	return b.finish(cmd)
}

func (b *box) finish(cmd *exec.Cmd) result {
	b.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		b.t.Fatalf("%q: %v", cmd.Args[1:], err)
	}
	if cmd.ProcessState.ExitCode() < 0 {
		b.t.Errorf("%q was ended by %s", cmd.Args[1:], cmd.ProcessState)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command that has to succeed and returns what it printed.
func (b *box) must(args ...string) string {
	b.t.Helper()
	r := b.run(args...)
	if r.code != 0 {
		b.t.Fatalf("%q exits %d: %s", args, r.code, r.err)
	}
	return r.out
}

// field runs a command with --json and returns one string of the answer.
func (b *box) field(name string, args ...string) string {
	b.t.Helper()
	var answer map[string]any
	out := b.must(append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		b.t.Fatalf("%q: %v: %s", args, err, out)
	}
	value, _ := answer[name].(string)
	return value
}

// daemon is a running memd serve.
type daemon struct {
	box  *box
	cmd  *exec.Cmd
	tcp  string        // its TCP address
	done chan struct{} // closed when it has ended and its log is read
	log  record        // complete when done is closed
}

// serve starts a daemon and waits until it says that it listens.
func (b *box) serve(args ...string) *daemon {
	b.t.Helper()
	return b.start(b.command(append([]string{"serve"}, args...)...))
}

func (b *box) start(cmd *exec.Cmd) *daemon {
	b.t.Helper()
	d := &daemon{box: b, cmd: cmd, done: make(chan struct{})}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(d.done)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			d.log.WriteString(lines.Text() + "\n")
			var line struct{ Msg, TCP string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "memd listens" {
				ready <- line.TCP
			}
		}
		_ = d.cmd.Wait()
	}()
	b.t.Cleanup(d.kill)
	select {
	case d.tcp = <-ready:
	case <-d.done:
		b.t.Fatalf("the daemon ended before it listened: %s", d.log.String())
	case <-time.After(patience):
		b.t.Fatal("the daemon does not listen")
	}
	return d
}

func (d *daemon) signal(s os.Signal) {
	d.box.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.box.t.Fatal(err)
	}
}

// wait returns the exit code, -1 where a signal ended the daemon.
func (d *daemon) wait() int {
	d.box.t.Helper()
	select {
	case <-d.done:
	case <-time.After(patience):
		d.signal(syscall.SIGQUIT) // which has it tell where it stands
		<-d.done
		d.box.t.Fatalf("the daemon does not end: %s", d.log.String())
	}
	return d.cmd.ProcessState.ExitCode()
}

// stop ends the daemon in order.
func (d *daemon) stop() {
	d.box.t.Helper()
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code != 0 {
		d.box.t.Errorf("the daemon exits %d: %s", code, d.log.String())
	}
}

// kill ends it as a power cut would; it may have ended already.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

func (b *box) socket() string { return filepath.Join(b.dir, dirlock.SocketName) }

// client speaks to the daemon's socket.
func (b *box) client() *client.Client {
	c := client.New(client.Unix(b.socket()))
	b.t.Cleanup(c.Close)
	return c
}

// record is what a process says, read while it speaks.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) WriteString(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(text)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// eventually asks until yes says so.
func eventually(t testing.TB, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !yes(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// overTCP sends a request to the daemon's TCP address and returns the status.
func (d *daemon) overTCP(method, path, token, body string) int {
	d.box.t.Helper()
	req, err := http.NewRequest(method, "http://"+d.tcp+path, strings.NewReader(body))
	if err != nil {
		d.box.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.box.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
