package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"memd"
)

// slow serves one listener with a handler that answers when told to.
func slow(t *testing.T, s *Server) (url string, arrived chan struct{}, answer chan struct{}, ended chan error, stop func()) {
	t.Helper()
	arrived, answer, ended = make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s.mux.Get("/slow", func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		select {
		case <-answer:
			w.WriteHeader(http.StatusOK)
		case <-r.Context().Done():
		}
	})
	l, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { ended <- s.Serve(ctx, l) }()
	return "http://" + l.Addr().String() + "/slow", arrived, answer, ended, cancel
}

func ask1(url string) (status chan int) {
	status = make(chan int, 1)
	go func() {
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
		if err != nil {
			status <- 0
			return
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		status <- res.StatusCode
	}()
	return status
}

// Beyond loopback nobody is served in plain text, unless a proxy speaks TLS.
func TestPlainBeyondLoopback(t *testing.T) {
	for name, c := range map[string]struct {
		opts   Options
		served bool
	}{
		"plain": {Options{}, false}, "no auth": {Options{AuthNone: true, TLSElsewhere: true}, false},
		"no auth over TLS": {Options{AuthNone: true, TLS: &tls.Config{}}, false},
		"a proxy":          {Options{TLSElsewhere: true}, true}, "TLS": {Options{TLS: &tls.Config{}}, true},
	} {
		l, err := ListenTCP("0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := New(c.opts).Serve(ctx, l); (err == nil) != c.served || err != nil && memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Errorf("%s: Serve: %v", name, err)
		}
	}
}

// A running request ends before Serve does; a new one is not taken.
func TestGracefulShutdown(t *testing.T) {
	url, arrived, answer, ended, stop := slow(t, New(Options{AuthNone: true}))
	status := ask1(url)
	<-arrived
	stop()
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/slow")
	for { // until the listener is closed
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		conn.Close()
	}
	select {
	case err := <-ended:
		t.Fatalf("Serve returned %v before the request ended", err)
	default:
	}
	close(answer)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the running request got %d", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// Close cuts off what still runs.
func TestCloseCutsDraining(t *testing.T) {
	s := New(Options{AuthNone: true})
	url, arrived, _, ended, stop := slow(t, s)
	status := ask1(url)
	<-arrived
	stop()
	s.Close()
	s.Close()
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if got := <-status; got != 0 {
		t.Errorf("the request that was cut off got %d", got)
	}
}

// A listener that fails ends the others and is the error.
func TestServeFails(t *testing.T) {
	s := New(Options{AuthNone: true})
	good, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	if err := s.Serve(context.Background(), good, &broken{Listener: good, err: boom}); !errors.Is(err, boom) {
		t.Errorf("Serve: %v", err)
	}
	if conn, err := net.Dial("tcp", good.Addr().String()); err == nil {
		conn.Close()
		t.Error("the other listener is still open")
	}
}

type broken struct {
	net.Listener
	err error
}

func (b *broken) Accept() (net.Conn, error) { return nil, b.err }
func (b *broken) Close() error              { return nil }

func TestAuthNoneBeyondLoopback(t *testing.T) {
	l, err := ListenTCP("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	err = New(Options{AuthNone: true}).Serve(context.Background(), l)
	if memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("Serve: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}

func TestLargeHeader(t *testing.T) {
	d := start(t, nil, nil)
	r := d.do(ask{method: "GET", path: "/healthz", tcp: true, header: http.Header{"X-Large": {strings.Repeat("x", 80<<10)}}})
	if r.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", r.Status)
	}
}

func TestListenUnix(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "memd.sock")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := ListenUnix(path); memd.CodeOf(err) != memd.CodeStoreBusy {
		t.Errorf("beside a living daemon: %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}

	// A daemon that died leaves its socket.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if l, err = ListenUnix(path); err != nil {
		t.Fatalf("over a stale socket: %v", err)
	}
	l.Close()

	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil {
		t.Error("a file that is no socket was replaced")
	}
	if got := readFile(t, path); got != "mine" {
		t.Errorf("the file holds %q", got)
	}
}

// A folder that was moved away and made anew holds another daemon's socket: the
// one that moved leaves it alone.
func TestUnixSocketOfAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	path := filepath.Join(dir, "memd.sock")
	listen := func() net.Listener {
		t.Helper()
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := ListenUnix(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	moved := listen()
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	l := listen()
	if err := moved.Close(); err != nil {
		t.Error(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the new daemon lost its socket: %v", err)
	}
	conn.Close()
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil { // nothing is left to remove
		t.Error(err)
	}
	if _, err := os.Lstat(path + ".moved"); err != nil {
		t.Errorf("a name that is not ours was removed: %v", err)
	}
}

func TestListenTCP(t *testing.T) {
	l, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = ListenTCP(l.Addr().String())
	e, ok := errors.AsType[*memd.Error](err)
	if !ok || !strings.Contains(e.Message, l.Addr().String()) || !strings.Contains(e.Hint, "--listen") {
		t.Errorf("port in use: %v", err)
	}
	if _, err = ListenTCP("203.0.113.1:1"); err == nil || memd.CodeOf(err) != memd.CodeStoreFailed {
		t.Errorf("a foreign address: %v", err)
	}
}

// Eight writers at once: every write is answered and kept, and of the writes
// that name the same base version one alone goes through.
func TestConcurrentWriters(t *testing.T) {
	d := start(t, nil, nil)
	d.long("shared", "version zero")
	const writers, each = 8, 15
	var wg sync.WaitGroup
	won := make(chan int, writers)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if r := d.post("/v1/remember", fmt.Sprintf(`{"summary":"writer %d row %d"}`, w, i)); r.Status != 201 {
					t.Errorf("writer %d: %d %s", w, r.Status, r.Body)
				}
			}
			switch r := d.post("/v1/remember_long_term", fmt.Sprintf(`{"memory_key":"shared","summary":"by %d","source":"AGENTS.md#x","base_version":1}`, w)); r.Status {
			case 200:
				won <- w
			case 409:
			default:
				t.Errorf("writer %d: %d %s", w, r.Status, r.Body)
			}
		})
	}
	wg.Wait()
	if close(won); len(won) != 1 {
		t.Errorf("%d writers replaced version 1", len(won))
	}
	if n := d.rows(t); n != writers*each+2 {
		t.Errorf("%d rows, want %d", n, writers*each+2)
	}
}
