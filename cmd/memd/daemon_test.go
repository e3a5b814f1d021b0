package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memd"
	"memd/internal/dirlock"
)

func TestSecondServe(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	r := b.run("serve", "--wait", "1h")
	if pid := fmt.Sprint(d.cmd.Process.Pid); r.code != memd.ExitBusy || !strings.Contains(r.err, pid) || r.out != "" {
		t.Errorf("exit code %d, want %d naming %s: %s", r.code, memd.ExitBusy, pid, r.err)
	}
	b.must("remember", "the first daemon is unharmed")
	d.stop()
}

// What was answered is there after kill -9, and the folder is free.
func TestKillMinusNine(t *testing.T) {
	b := newBox(t)
	var acknowledged sync.Map
	for round := range 20 {
		d := b.serve("--listen", "off")
		c := b.client()
		var writers sync.WaitGroup
		enough := make(chan struct{}, 1000)
		for w := range 3 {
			writers.Go(func() {
				for i := 0; ; i++ {
					reply, err := c.Remember(context.Background(), memd.Remember{Summary: fmt.Sprintf("round %d, writer %d, event %d", round, w, i)})
					if err != nil {
						return
					}
					acknowledged.Store(reply.Value.ID, true)
					select {
					case enough <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 5 + round%4 {
			<-enough
		}
		d.kill()
		writers.Wait()
	}
	d := b.serve("--listen", "off")
	c := b.client()
	found := map[string]bool{}
	for cursor := ""; ; {
		page, err := c.List(context.Background(), memd.List{Limit: memd.MaxListLimit, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Value.Memories {
			found[m.ID] = true
		}
		if cursor = page.Value.NextCursor; cursor == "" {
			break
		}
	}
	count := 0
	acknowledged.Range(func(id, _ any) bool {
		if count++; !found[id.(string)] {
			t.Errorf("%s was acknowledged and is gone", id)
		}
		return true
	})
	if count < 100 {
		t.Errorf("only %d writes were acknowledged", count)
	}
	d.stop()
}

// hanging sends a remember whose body is still on its way, and returns the
// connection once the daemon asked for the body.
func hanging(t *testing.T, b *box, body string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("unix", b.socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /v1/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the daemon does not ask for the body: %q %v", line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return conn, r
}

// The first signal lets running requests end; the socket is gone then.
func TestDrain(t *testing.T) {
	for s, name := range map[os.Signal]string{syscall.SIGTERM: "SIGTERM", os.Interrupt: "SIGINT", syscall.SIGHUP: "SIGHUP"} {
		if signal.Ignored(s) { // under nohup, which a daemon heeds
			continue
		}
		b := newBox(t)
		d := b.serve()
		const body = `{"summary":"written while the daemon ends"}`
		conn, r := hanging(t, b, body)
		d.signal(s)
		eventually(t, "the daemon refuses new connections", func() bool {
			c, err := net.Dial("unix", b.socket())
			if err == nil {
				_ = c.Close()
			}
			return err != nil
		})
		if _, err := io.WriteString(conn, body); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			t.Errorf("%s: the running request is answered %d", s, res.StatusCode)
		}
		if code := d.wait(); code != 0 {
			t.Errorf("%s: the daemon exits %d: %s", s, code, d.log.String())
		}
		if !strings.Contains(d.log.String(), `"msg":"memd drains","signal":"`+name+`"`) {
			t.Errorf("%s: the log does not name it: %s", s, d.log.String())
		}
		if _, err := os.Lstat(b.socket()); !os.IsNotExist(err) {
			t.Errorf("%s: the socket is still there (%v)", s, err)
		}
		if out := b.must("list", "--json"); !strings.Contains(out, "written while the daemon ends") {
			t.Errorf("%s: the drained write is lost: %s", s, out)
		}
	}
}

// A second signal ends the daemon at once, whatever still runs.
func TestSecondSignal(t *testing.T) {
	b := newBox(t)
	d := b.serve()
	hanging(t, b, `{"summary":"never sent"}`)
	d.signal(syscall.SIGTERM)
	eventually(t, "the daemon refuses new connections", func() bool {
		c, err := net.Dial("unix", b.socket())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	began := time.Now()
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code == 0 || time.Since(began) > 5*time.Second {
		t.Errorf("exit code %d after %s", code, time.Since(began))
	}
	if !strings.Contains(d.log.String(), `"msg":"memd ends at once","signal":"SIGTERM"`) {
		t.Errorf("the log does not say so: %s", d.log.String())
	}
	b.must("remember", "the folder is free")
}

// Under nohup a hangup is nothing.
func TestIgnoredHangup(t *testing.T) {
	b := newBox(t)
	cmd := b.command()
	cmd.Path, cmd.Args = sh(t), []string{"sh", "-c", `trap "" HUP; exec "$0" serve`, cmd.Path}
	d := b.start(cmd)
	d.signal(syscall.SIGHUP)
	b.must("remember", "the daemon is still there")
	d.stop() // were it the second signal, it would not be in order
	if strings.Contains(d.log.String(), "SIGHUP") {
		t.Errorf("the log: %s", d.log.String())
	}
}

// The daemon answers to the address that it was told to listen on.
func TestHostOfTheListener(t *testing.T) {
	b := newBox(t)
	d := b.serve("--listen", "127.0.0.2:0")
	if got := d.overTCP("GET", "/healthz", "", ""); got != http.StatusOK {
		t.Errorf("the listener's own address is answered %d", got)
	}
	d.stop()
}

func TestPortTaken(t *testing.T) {
	b := newBox(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	addr := other.Addr().String()
	r := b.run("serve", "--listen", addr)
	if r.code != memd.ExitFailed || !strings.Contains(r.err, addr) {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if _, err := os.Lstat(b.socket()); !os.IsNotExist(err) {
		t.Errorf("the socket is still there (%v)", err)
	}
	if pid, held, err := dirlock.Holder(b.dir); held || err != nil {
		t.Errorf("the folder is held by %d (%v)", pid, err)
	}
	d := b.serve("--listen", "off")
	if d.tcp != "" {
		t.Errorf("off listens on %s", d.tcp)
	}
	d.stop()
}

// Whatever the umask, what the daemon makes is its owner's alone.
func TestModes(t *testing.T) {
	b := newBox(t)
	sh := b.command()
	sh.Path, sh.Args = "/bin/sh", []string{"sh", "-c", `umask 000; exec "$0" serve`, sh.Path}
	d := b.start(sh)
	b.must("remember", "x")
	b.must("token", "new", "ci", "--role", "read")
	seen := map[string]bool{}
	err := filepath.Walk(b.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		seen[filepath.Base(path)] = true
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent_memory.db", "agent_memory.db-wal", "history", "memd.sock", "token", "tokens", "memd.lock"} {
		if !seen[name] {
			t.Errorf("%s is not there", name)
		}
	}
	d.stop()
}
