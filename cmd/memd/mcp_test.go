package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memd"
	"memd/internal/background"
	"memd/internal/dirlock"
)

// The first call starts a daemon, which all sessions share and which outlives
// them.
func TestMCPStartsADaemon(t *testing.T) {
	b := newBox(t)
	a := b.agent()
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("greeting made the data folder (%v)", err)
	}
	id := a.call("remember", `{"summary":"the first call starts a daemon"}`).fields["id"].(string)
	pid := b.daemonPID()
	if session, err := syscall.Getpgid(pid); err != nil || session != pid {
		t.Errorf("the daemon is in the process group %d, %v, want one of its own", session, err)
	}
	if info, err := os.Stat(filepath.Join(b.dir, background.LogName)); err != nil || info.Mode() != 0o600 {
		t.Errorf("its log: %v, %v", info, err)
	}
	if log := b.daemonLog(); !strings.Contains(log, "memd listens") || strings.Contains(log, `"tcp"`) {
		t.Errorf("it listens on more than the socket: %s", log)
	}
	other := b.agent("--profile", "core")
	if got := other.call("get", fmt.Sprintf(`{"id":%q}`, id)).fields["summary"]; got != "the first call starts a daemon" {
		t.Errorf("the other session reads %q", got)
	}
	a.close()
	other.close()
	if now := b.daemonPID(); now != pid {
		t.Errorf("the daemon is %d now, was %d", now, pid)
	}
	if out := b.must("list", "--json"); !strings.Contains(out, id) {
		t.Errorf("the command line does not see the memory: %s", out)
	}
}

// Whatever becomes of the daemon between two calls, the next one is answered.
func TestMCPDaemonGoesAway(t *testing.T) {
	b := newBox(t)
	a := b.agent()
	for range 5 {
		a.call("remember", `{"summary":"before it was killed"}`)
		if err := syscall.Kill(b.daemonPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		b.free()
		a.call("recall", `{"query":"killed"}`)
	}
	if err := syscall.Kill(b.daemonPID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.free()
	if got := a.call("recall", `{"query":"killed"}`); !strings.Contains(got.text, "before it was killed") {
		t.Errorf("recalled %s", got.text)
	}
	a.close()
}

// An idle daemon leaves, and the next call starts another.
func TestMCPIdleDaemon(t *testing.T) {
	b := newBox(t)
	a := b.agent("--idle", "100ms")
	for i := range 3 {
		a.call("remember", `{"summary":"written before it left"}`)
		b.free()
		if n := strings.Count(b.daemonLog(), "memd leaves"); n < i+1 {
			t.Errorf("%d daemons left: %s", n, b.daemonLog())
		}
	}
	a.close()
}

// Without a daemon and without leave to start one tools say so, until there is one.
func TestMCPNoStart(t *testing.T) {
	b := newBox(t)
	a := b.agent("--no-start")
	got := a.refused("remember", `{"summary":"x"}`)
	if hint, _ := got.fields["hint"].(string); got.fields["code"] != "store_busy" || !strings.Contains(hint, "memd serve") || !strings.Contains(got.text, "memd serve") {
		t.Errorf("refused with %v, %s", got.fields, got.text)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("the data folder is there (%v)", err)
	}
	d := b.serve()
	a.call("note", `{"summary":"now there is one"}`)
	d.stop()
	a.refused("recall", `{"query":"x"}`)
	a.close() // although its notes cannot be ended
}

// Eight that start at once on an empty folder start one daemon, and all answer.
func TestMCPRaces(t *testing.T) {
	b := newBox(t)
	agents := make([]*agent, 8)
	for i := range agents {
		agents[i] = b.agent("--wait", patience.String(), "--idle", patience.String())
	}
	ids := make([]any, len(agents))
	for i, a := range agents {
		ids[i] = a.ask("remember", fmt.Sprintf(`{"summary":"one of eight, number %d"}`, i))
	}
	for i, a := range agents {
		if got := a.hear(ids[i]).answer(t); got.isError {
			t.Errorf("number %d: %s", i, got.text)
		}
	}
	if n := strings.Count(b.daemonLog(), "memd listens"); n != 1 {
		t.Errorf("%d daemons listened: %s", n, b.daemonLog())
	}
	if n := strings.Count(b.must("list", "--json"), `"id":`); n != len(agents) {
		t.Errorf("%d of %d writes are there", n, len(agents))
	}
	var ending sync.WaitGroup
	for _, a := range agents {
		ending.Go(a.close)
	}
	ending.Wait()
}

// A folder that another program has is told, and used once it is free.
func TestMCPLockedFolder(t *testing.T) {
	b := newBox(t)
	lock, err := dirlock.Acquire(context.Background(), b.dir, 0, dirlock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := b.agent("--wait", "0s")
	if got := a.refused("remember", `{"summary":"x"}`); got.fields["code"] != "store_busy" || !strings.Contains(got.text, fmt.Sprint(os.Getpid())) {
		t.Errorf("refused with %v, %s", got.fields, got.text)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	a.call("remember", `{"summary":"x"}`)
	a.close()
}

// A daemon that cannot start is told with where it says why.
func TestMCPDaemonFails(t *testing.T) {
	b := newBox(t)
	b.must("remember", "x")
	b.shell(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`) // as a later release would
	a := b.agent()
	got := a.refused("recall", `{"query":"x"}`)
	if hint, _ := got.fields["hint"].(string); got.fields["code"] != "store_failed" || !strings.Contains(hint, background.LogName) || !strings.Contains(b.daemonLog(), "newer") {
		t.Errorf("refused with %v; the log says %s", got.fields, b.daemonLog())
	}
	a.close()
	b.shell(`DELETE FROM goose_db_version WHERE version_id = 9999`)
}

// A store of an older release is migrated by the daemon that a call starts.
func TestMCPMigrates(t *testing.T) {
	b := newBox(t)
	b.must("remember", "written by an older release")
	b.older()
	a := b.agent("--project=")
	if got := a.call("recall", `{"query":"older release"}`); !strings.Contains(got.text, "written by an older release") {
		t.Errorf("recalled %s", got.text)
	}
	a.close()
}

// older takes the last migration back.
func (b *box) older() {
	b.t.Helper()
	if got := b.shell(`SELECT max(version_id) FROM goose_db_version`); got != "6" {
		b.t.Fatalf("the schema is %s, and this takes back migration 6", got)
	}
	b.shell(`ALTER TABLE audit DROP COLUMN code; ALTER TABLE audit DROP COLUMN field; ALTER TABLE audit DROP COLUMN count;
 DELETE FROM goose_db_version WHERE version_id = 6`)
}

// Notes end with the session, however it ends; what was remembered stays.
func TestMCPNotesEnd(t *testing.T) {
	b := newBox(t)
	for name, end := range map[string]func(*agent){
		"stdin closed": (*agent).close,
		"SIGTERM":      func(a *agent) { _ = a.cmd.Process.Signal(syscall.SIGTERM); a.inTime() },
		"SIGINT":       func(a *agent) { _ = a.cmd.Process.Signal(os.Interrupt); a.inTime() },
		"SIGHUP":       func(a *agent) { _ = a.cmd.Process.Signal(syscall.SIGHUP); a.inTime() },
		"daemon gone": func(a *agent) {
			_ = syscall.Kill(b.daemonPID(), syscall.SIGTERM)
			b.free()
			a.close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("under nohup, which it heeds")
			}
			a := b.agent()
			session := a.call("note", `{"summary":"for this session"}`).fields["session_id"].(string)
			b.must("note", "of somebody else's", "--session", "another")
			if out := b.must("session", "notes", session); !strings.Contains(out, "for this session") {
				t.Errorf("the session's notes are %q", out)
			}
			end(a)
			// A daemon that has to start for it may take longer than there is time.
			late := name == "daemon gone" && strings.Contains(a.errs.String(), "notes not ended")
			if r := b.run("session", "notes", session); r.code != memd.ExitNotFound && !late {
				t.Errorf("the notes outlive the session: %s%s", r.out, a.errs.String())
			}
			if out := b.must("session", "notes", "another"); !strings.Contains(out, "of somebody else's") {
				t.Errorf("another session's notes are %q", out)
			}
		})
	}
}

// The working folder says which project a session belongs to, and --project has
// the last word.
func TestMCPProject(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	repository := filepath.Join(home, "src", "widgets")
	below := filepath.Join(repository, "cmd", "widget")
	for _, dir := range []string{".git/objects", ".git/refs", "cmd/widget"} {
		if err := os.MkdirAll(filepath.Join(repository, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(repository, ".git", "HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	namespace := func(dir string, args ...string) string {
		t.Helper()
		cmd := b.command(append([]string{"mcp"}, args...)...)
		cmd.Dir = dir
		a := b.greet(cmd)
		defer a.close()
		return a.call("remember", `{"summary":"where does it go"}`).fields["namespace"].(string)
	}
	top := namespace(repository)
	if !strings.HasPrefix(top, "project/widgets-") {
		t.Errorf("a repository's memories go to %s", top)
	}
	if got := namespace(below); got != top {
		t.Errorf("those of a folder in it go to %s, not %s", got, top)
	}
	if got := namespace(home); got != "default" {
		t.Errorf("those of the home folder go to %s", got)
	}
	if got := namespace(repository, "--project", "gadgets"); got != "project/gadgets" {
		t.Errorf("--project has them go to %s", got)
	}
	if got := namespace(repository, "--project="); got != "default" {
		t.Errorf("an empty --project has them go to %s", got)
	}
	if got := namespace(repository, "--agent", "reviewer"); got != "agent/reviewer" {
		t.Errorf("--agent has them go to %s", got)
	}
}

// What the command line gets wrong is told on stderr alone.
func TestMCPUsage(t *testing.T) {
	b := newBox(t)
	bad := filepath.Join(filepath.Dir(b.dir), "bad.yaml")
	for name, text := range map[string]string{bad: "listen: [", bad + ".key": "no_such_key: 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, says := range map[string]string{
		"--agent UPPER": "agent", "--project a//b": "project", "--profile tiny": "profile", "--idle -1s": "idle", "x": "x", "--nonsense": "nonsense",
		"--config " + bad: "bad.yaml", "--config " + bad + ".key": "no_such_key", "--config /nowhere/at/all": "/nowhere/at/all",
		"--describe --profile tiny": "profile",
	} {
		r := b.feed(hello, append([]string{"mcp"}, strings.Fields(args)...)...)
		if r.code != memd.ExitUsage || r.out != "" || !strings.Contains(r.err, says) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args, r.code, r.out, r.err)
		}
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("a refused command made the data folder (%v)", err)
	}
}

func TestMCPDescribe(t *testing.T) {
	b := newBox(t)
	full, core := b.must("mcp", "--describe"), b.must("mcp", "--describe", "--profile", "core")
	if !strings.Contains(full, "\nforget ") || strings.Contains(core, "\nforget ") || !strings.Contains(core, "\nremember_long_term ") || !strings.Contains(core, "TOKENS") {
		t.Errorf("full: %s\ncore: %s", full, core)
	}
	if out := b.must("mcp", "--describe", "--json"); !strings.Contains(out, `"tokens":`) {
		t.Errorf("as JSON: %s", out)
	}
}

// memd mcp ends within its time, whatever is under way.
func TestMCPEnds(t *testing.T) {
	terminate := func(a *agent) { _ = a.cmd.Process.Signal(syscall.SIGTERM) }
	closing := func(a *agent) { _ = a.in.Close() }
	for name, end := range map[string]func(*agent){"SIGTERM": terminate, "stdin closed": closing} {
		t.Run(name+", a write waits", func(t *testing.T) {
			b := newBox(t)
			a := b.agent()
			a.call("note", `{"summary":"a note that has to go"}`)
			release := b.hold()
			a.ask("remember", `{"summary":"waits for the writer"}`)
			end(a)
			a.inTime()
			release()
		})
		t.Run(name+", the daemon is stuck", func(t *testing.T) {
			b := newBox(t)
			a := b.agent()
			a.call("note", `{"summary":"a note that has to go"}`)
			pid := b.daemonPID()
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			a.ask("remember", `{"summary":"nobody reads this"}`)
			end(a)
			a.inTime()
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		})
		t.Run(name+", the folder is locked", func(t *testing.T) {
			b := newBox(t)
			lock, err := dirlock.Acquire(context.Background(), b.dir, 0, dirlock.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a := b.agent("--wait", "1h")
			a.ask("remember", `{"summary":"waits for the folder"}`)
			end(a)
			a.inTime()
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Who does not read the answers keeps neither memd mcp nor its notes.
func TestMCPNobodyReads(t *testing.T) {
	for name, end := range map[string]func(a *agent, out io.Closer){
		"stdin closed":  func(a *agent, _ io.Closer) { _ = a.in.Close() },
		"SIGTERM":       func(a *agent, _ io.Closer) { _ = a.cmd.Process.Signal(syscall.SIGTERM) },
		"stdout closed": func(_ *agent, out io.Closer) { _ = out.Close() }, // and stdin held open
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.endsDaemon()
			a := &agent{box: b, cmd: b.command("mcp")}
			var err error
			if a.in, err = a.cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			out, err := a.cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			a.cmd.Stderr = &a.errs
			if err := a.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			a.say(hello)
			a.ask("note", `{"summary":"a note that has to go"}`)
			answers := bufio.NewReader(out)
			for range 2 {
				if _, err := answers.ReadBytes('\n'); err != nil {
					t.Fatal(err)
				}
			}
			if n := b.shell(`SELECT count(*) FROM transient`); n != "1" {
				t.Errorf("%s notes", n)
			}
			for i := range 20 { // their answers are more than a pipe holds
				a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"more %d","method":"tools/list"}`+"\n", i))
			}
			end(a, out)
			goneInTime(t, a.cmd)
			if n := b.shell(`SELECT count(*) FROM transient`); n != "0" {
				t.Errorf("%s notes outlive the session: %s", n, a.errs.String())
			}
		})
	}
}

// A client that dies closes the pipe, whatever it had asked.
func TestMCPParentDies(t *testing.T) {
	b := newBox(t)
	b.endsDaemon()
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command("cat")
	parent.Stdout = theirs
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	cmd := b.command("mcp")
	cmd.Stdin = ours
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = ours.Close(), theirs.Close()
	if _, err := io.WriteString(in, hello); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(out, first); err != nil { // it has begun
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	goneInTime(t, cmd)
}

// goneInTime waits for the end of a process whose stdout nobody reads.
func goneInTime(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	began := time.Now()
	stuck := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	if err := cmd.Wait(); err != nil || time.Since(began) > endTime {
		t.Errorf("it ended after %s: %v", time.Since(began), err)
	}
}
