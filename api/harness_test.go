package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/guard"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// daemon is a Server on real sockets over a real store.
type daemon struct {
	t      testing.TB
	server *Server
	store  *store.Set
	tokens *guard.Tokens
	clock  *memtest.Clock
	log    *logBuffer
	dir    string
	addr   string // of the TCP listener
	socket string
	admin  string // the administrator's token
	stop   func() error

	contract *contract
}

// start runs a daemon until the test ends. edit may change its options, limit
// its store's budgets; both may be nil.
func start(t testing.TB, edit func(*Options), limit func(*configs.Budgets)) *daemon {
	t.Helper()
	d := &daemon{t: t, clock: memtest.NewClock(), log: &logBuffer{}, dir: t.TempDir()}
	d.store = memtest.Store(t, d.dir, d.clock, limit)
	var err error
	if d.tokens, err = guard.Open(d.dir, logger(d.log)); err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Tiers: tiers.New(d.store), Recall: recall.New(d.store, logger(d.log)), Groom: groom.New(d.store, logger(d.log)), Store: d.store,
		Tokens: d.tokens, Version: "test", Log: logger(d.log), Now: d.clock.Now, Limits: configs.DefaultLimits(),
	}
	opts.Audit = groom.NewAuditor(groom.AuditorOptions{Store: d.store, Recall: opts.Recall.Recall})
	if edit != nil {
		edit(&opts)
	}
	d.server = New(opts)
	d.contract = newContract(d.server)
	d.admin = strings.TrimSpace(readFile(t, filepath.Join(d.dir, guard.AdminFile)))
	d.socket = filepath.Join(d.dir, "memd.sock")
	tcp, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unix, err := ListenUnix(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	d.addr = tcp.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.server.Serve(ctx, tcp, unix) }()
	d.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := d.stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return d
}

// reply is an answer, read whole.
type reply struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   []byte
}

// into decodes the answer.
func (r reply) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.Body, v); err != nil {
		r.t.Fatalf("answer %d %q: %v", r.Status, r.Body, err)
	}
}

// want checks the status, and that a refusal is a problem.
func (r reply) want(status int) reply {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("status %d, want %d: %s", r.Status, status, r.Body)
	}
	return r
}

// refused checks the status and the problem of a refusal.
func (r reply) refused(status int, code memd.Code, field string) problem {
	r.t.Helper()
	r.want(status)
	p := r.problem()
	if p.Code != code || p.Field != field {
		r.t.Fatalf("code %s, field %q, want %s, %q: %s", p.Code, p.Field, code, field, r.Body)
	}
	return p
}

// problem decodes a refusal and checks that it is whole.
func (r reply) problem() problem {
	r.t.Helper()
	var p problem
	if got := r.Header.Get("Content-Type"); got != problemType {
		r.t.Fatalf("refusal %d has content type %q: %s", r.Status, got, r.Body)
	}
	r.into(&p)
	if p.Status != r.Status || p.Detail == "" || p.Title == "" || p.RequestID == "" || p.RequestID != r.Header.Get("X-Request-Id") {
		r.t.Fatalf("refusal is not whole: %s", r.Body)
	}
	return p
}

// ask is one request; the zero values ask over the unix socket.
type ask struct {
	method, path string
	body         string
	token        string // over TCP, with this token
	tcp          bool   // over TCP, without one
	header       http.Header
	host         string
}

func (d *daemon) do(a ask) reply {
	d.t.Helper()
	req, err := http.NewRequest(a.method, "http://"+d.addr+a.path, strings.NewReader(a.body))
	if err != nil {
		d.t.Fatal(err)
	}
	for name, values := range a.header {
		req.Header[name] = values
	}
	if a.body != "" && a.header == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.host != "" {
		req.Host = a.host
	}
	network, address := "unix", d.socket
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.tcp || a.token != "" {
		network, address = "tcp", d.addr
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	res, err := (&http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		d.t.Fatalf("%s %s: %v", a.method, a.path, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	r := reply{t: d.t, Status: res.StatusCode, Header: res.Header, Body: body}
	if a.method != http.MethodHead {
		d.contract.check(req, r)
	}
	return r
}

func (d *daemon) get(path string) reply { d.t.Helper(); return d.do(ask{method: "GET", path: path}) }
func (d *daemon) del(path string) reply { d.t.Helper(); return d.do(ask{method: "DELETE", path: path}) }
func (d *daemon) post(path, body string) reply {
	d.t.Helper()
	return d.do(ask{method: "POST", path: path, body: body})
}
func (d *daemon) patch(path, body string) reply {
	d.t.Helper()
	return d.do(ask{method: "PATCH", path: path, body: body})
}

// short writes a short memory and returns it.
func (d *daemon) short(summary string) memd.Memory {
	d.t.Helper()
	var m memd.Memory
	body, _ := json.Marshal(memd.Remember{Summary: summary})
	d.post("/v1/remember", string(body)).want(http.StatusCreated).into(&m)
	return m
}

// long writes a long memory and returns it.
func (d *daemon) long(key, summary string) memd.Memory {
	d.t.Helper()
	var m memd.Memory
	body, _ := json.Marshal(memd.RememberLongTerm{MemoryKey: key, Summary: summary, Source: "AGENTS.md#x"})
	d.post("/v1/remember_long_term", string(body)).want(http.StatusCreated).into(&m)
	return m
}

// token makes a token.
func (d *daemon) token(name string, role memd.Role, namespaces ...string) string {
	d.t.Helper()
	token, err := d.tokens.New(guard.Token{Name: name, Role: role, Namespaces: namespaces})
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

// rows is how many rows the store has.
func (d *daemon) rows(t testing.TB) int {
	t.Helper()
	st, err := d.store.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, tier := range st.Tiers {
		n += tier.Rows
	}
	return n
}

// logBuffer keeps a log. It is safe for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// logger logs everything to l as JSON.
func logger(l *logBuffer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
