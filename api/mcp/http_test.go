package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memd"
	"memd/api/mcp"
	"memd/configs"

	"memd/api"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// calling is a message that calls a tool.
func calling(id int, tool string, in args) string {
	raw, err := json.Marshal(args{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": args{"name": tool, "arguments": in}})
	if err != nil {
		panic(err) // the tests' own
	}
	return string(raw)
}

// ask is one HTTP request to /mcp.
type ask struct {
	method, query  string
	token, session string
	body           string
	header         map[string]string
	host           string
}

func (d *daemon) request(ctx context.Context, a ask) *http.Request {
	d.t.Helper()
	if a.method == "" {
		a.method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, a.method, d.url()+a.query, strings.NewReader(a.body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.session != "" {
		r.Header.Set(mcp.SessionHeader, a.session)
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	r.Host = a.host
	return r
}

// reply is an answer, read whole.
type reply struct {
	*http.Response
	body string
}

func (d *daemon) ask(a ask) reply {
	d.t.Helper()
	res, err := d.plain().Do(d.request(context.Background(), a))
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return reply{res, string(body)}
}

// plain is a client without a token that keeps no connection.
func (d *daemon) plain() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// begin opens a session by hand and returns its id.
func (d *daemon) begin(token, query string) string {
	d.t.Helper()
	r := d.ask(ask{token: token, body: initialize, query: query})
	id := r.Header.Get(mcp.SessionHeader)
	if r.StatusCode != http.StatusOK || id == "" {
		d.t.Fatalf("initialize: %d %s", r.StatusCode, r.body)
	}
	if r := d.ask(ask{token: token, session: id, body: ready}); r.StatusCode != http.StatusAccepted {
		d.t.Fatalf("initialized: %d %s", r.StatusCode, r.body)
	}
	return id
}

// refused checks that an answer is a problem of REST's kind.
func (d *daemon) refused(r reply, status int, code memd.Code) {
	d.t.Helper()
	var p struct {
		Code   memd.Code
		Status int
	}
	if err := json.Unmarshal([]byte(r.body), &p); err != nil || r.StatusCode != status || p.Code != code || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
		d.t.Errorf("want %d %s, got %d %s %s", status, code, r.StatusCode, r.Header.Get("Content-Type"), r.body)
	}
}

// A session belongs to the token that opened it, and goes by that token's rights.
func TestSessionOfAToken(t *testing.T) {
	d := start(t, nil).listen()
	ann, bob := d.token("ann", memd.RoleWrite, "default"), d.token("bob", memd.RoleRead)
	id := d.begin(ann, "")
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if r := d.ask(ask{token: ann, session: id, body: list}); r.StatusCode != 200 || !strings.Contains(r.body, "remember_long_term") {
		t.Errorf("ann: %d %s", r.StatusCode, r.body)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		for _, token := range []string{bob, d.admin} {
			d.refused(d.ask(ask{method: method, token: token, session: id, body: list}), http.StatusNotFound, memd.CodeNotFound)
		}
		d.refused(d.ask(ask{method: method, token: ann, session: "none", body: list}), http.StatusNotFound, memd.CodeNotFound)
		d.refused(d.ask(ask{method: method, session: id, body: list}), http.StatusUnauthorized, memd.CodeUnauthorized)
	}
	if r := d.ask(ask{token: ann, session: id, body: calling(3, "remember", args{"summary": "a plum"})}); !strings.Contains(r.body, "Saved") {
		t.Errorf("ann writes: %s", r.body)
	}
	reader := d.over(bob, "")
	reader.call("remember", args{"summary": "a pear"}).refused(memd.CodeForbidden, "")
	var a memd.Answer
	reader.call("recall", args{"query": "plum"}).into(&a)
	if len(a.Results) != 1 {
		t.Errorf("bob finds %+v", a.Results)
	}
	// A token that is revoked opens nothing more.
	if err := d.tokens.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	d.refused(d.ask(ask{token: ann, session: id, body: list}), http.StatusUnauthorized, memd.CodeUnauthorized)
}

// What REST's gates refuse they refuse here.
func TestGates(t *testing.T) {
	d := start(t, func(o *api.Options) { o.Hosts = []string{"memory.example"} }).listen()
	id := d.begin(d.admin, "")
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		for _, a := range []ask{
			{host: "evil.example"}, {header: map[string]string{"Origin": "http://evil.example"}}, {header: map[string]string{"Origin": "null"}},
			{header: map[string]string{"Sec-Fetch-Site": "cross-site"}},
		} {
			a.method, a.token, a.session, a.body = method, d.admin, id, initialize
			d.refused(d.ask(a), http.StatusForbidden, memd.CodeForbidden)
		}
		d.refused(d.ask(ask{method: method, token: "wrong", body: initialize}), http.StatusUnauthorized, memd.CodeUnauthorized)
	}
	if r := d.ask(ask{token: d.admin, body: initialize, host: "memory.example"}); r.StatusCode != http.StatusOK {
		t.Errorf("a configured name: %d %s", r.StatusCode, r.body)
	}
	large := calling(2, "remember", args{"summary": strings.Repeat("x", 2<<20)})
	d.refused(d.ask(ask{token: d.admin, session: id, body: large}), http.StatusRequestEntityTooLarge, memd.CodeTooLarge)
	d.refused(d.ask(ask{token: d.admin, body: large}), http.StatusRequestEntityTooLarge, memd.CodeTooLarge)
	d.refused(d.ask(ask{token: d.admin, session: id, body: "{}", header: map[string]string{"Content-Type": "text/plain"}}), http.StatusUnsupportedMediaType, memd.CodeUnsupportedMediaType)
	for _, a := range []ask{
		{body: "{"}, {body: ""}, {body: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`}, {body: `{"jsonrpc":"2.0","id":3.5,"method":"ping"}`}, {body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}"}, {body: initialize, header: map[string]string{"Accept": "text/html"}},
		{method: http.MethodGet, header: map[string]string{"Last-Event-ID": "xylophone"}}, {method: http.MethodGet, header: map[string]string{"Last-Event-ID": "xylophone_1"}},
		{body: initialize, header: map[string]string{"Mcp-Protocol-Version": "1999-xylophone"}},
	} {
		a.token, a.session = d.admin, id
		r := d.ask(a)
		d.refused(r, http.StatusBadRequest, memd.CodeInvalidRequest)
		if strings.Contains(r.body, "xylophone") {
			t.Errorf("%+v is repeated: %s", a, r.body)
		}
	}
	d.refused(d.ask(ask{method: http.MethodDelete, token: d.admin, session: id, header: map[string]string{"Mcp-Protocol-Version": "1999"}}), http.StatusBadRequest, memd.CodeInvalidRequest)
	d.refused(d.ask(ask{method: http.MethodGet, token: d.admin}), http.StatusBadRequest, memd.CodeInvalidRequest)
	d.refused(d.ask(ask{method: http.MethodDelete, token: d.admin}), http.StatusBadRequest, memd.CodeInvalidRequest)
	for _, query := range []string{"?agent=A", "?project=..", "?profile=x", "?x=y", "?agent=a&agent=b", "?%zz"} {
		d.refused(d.ask(ask{token: d.admin, body: initialize, query: query}), http.StatusBadRequest, memd.CodeInvalidRequest)
	}
	if r := d.ask(ask{method: http.MethodPut, token: d.admin}); r.StatusCode != http.StatusMethodNotAllowed || len(r.Header.Values("Allow")) == 0 {
		t.Errorf("PUT: %d %v", r.StatusCode, r.Header)
	}
}

// The rates of a caller hold for its calls.
func TestRates(t *testing.T) {
	d := start(t, func(o *api.Options) {
		o.Limits = configs.DefaultLimits()
		o.Limits.Rate, o.Limits.Burst = 1, 30
	}).listen()
	ann, bob := d.token("ann", memd.RoleWrite), d.token("bob", memd.RoleWrite)
	var batch []string
	for i := range 40 {
		batch = append(batch, calling(i+2, "list", nil))
	}
	id := d.begin(ann, "")
	r := d.ask(ask{token: ann, session: id, body: "[" + strings.Join(batch, ",") + "]", header: map[string]string{"Mcp-Protocol-Version": "2025-03-26"}})
	if n := strings.Count(r.body, `"code":"rate_limited"`); n == 0 || n == 40 {
		t.Errorf("%d of 40 calls are too many: %s", n, r.body)
	}
	d.refused(d.ask(ask{token: ann, session: id, body: calling(99, "list", nil)}), http.StatusTooManyRequests, memd.CodeRateLimited)
	d.begin(bob, "")
}

// event is a server-sent event.
type event struct{ id, data string }

func eventsOf(r io.Reader, each func(event) bool) {
	var e event
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e != (event{}) && !each(e) {
				return
			}
			e = event{}
		}
	}
}

// A stream goes on where its connection broke.
func TestResumption(t *testing.T) {
	d := start(t, nil).listen()
	id := d.begin(d.admin, "")
	ctx, hangUp := context.WithCancel(context.Background())
	res, err := d.plain().Do(d.request(ctx, ask{token: d.admin, session: id, body: calling(7, "remember", args{"summary": "a plum"})}))
	if err != nil {
		t.Fatal(err)
	}
	var first event
	eventsOf(res.Body, func(e event) bool { first = e; return false })
	hangUp()
	_ = res.Body.Close()
	for {
		r := d.ask(ask{method: http.MethodGet, token: d.admin, session: id, header: map[string]string{"Last-Event-ID": first.id}})
		if r.StatusCode == http.StatusConflict {
			continue // the daemon has not seen yet that the connection is gone
		}
		var got []event
		eventsOf(strings.NewReader(r.body), func(e event) bool { got = append(got, e); return true })
		if len(got) != 1 || got[0].id == first.id || !strings.Contains(got[0].data, `"id":7`) || !strings.Contains(got[0].data, "Saved") {
			t.Errorf("after %+v: %d %s", first, r.StatusCode, r.body)
		}
		break
	}
	if n := d.rows(); n != 1 {
		t.Errorf("%d rows", n)
	}
	d.refused(d.ask(ask{method: http.MethodGet, token: d.token("bob", memd.RoleAdmin), session: id, header: map[string]string{"Last-Event-ID": first.id}}), http.StatusNotFound, memd.CodeNotFound)
}

func (d *daemon) rows() (n int) {
	for _, tier := range d.stats() {
		n += tier.Rows
	}
	return n
}

// What several clients do at once is whole, each for itself.
func TestSeveralClients(t *testing.T) {
	d := start(t, nil).listen()
	var running sync.WaitGroup
	for i := range 8 {
		s := d.over(d.admin, fmt.Sprintf("?agent=a%d", i))
		running.Go(func() {
			for j := range 10 {
				var w memd.Written
				s.call("remember", args{"summary": fmt.Sprintf("plum %d of client %d", j, i)}).into(&w)
				s.call("note", args{"summary": fmt.Sprintf("note %d", j)}).into(&w)
			}
			var p memd.Page
			s.call("list", args{"namespace": fmt.Sprintf("agent/a%d", i)}).into(&p)
			if len(p.Memories) != 10 {
				t.Errorf("client %d finds %d", i, len(p.Memories))
			}
		})
	}
	running.Wait()
	if n := d.rows(); n != 160 {
		t.Errorf("%d rows", n)
	}
}

// The daemon ends while streams are open, and the notes of its sessions with it.
func TestDrain(t *testing.T) {
	d := start(t, nil).listen()
	s := d.over(d.admin, "")
	s.call("note", args{"summary": "a plum"}).into(&memd.Written{})
	id := d.begin(d.admin, "")
	res, err := d.plain().Do(d.request(context.Background(), ask{method: http.MethodGet, token: d.admin, session: id}))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	if log := d.log.String(); strings.Contains(log, "cut off") {
		t.Errorf("log: %s", log)
	}
	if n := d.rows(); n != 0 {
		t.Errorf("%d notes are left", n)
	}
}

// A caller has a bounded number of sessions; those it does not use end first. What
// is no session does not count.
func TestSessionsAreBounded(t *testing.T) {
	d := start(t, nil).listen()
	ann := d.token("ann", memd.RoleWrite)
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	others := d.begin(d.admin, "")
	var ids []string
	for range 64 {
		ids = append(ids, d.begin(ann, ""))
		if r := d.ask(ask{token: ann, body: list}); r.Header.Get(mcp.SessionHeader) != "" {
			t.Fatalf("a session without initialize: %d %s", r.StatusCode, r.body)
		}
	}
	if slices.Compact(slices.Sorted(slices.Values(ids)))[0] == "" || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 64 {
		t.Error("ids repeat")
	}
	alive := func(token, id string) int { return d.ask(ask{token: token, session: id, body: list}).StatusCode }
	if got := alive(ann, ids[0]); got != http.StatusOK { // which makes it the last used
		t.Errorf("the first of 64: %d", got)
	}
	d.begin(ann, "")
	for i, want := range map[int]int{0: http.StatusOK, 1: http.StatusNotFound, 2: http.StatusOK, 63: http.StatusOK} {
		if got := alive(ann, ids[i]); got != want {
			t.Errorf("session %d: %d, want %d", i, got, want)
		}
	}
	if metrics, err := d.http(d.admin).Get("http://" + d.addr + "/metrics"); err != nil {
		t.Error(err)
	} else {
		text, err := io.ReadAll(metrics.Body)
		_ = metrics.Body.Close()
		if err != nil || !strings.Contains(string(text), "memd_mcp_sessions 65\n") {
			t.Errorf("metrics: %v %.300s", err, text)
		}
	}
	if got := alive(d.admin, others); got != http.StatusOK {
		t.Errorf("another caller's: %d", got)
	}
}

// alone is a Handler without gates over a daemon that answers as told.
func alone(rest http.HandlerFunc) *mcp.Handler {
	return mcp.NewHandler(mcp.HandlerOptions{
		REST:   rest,
		Caller: func(*http.Request) memd.Caller { return memd.LocalAdmin() },
		As:     func(ctx context.Context, _ memd.Caller) context.Context { return ctx },
		Refuse: func(w http.ResponseWriter, _ *http.Request, e *memd.Error) { w.WriteHeader(e.Code.Statuses().HTTP) },
	})
}

// post hands a message to a Handler.
func post(h http.Handler, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set(mcp.SessionHeader, session)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// The end of the daemon gives up what runs too long, also in a session that was
// pushed out by others.
func TestCloseWithinCalls(t *testing.T) {
	begun := make(chan struct{}, 2)
	h := alone(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	var calls sync.WaitGroup
	for i := range 2 {
		id := post(h, "", initialize).Header().Get(mcp.SessionHeader)
		post(h, id, ready)
		calls.Go(func() { post(h, id, calling(2, "list", nil)) })
		<-begun
		for range 64 * (1 - i) { // the first goes, whatever it does
			id := post(h, "", initialize).Header().Get(mcp.SessionHeader)
			calls.Go(func() {
				r := httptest.NewRequest(http.MethodGet, "/mcp", nil)
				r.Header.Set("Accept", "text/event-stream")
				r.Header.Set(mcp.SessionHeader, id)
				h.ServeHTTP(httptest.NewRecorder(), r)
			})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h.Close(ctx)
	calls.Wait()
	if w := post(h, "", initialize); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a session after the end: %d", w.Code)
	}
}

// A session that is not used for long ends with its notes.
func TestIdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []string
		h := alone(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r.Method+" "+r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		})
		ask := func(session, body string) *httptest.ResponseRecorder { return post(h, session, body) }
		id := ask("", initialize).Header().Get(mcp.SessionHeader)
		ask(id, ready)
		ask(id, calling(2, "note", args{"summary": "a plum"}))
		time.Sleep(29 * time.Minute)
		if w := ask(id, calling(3, "list", nil)); w.Code != http.StatusOK {
			t.Errorf("within half an hour: %d", w.Code)
		}
		mu.Lock()
		asked = nil
		mu.Unlock()
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		if w := ask(id, calling(4, "list", nil)); w.Code != http.StatusNotFound {
			t.Errorf("after it: %d", w.Code)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"DELETE /v1/sessions/" + id}; !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
		h.Close(context.Background())
	})
}

// Messages that nest deeply are refused, and end nothing.
func TestDeepMessages(t *testing.T) {
	d := start(t, nil).listen()
	id := d.begin(d.admin, "")
	const depth = 400_000
	deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	objects := strings.Repeat(`{"a":`, depth/4) + "1" + strings.Repeat("}", depth/4)
	for _, body := range []string{
		deep, strings.Repeat("[", 2*depth), objects,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":` + deep + `}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":{"query":` + objects + `}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall","_meta":` + objects + `}}`,
		`{"jsonrpc":"2.0","id":4,"method":"initialize","params":` + objects + `}`,
	} {
		for _, session := range []string{id, ""} {
			if r := d.ask(ask{token: d.admin, session: session, body: body}); r.StatusCode >= 500 {
				t.Errorf("%.80s: %d %.200s", body, r.StatusCode, r.body)
			}
		}
	}
	if r := d.ask(ask{token: d.admin, session: id, body: `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`}); r.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", r.StatusCode)
	}
}
