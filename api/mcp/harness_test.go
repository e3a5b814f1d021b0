package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"memd"
	"memd/api"
	"memd/api/client"
	"memd/api/mcp"
	"memd/groom"
	"memd/guard"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// daemon is an api.Server over a real store.
type daemon struct {
	t      testing.TB
	server *api.Server
	store  *store.Set
	tokens *guard.Tokens
	clock  *memtest.Clock
	log    *logBuffer
	rest   *client.Client // as the administrator
	admin  string         // the administrator's token
	addr   string         // of the TCP listener, "" until listen
	stop   func() error

	running sync.WaitGroup // of sessions in memory
	ended   chan struct{}  // one for each of those that ended
}

func start(t testing.TB, edit func(*api.Options)) *daemon {
	t.Helper()
	d := &daemon{t: t, clock: memtest.NewClock(), log: &logBuffer{}, ended: make(chan struct{}, 100)}
	dir := t.TempDir()
	d.store = memtest.Store(t, dir, d.clock, nil)
	var err error
	if d.tokens, err = guard.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opts := api.Options{
		Tiers: tiers.New(d.store), Recall: recall.New(d.store, log), Groom: groom.New(d.store, log), Store: d.store,
		Tokens: d.tokens, Version: "test", Log: log,
	}
	opts.Audit = groom.NewAuditor(groom.AuditorOptions{Store: d.store, Recall: opts.Recall.Recall})
	if edit != nil {
		edit(&opts)
	}
	d.server = api.New(opts)
	d.rest = client.New(client.Handler(d.server.Local()))
	t.Cleanup(d.running.Wait)
	token, err := os.ReadFile(filepath.Join(dir, guard.AdminFile))
	if err != nil {
		t.Fatal(err)
	}
	d.admin = strings.TrimSpace(string(token))
	return d
}

// listen serves the daemon on a TCP socket until the test ends.
func (d *daemon) listen() *daemon {
	d.t.Helper()
	l, err := api.ListenTCP("127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	d.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.server.Serve(ctx, l) }()
	d.stop = sync.OnceValue(func() error { cancel(); return <-done })
	d.t.Cleanup(func() {
		if err := d.stop(); err != nil {
			d.t.Errorf("serve: %v", err)
		}
	})
	return d
}

// settled waits until a session in memory has ended; over HTTP the client's end
// has waited for it.
func (d *daemon) settled() {
	if d.addr == "" {
		<-d.ended
	}
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

// session is a client's end of a session.
type session struct {
	t testing.TB
	*sdk.ClientSession
	progress chan *sdk.ProgressNotificationParams
}

// open connects the library's client to a Server in memory, until the test ends.
func (d *daemon) open(opts mcp.Options) *session {
	d.t.Helper()
	if opts.Client == nil {
		opts.Client = func(context.Context) *client.Client { return d.rest }
	}
	opts.Version = "test"
	return d.serve(mcp.New(opts))
}

func (d *daemon) serve(server *mcp.Server) *session {
	d.t.Helper()
	theirs, ours := sdk.NewInMemoryTransports()
	d.running.Go(func() {
		if err := server.Run(context.Background(), ours); err != nil {
			d.t.Errorf("run: %v", err)
		}
		d.ended <- struct{}{}
	})
	s := d.connect(theirs)
	d.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (d *daemon) connect(transport sdk.Transport) *session {
	d.t.Helper()
	s := &session{t: d.t, progress: make(chan *sdk.ProgressNotificationParams, 100)}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { s.progress <- req.Params },
	})
	var err error
	if s.ClientSession, err = c.Connect(context.Background(), transport, nil); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// over connects the library's client over HTTP with a token, until the test ends.
func (d *daemon) over(token, query string) *session {
	d.t.Helper()
	s := d.connect(&sdk.StreamableClientTransport{Endpoint: d.url() + query, HTTPClient: d.http(token)})
	d.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (d *daemon) url() string { return "http://" + d.addr + "/mcp" }

// http is a client that shows a token and keeps no connection when the test ends.
func (d *daemon) http(token string) *http.Client {
	transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
	d.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: bearer{token, transport}}
}

// tcp sends a client's requests to the daemon with a token.
type tcp struct {
	d     *daemon
	token string
}

func (c tcp) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Host = "localhost"
	return client.Handler(c.d.server.Remote()).RoundTrip(r)
}

type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// args are the arguments of a call.
type args map[string]any

// result is what a call answered.
type result struct {
	t          testing.TB
	structured json.RawMessage
	text       string
	isError    bool
}

// call calls a tool.
func (s *session) call(tool string, in any) result {
	s.t.Helper()
	res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		s.t.Fatalf("%s: %v", tool, err)
	}
	r := result{t: s.t, isError: res.IsError}
	for _, c := range res.Content {
		r.text += c.(*sdk.TextContent).Text
	}
	if r.structured, err = plain(res.StructuredContent); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// plain is a value as JSON in which < stands as it is.
func plain(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// into decodes the structured content of a call that went well.
func (r result) into(v any) result {
	r.t.Helper()
	if r.isError {
		r.t.Fatalf("refused: %s", r.structured)
	}
	reflect.ValueOf(v).Elem().SetZero() // or lists would be merged
	if err := json.Unmarshal(r.structured, v); err != nil {
		r.t.Fatal(err)
	}
	return r
}

// problem is the structured content of a refusal.
type problem struct {
	Code   memd.Code
	Detail string
	Field  string
	Hint   string
	Rules  []string
	Fields []string
	Head   *memd.Memory
}

// refused checks that a call was refused for this.
func (r result) refused(code memd.Code, field string) problem {
	r.t.Helper()
	var p problem
	if err := json.Unmarshal(r.structured, &p); err != nil || !r.isError || p.Code != code || p.Field != field || p.Detail == "" || !strings.HasPrefix(r.text, string(code)+": ") {
		r.t.Fatalf("want %s of %q, got error %v %s %q (%v)", code, field, r.isError, r.structured, r.text, err)
	}
	return p
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

// logger logs everything as JSON to the daemon's log.
func (d *daemon) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// stats are the tiers of the store.
func (d *daemon) stats() []store.TierStats {
	d.t.Helper()
	st, err := d.store.Stats(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	return st.Tiers
}
