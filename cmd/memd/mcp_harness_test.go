package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"memd/internal/background"
	"memd/internal/dirlock"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// said is a line of an MCP server's stdout.
type said struct {
	Version string `json:"jsonrpc"`
	ID      any
	Result  *struct {
		IsError    bool
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Text string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

// heard reads one line, which must be a message of the protocol.
func heard(text []byte) (s said, err error) {
	var members map[string]json.RawMessage
	if err = json.Unmarshal(text, &members); err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil && (s.Version != "2.0" || members["method"] == nil && (members["id"] == nil || (s.Result == nil) == (s.Error == nil))) {
		err = errors.New("no JSON-RPC message")
	}
	return s, err
}

// agent is a client that started memd mcp.
type agent struct {
	box    *box
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan said // closed when stdout is
	heard  map[any]said
	errs   bytes.Buffer
	done   chan struct{}
	nextID int
}

// agent starts memd mcp and greets it.
func (b *box) agent(args ...string) *agent {
	b.t.Helper()
	return b.greet(b.command(append([]string{"mcp"}, args...)...))
}

func (b *box) greet(cmd *exec.Cmd) *agent {
	b.t.Helper()
	b.endsDaemon()
	a := &agent{box: b, cmd: cmd, lines: make(chan said, 1000), heard: map[any]said{}, done: make(chan struct{})}
	var err error
	if a.in, err = cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd.Stderr = &a.errs
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		defer close(a.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			s, err := heard(lines.Bytes())
			if err != nil {
				b.t.Errorf("stdout: %q: %v", lines.Text(), err)
			}
			a.lines <- s
		}
		close(a.lines)
		_ = cmd.Wait()
	}()
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-a.done
	})
	a.say(hello)
	if s := a.hear("hello"); s.Result == nil {
		b.t.Fatalf("greeted with %+v", s)
	}
	return a
}

// endsDaemon has the daemon of the box that runs when the test ends, whoever
// started it, end before the doctor comes.
func (b *box) endsDaemon() {
	b.t.Cleanup(func() {
		if pid, held, _ := dirlock.Holder(b.dir); held && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		b.free()
	})
}

// free waits until nobody has the data folder, if there is one.
func (b *box) free() {
	b.t.Helper()
	if _, err := os.Stat(b.dir); err != nil {
		return
	}
	lock, err := dirlock.Acquire(context.Background(), b.dir, patience, dirlock.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		b.t.Fatal(err)
	}
}

// daemonPID is the process that has the folder.
func (b *box) daemonPID() int {
	b.t.Helper()
	pid, held, err := dirlock.Holder(b.dir)
	if err != nil || !held {
		b.t.Fatalf("no daemon runs (%v): %s", err, b.daemonLog())
	}
	return pid
}

// daemonLog is what daemons that were started in the background said.
func (b *box) daemonLog() string {
	text, _ := os.ReadFile(filepath.Join(b.dir, background.LogName))
	return string(text)
}

func (a *agent) say(text string) {
	a.box.t.Helper()
	if _, err := io.WriteString(a.in, text); err != nil {
		a.box.t.Fatal(err)
	}
}

// hear waits for the answer of an id, and keeps those of others.
func (a *agent) hear(id any) said {
	a.box.t.Helper()
	late := time.After(patience)
	for {
		if s, ok := a.heard[id]; ok {
			delete(a.heard, id)
			return s
		}
		select {
		case s, ok := <-a.lines:
			if !ok {
				<-a.done
				a.box.t.Fatalf("it ended without an answer to %v: %s", id, a.errs.String())
			}
			a.heard[s.ID] = s
		case <-late:
			a.box.t.Fatalf("no answer to %v", id)
		}
	}
}

// ask sends a call of a tool, whose answer comes under the id.
func (a *agent) ask(tool, args string) (id any) {
	a.box.t.Helper()
	a.nextID++
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", a.nextID, tool, args))
	return float64(a.nextID)
}

// answer is what a tool answered.
type answer struct {
	isError bool
	fields  map[string]any
	text    string
}

func (s said) answer(t testing.TB) answer {
	t.Helper()
	if s.Result == nil {
		t.Fatalf("answered %+v", s.Error)
	}
	a := answer{isError: s.Result.IsError, fields: map[string]any{}}
	if err := json.Unmarshal(s.Result.Structured, &a.fields); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Result.Content {
		a.text += c.Text
	}
	return a
}

// call calls a tool, which must answer.
func (a *agent) call(tool, args string) answer {
	a.box.t.Helper()
	got := a.hear(a.ask(tool, args)).answer(a.box.t)
	if got.isError {
		a.box.t.Fatalf("%s is refused: %s; the daemon says %s", tool, got.text, a.box.daemonLog())
	}
	return got
}

// refused calls a tool, which must refuse.
func (a *agent) refused(tool, args string) answer {
	a.box.t.Helper()
	got := a.hear(a.ask(tool, args)).answer(a.box.t)
	if !got.isError {
		a.box.t.Fatalf("%s is answered: %s", tool, got.text)
	}
	return got
}

// ends waits for the end and returns how long it took and the exit code.
func (a *agent) ends() (time.Duration, int) {
	a.box.t.Helper()
	began := time.Now()
	late := time.After(patience)
	for {
		select {
		case _, ok := <-a.lines: // whoever waits for the end reads to the end
			if ok {
				continue
			}
			<-a.done
			return time.Since(began), a.cmd.ProcessState.ExitCode()
		case <-late:
			_ = a.cmd.Process.Signal(syscall.SIGQUIT) // which has it tell where it stands
			<-a.done
			a.box.t.Fatalf("it does not end: %s", a.errs.String())
		}
	}
}

// close closes stdin and wants the end in time.
func (a *agent) close() {
	a.box.t.Helper()
	_ = a.in.Close()
	a.inTime()
}

// endTime is how long memd mcp may run without a client: two seconds by contract,
// and one for a machine that is busy elsewhere.
const endTime = 3 * time.Second

func (a *agent) inTime() {
	a.box.t.Helper()
	if took, code := a.ends(); took > endTime || code != 0 {
		a.box.t.Errorf("it ended after %s with %d: %s", took, code, a.errs.String())
	}
}
