package api

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
)

// hurried serves s on a loopback address with bounds of parts of a second, and
// returns the address.
func hurried(t *testing.T, s *Server, edit func(*bounds)) string {
	t.Helper()
	const soon = 250 * time.Millisecond
	s.bounds = bounds{header: soon, request: 3 * soon, refused: soon, answer: soon, idle: soon, spare: spareConns}
	if edit != nil {
		edit(&s.bounds)
	}
	l, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestBounds(t *testing.T) {
	srv, _ := New(Options{}).server(&broken{Listener: listener(t)})
	if patient.refused != 5*time.Second || srv.ReadHeaderTimeout != 5*time.Second || srv.ReadTimeout != 30*time.Second || srv.IdleTimeout != 2*time.Minute || srv.MaxHeaderBytes != 64<<10 {
		t.Errorf("bounds: %+v", srv)
	}
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

const wholeHead = "POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"

// A client that never ends its headers, or its body, is cut off, whether it
// says nothing more or a byte now and then.
func TestSlowClients(t *testing.T) {
	for name, c := range map[string]struct{ sent, drip, answer string }{
		"nothing":                 {},
		"part of a line":          {sent: "GET /healthz HTT"},
		"part of the headers":     {sent: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "},
		"headers, byte by byte":   {sent: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", drip: "x"},
		"headers, line by line":   {sent: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", drip: "X: y\r\n"},
		"part of the body":        {sent: wholeHead + "{", answer: "HTTP/1.1 400"},
		"body, byte by byte":      {sent: wholeHead + "{", drip: " ", answer: "HTTP/1.1 400"},
		"chunks, byte by byte":    {sent: strings.Replace(wholeHead, "Content-Length: 100000", "Transfer-Encoding: chunked", 1), drip: "1\r\n \r\n", answer: "HTTP/1.1 400"},
		"a second request":        {sent: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HT", answer: "HTTP/1.1 200"},
		"nothing after an answer": {sent: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", answer: "HTTP/1.1 200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, "tcp", hurried(t, New(Options{AuthNone: true}), nil))
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			if c.drip != "" {
				drip(t, conn, c.drip)
			}
			answer, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("still connected")
			}
			if !strings.HasPrefix(string(answer), c.answer) || c.answer == "" && strings.Contains(string(answer), " 200 ") {
				t.Errorf("answered %q, want %q", answer, c.answer)
			}
		})
	}
}

// Who is refused is not waited for as others are: the rest of its body is read for a
// moment, so that the answer reaches it, and then the connection ends.
func TestSlowBodiesOfTheRefused(t *testing.T) {
	d := start(t, nil, nil) // for its tokens
	reader, spent := d.token("reader", memd.RoleRead), d.token("spent", memd.RoleWrite)
	limits := configs.DefaultLimits()
	limits.Rate, limits.Burst = 1, 1
	s := New(Options{Tokens: d.tokens, Limits: limits, Now: d.clock.Now})
	spender, _ := d.tokens.Caller(spent)
	s.rates.Take(spender.Identity(), d.clock.Now())
	addr := hurried(t, s, func(b *bounds) { b.request, b.header, b.idle = time.Minute, time.Minute, time.Minute })
	for name, c := range map[string]struct{ method, head, body, answer string }{
		"nobody":         {head: "Content-Length: 100000", answer: "401"},
		"from afar":      {head: "Origin: http://evil.example\r\nContent-Length: 100000", answer: "403"},
		"in chunks":      {head: "Transfer-Encoding: chunked", body: "1\r\n \r\n", answer: "401"},
		"without a role": {head: "Authorization: Bearer " + reader + "\r\nContent-Length: 100000", answer: "403"},
		"too often":      {head: "Authorization: Bearer " + spent + "\r\nContent-Length: 100000", answer: "429"},
		"no such method": {method: "PUT", head: "Authorization: Bearer " + d.admin + "\r\nContent-Length: 100000", answer: "405"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, "tcp", addr)
			if _, err := io.WriteString(conn, cmp.Or(c.method, "POST")+" /v1/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+c.head+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			drip(t, conn, cmp.Or(c.body, " "))
			answer, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("still connected")
			}
			if !strings.HasPrefix(string(answer), "HTTP/1.1 "+c.answer) {
				t.Errorf("answered %q, want %s", answer, c.answer)
			}
		})
	}
}

// Who announces more than any call takes is told at once, and not when that has come.
func TestTooLargeIsToldAtOnce(t *testing.T) {
	d := start(t, nil, nil) // for its tokens
	s := New(Options{Tokens: d.tokens, Now: d.clock.Now})
	addr := hurried(t, s, func(b *bounds) { b.request, b.refused = time.Hour, time.Hour })
	for name, c := range map[string]struct{ head, answer string }{
		"a valid token": {"Authorization: Bearer " + d.admin, "413"},
		"nobody":        {"X-None: none", "401"},
		"from afar":     {"Origin: http://evil.example", "403"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, "tcp", addr)
			if _, err := fmt.Fprintf(conn, "POST /v1/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\n\r\n", c.head, maxBody+1); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || !strings.HasPrefix(res.Status, c.answer) || !res.Close || !strings.Contains(string(body), `"request_id"`) {
				t.Errorf("%s, %v: %s", res.Status, err, body)
			}
		})
	}
}

// drip sends a text over and over, with a pause, until the connection or the test ends.
func drip(t *testing.T, conn net.Conn, text string) {
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			<-tick.C
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}()
}

// A client of TLS that never ends its handshake is cut off too, and the cap holds
// behind TLS as before it.
func TestSlowHandshake(t *testing.T) {
	made := httptest.NewTLSServer(nil) // for its certificate
	secured := made.TLS.Clone()
	secured.NextProtos = nil
	made.Close()
	addr := hurried(t, New(Options{TLS: secured, AuthNone: true, Limits: oneConnection()}), func(b *bounds) { b.idle, b.request = time.Minute, time.Minute })
	conn := dial(t, "tcp", addr)
	if _, err := io.WriteString(conn, "\x16\x03\x01"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("still connected")
	}
	ask := func() int {
		conn := tls.Client(dial(t, "tcp", addr), &tls.Config{InsecureSkipVerify: true})
		if _, err := io.WriteString(conn, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode
	}
	deadline := time.Now().Add(20 * time.Second)
	for ask() != 200 { // a place is given back after the connection is seen to end
		if time.Now().After(deadline) {
			t.Fatal("the place that was given back is not taken")
		}
	}
	if got := ask(); got != 503 {
		t.Errorf("beyond the cap: %d, want 503", got)
	}
}

func oneConnection() configs.Limits {
	l := configs.DefaultLimits()
	l.Connections = 1
	return l
}

// Who does not read an answer is cut off as well, however often it asked.
func TestSlowReaders(t *testing.T) {
	for name, requests := range map[string]int{"one large answer": 1, "many small ones": 1000} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{AuthNone: true})
			size := 64 << 20 / requests
			failed := make(chan error, requests)
			s.mux.Get("/large", func(w http.ResponseWriter, r *http.Request) {
				_, err := w.Write(make([]byte, size))
				if err != nil {
					failed <- err
				}
			})
			conn := dial(t, "tcp", hurried(t, s, func(b *bounds) { b.request, b.header, b.idle = time.Minute, time.Minute, time.Minute }))
			go func() {
				_, _ = io.WriteString(conn, strings.Repeat("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n", requests))
			}()
			select {
			case err := <-failed:
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the write failed: %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Error("the answer still waits to be read")
			}
		})
	}
}

// Beyond the cap a client is told to come again, health is still answered, and
// a place that is given back is taken.
func TestConnectionCap(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Connections = 3 }, nil)
	ask := func(conn net.Conn, path, token string) *http.Response {
		t.Helper()
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		return res
	}
	held := make([]net.Conn, 3)
	for i := range held {
		held[i] = dial(t, "tcp", d.addr)
		if res := ask(held[i], "/v1/manifest", d.admin); res.StatusCode != 200 || res.Close {
			t.Fatalf("connection %d: %d, close %v", i, res.StatusCode, res.Close)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/v1/manifest": 503, "/none": 503, "/health%7a": 503} {
		res := ask(dial(t, "tcp", d.addr), path, d.admin)
		if res.StatusCode != want || !res.Close || want == 503 && res.Header.Get("Retry-After") == "" {
			t.Errorf("%s beyond the cap: %d, close %v, Retry-After %q", path, res.StatusCode, res.Close, res.Header.Get("Retry-After"))
		}
	}
	if res := ask(dial(t, "tcp", d.addr), "/metrics", "wrong"); res.StatusCode != 401 {
		t.Errorf("metrics without a token: %d", res.StatusCode)
	}
	if res := ask(held[1], "/v1/manifest", d.admin); res.StatusCode != 200 {
		t.Errorf("a connection within the cap: %d", res.StatusCode)
	}
	d.get("/v1/stats").want(200) // the socket has a cap of its own
	held[0].Close()
	deadline := time.Now().Add(20 * time.Second)
	for {
		if res := ask(dial(t, "tcp", d.addr), "/v1/manifest", d.admin); res.StatusCode == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the place that was given back is not taken")
		}
	}
	if got := d.metric("memd_rate_limited_total{limit=\"connections\"}"); got < 3 {
		t.Errorf("%v were counted", got)
	}
}

// Beyond the spare ones connections wait; nobody is dropped.
func TestConnectionsWait(t *testing.T) {
	inner := listener(t)
	l := newCapped(inner, 1, 1, time.Second)
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	for range 3 {
		dial(t, "tcp", inner.Addr().String())
	}
	first, second := (<-accepted).(*ticketed), (<-accepted).(*ticketed)
	if first.spare || !second.spare {
		t.Errorf("spare: %v, %v", first.spare, second.spare)
	}
	select {
	case <-accepted:
		t.Fatal("a third connection was taken")
	case <-time.After(20 * time.Millisecond):
	}
	first.Close()
	first.Close() // gives back one place alone
	third := (<-accepted).(*ticketed)
	if third.spare {
		t.Error("the place that was given back is not taken")
	}
	second.Close()
	third.Close()
	l.Close()
	if conn, open := <-accepted; open {
		t.Errorf("accepted %v after Close", conn)
	}
}
