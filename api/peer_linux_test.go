package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"memd"
	"memd/guard"
)

// dialAs connects to a unix socket as another user. The kernel keeps the user of
// a thread, not of the process, so one thread becomes that user and then ends.
func dialAs(t *testing.T, uid int, path string) net.Conn {
	t.Helper()
	type dialled struct {
		conn net.Conn
		err  error
	}
	done := make(chan dialled)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends with the goroutine
		id := uintptr(uid)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); errno != 0 {
			done <- dialled{nil, errno}
			return
		}
		conn, err := net.Dial("unix", path)
		done <- dialled{conn, err}
	}()
	d := <-done
	if d.err != nil {
		t.Fatalf("as user %d: %v", uid, d.err)
	}
	t.Cleanup(func() { _ = d.conn.Close() })
	return d.conn
}

// as asks as a user of this machine.
func (d *daemon) as(t *testing.T, uid int, method, path, body string) reply {
	t.Helper()
	conn := dialAs(t, uid, d.socket)
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, len(body), body); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{t: t, Status: res.StatusCode, Header: res.Header, Body: b}
}

// shared runs a daemon whose socket everyone can open.
func shared(t *testing.T, edit func(*Options)) *daemon {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("another user can be tried by root alone")
	}
	d := start(t, edit, nil)
	if err := os.Chmod(d.socket, 0o666); err != nil {
		t.Fatal(err)
	}
	for dir := d.dir; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// Users of the socket may do what the configuration says; root is the
// administrator, and who is not named is nobody.
func TestPeers(t *testing.T) {
	const reader, writer, narrow, nobody = 20001, 20002, 20003, 20009
	d := shared(t, func(o *Options) {
		o.Limits.Rate, o.Limits.Burst = 1, 5
		o.Peers = guard.Peers{
			reader: {Role: memd.RoleRead}, writer: {Role: memd.RoleWrite},
			narrow: {Role: memd.RoleWrite, Namespaces: []string{"team/a"}, Access: []string{"hr"}},
		}
	})
	const remember = `{"summary":"x"}`
	d.as(t, writer, "POST", "/v1/remember", remember).want(201)
	d.as(t, writer, "GET", "/v1/stats", "").refused(403, memd.CodeForbidden, "")
	d.as(t, reader, "GET", "/v1/memories", "").want(200)
	d.as(t, reader, "POST", "/v1/remember", remember).refused(403, memd.CodeForbidden, "")
	d.as(t, narrow, "GET", "/v1/memories", "").refused(403, memd.CodeForbidden, "namespace")
	d.as(t, narrow, "POST", "/v1/remember", `{"summary":"x","namespace":"team/a","access":["hr"]}`).want(201)
	if r := d.as(t, reader, "GET", "/v1/memories?namespace=team/a&access=hr", "").want(200); strings.Contains(string(r.Body), `"summary"`) {
		t.Errorf("a tag that is not held opens: %s", r.Body)
	}
	if r := d.as(t, narrow, "GET", "/v1/memories?namespace=team/a&access=hr", "").want(200); !strings.Contains(string(r.Body), `"summary"`) {
		t.Errorf("a tag that is held opens nothing: %s", r.Body)
	}
	for _, path := range []string{"/v1/memories", "/v1/stats", "/metrics", "/docs", "/none"} {
		d.as(t, nobody, "GET", path, "").refused(403, memd.CodeForbidden, "")
	}
	d.as(t, nobody, "GET", "/healthz", "").want(200)
	for range 10 { // root is held to no rate
		d.as(t, 0, "GET", "/v1/stats", "").want(200)
	}
	// A session is the user's that opened it.
	d.as(t, writer, "POST", "/v1/sessions/s/transient", remember).want(201)
	d.as(t, narrow, "GET", "/v1/sessions/s/transient", "").refused(404, memd.CodeNotFound, "")
	d.as(t, writer, "GET", "/v1/sessions/s/transient", "").want(200)
	// Users are held to a rate as tokens are.
	d.as(t, writer, "GET", "/v1/manifest", "").want(200)
	d.as(t, writer, "GET", "/v1/manifest", "").refused(429, memd.CodeRateLimited, "")
	if got := d.metric(`memd_auth_failures_total{reason="peer"}`); got != 5 {
		t.Errorf("%v were counted", got)
	}
}

// A socket that everyone can open is served only where it is said who may use it.
func TestSharedSocket(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenShared(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := New(Options{}).Serve(t.Context(), l); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("Serve: %v", err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there (%v)", err)
	}
}
