package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"memd"
	"memd/api/client"
	"memd/api/mcp"
)

// line is a line of the server's.
type line struct {
	Version string `json:"jsonrpc"`
	ID      any
	Method  string
	Result  json.RawMessage
	Error   *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// spoken writes lines to a server over stdio, closes that end and returns what the
// server said, for which it has as long as last says then.
func (d *daemon) spoken(c *client.Client, in string, last time.Duration) []line {
	d.t.Helper()
	out := &logBuffer{}
	stdio := mcp.NewStdio(strings.NewReader(in), out)
	stdio.Patient(last)
	err := mcp.New(mcp.Options{Client: func(context.Context) *client.Client { return c }, Version: "test"}).Run(context.Background(), stdio)
	if err != nil { // not even where an answer comes too late
		d.t.Errorf("run: %v", err)
	}
	<-stdio.Ended()
	return linesOf(d.t, out.String())
}

func linesOf(t testing.TB, text string) (all []line) {
	t.Helper()
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		var l line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil || l.Version != "2.0" {
			t.Fatalf("%q is no message: %v", scan.Text(), err)
		}
		all = append(all, l)
	}
	return all
}

// patience bounds every wait of these tests.
const patience = 20 * time.Second

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// What is no message is answered, and the session goes on.
func TestStdioRefusesLines(t *testing.T) {
	d := start(t, nil)
	for name, tt := range map[string]struct {
		line string
		id   any
		code int // 0: no answer
	}{
		"garbage":          {"garbage", nil, -32700},
		"half a message":   {`{"jsonrpc":"2.0","id":3,`, nil, -32700},
		"two messages":     {`{"jsonrpc":"2.0","id":3,"method":"ping"}{"jsonrpc":"2.0","id":4,"method":"ping"}`, nil, -32700},
		"invalid UTF-8":    {"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"remember\",\"arguments\":{\"summary\":\"\xff\"}}}", nil, -32700},
		"a batch":          {`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, nil, -32600},
		"an empty batch":   {`[]`, nil, -32600},
		"a number":         {`17`, nil, -32600},
		"null":             {`null`, nil, -32600},
		"no message":       {`{}`, nil, -32600},
		"another protocol": {`{"jsonrpc":"1.0","id":3,"method":"ping"}`, float64(3), -32600},
		"an odd id":        {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, nil, -32600},
		"half an id":       {`{"jsonrpc":"2.0","id":3.5,"method":"ping"}`, 3.5, -32600},
		"a large id":       {`{"jsonrpc":"2.0","id":1e30,"method":"ping"}`, 1e30, -32600},
		"a huge id":        {`{"jsonrpc":"2.0","id":` + strings.Repeat("9", 500) + `,"method":"ping"}`, nil, -32600},
		"a huge line":      {`{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", 5<<20) + `"}`, nil, -32600},
		"deep nesting":     {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), nil, -32700},
		"unknown method":   {`{"jsonrpc":"2.0","id":3,"method":"no/such"}`, float64(3), -32601},
		"a log's level":    {`{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}`, float64(3), -32601},
		"a subscription":   {`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"memd://memory/1"}}`, float64(3), -32601},
		"an answer":        {`{"jsonrpc":"2.0","id":3,"result":{}}`, nil, 0},
		"unknown notice":   {`{"jsonrpc":"2.0","method":"notifications/no/such"}`, nil, 0},
		"a blank line":     {" \r", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			said := d.spoken(d.rest, hello+tt.line+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`, patience)
			byID := map[any]line{}
			for _, l := range said {
				byID[l.ID] = l
			}
			if byID["hello"].Result == nil || byID["after"].Result == nil {
				t.Fatalf("the session does not go on: %+v", said)
			}
			if got := byID[tt.id]; tt.code == 0 && len(said) != 2 || tt.code != 0 && (got.Error == nil || got.Error.Code != tt.code || len(said) != 3) {
				t.Errorf("answered %+v", said)
			}
		})
	}
}

// What was called is answered although the client has closed its end already, and
// a call that takes too long is given up.
func TestStdioAnswersToTheEnd(t *testing.T) {
	d := start(t, nil)
	var calls strings.Builder
	calls.WriteString(hello)
	for i := range 50 {
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list","arguments":{}}}`+"\n", i)
	}
	said := d.spoken(d.rest, calls.String(), patience)
	for _, l := range said {
		if l.Result == nil {
			t.Errorf("answered %+v", l)
		}
	}
	if len(said) != 51 {
		t.Errorf("%d answers, want 51", len(said))
	}

	release := make(chan struct{})
	stuck := client.New(client.Dialled(func(ctx context.Context) (net.Conn, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-release:
			return nil, errors.New("released")
		}
	}))
	began := time.Now()
	said = d.spoken(stuck, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`, time.Millisecond)
	if took := time.Since(began); took > patience || len(said) > 1 {
		t.Errorf("ended after %s with %+v", took, said)
	}
	close(release)
	stuck.Close()
}

// What is said once the session has ended is no failure of it.
func TestStdioSaidTooLate(t *testing.T) {
	out := &logBuffer{}
	stdio := mcp.NewStdio(strings.NewReader(""), out)
	conn, err := stdio.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
	for range 20 { // whichever of two ways out is taken
		if err := conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/cancelled"}); !errors.Is(err, io.EOF) {
			t.Fatalf("write: %v", err)
		}
	}
	if out.String() != "" {
		t.Errorf("said %q", out.String())
	}
}

// A client that does not read, and one that is gone, end the session.
func TestStdioNobodyReads(t *testing.T) {
	d := start(t, nil)
	for name, broken := range map[string]bool{"does not read": false, "is gone": true} {
		t.Run(name, func(t *testing.T) {
			theirs, in := io.Pipe()
			out, ours := io.Pipe()
			if broken {
				_ = out.Close()
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- mcp.New(mcp.Options{Client: func(context.Context) *client.Client { return d.rest }}).Run(ctx, mcp.NewStdio(theirs, ours))
			}()
			if _, err := io.WriteString(in, hello); err != nil {
				t.Fatal(err)
			}
			if !broken {
				if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it is in the middle of an answer
					t.Fatal(err)
				}
				cancel()
			}
			select {
			case <-done:
			case <-time.After(patience):
				t.Error("the session does not end")
			}
			cancel()
			_, _ = in.Close(), out.Close()
		})
	}
}

// A second call under the id of one that runs is refused, without that id; once the
// first is answered the id can be used again.
func TestStdioIDTwice(t *testing.T) {
	d := start(t, nil)
	asked, release := make(chan struct{}, 10), make(chan struct{})
	slow := client.New(tripper(func(r *http.Request) (*http.Response, error) {
		asked <- struct{}{}
		<-release
		return client.Handler(d.server.Local()).RoundTrip(r)
	}))
	theirs, in := io.Pipe()
	out, ours := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- mcp.New(mcp.Options{Client: func(context.Context) *client.Client { return slow }}).Run(t.Context(), mcp.NewStdio(theirs, ours))
	}()
	answers := bufio.NewReader(out)
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(in, text); err != nil {
			t.Fatal(err)
		}
	}
	hear := func() line {
		t.Helper()
		text, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return linesOf(t, text)[0]
	}
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get","arguments":{"memory_key":"x"}}}` + "\n"
	say(hello)
	hear()
	say(call)
	<-asked
	say(call)
	if l := hear(); l.ID != nil || l.Error == nil || l.Error.Code != -32600 {
		t.Errorf("the second call is answered %+v", l)
	}
	close(release)
	for range 2 {
		if l := hear(); l.ID != float64(7) || l.Result == nil {
			t.Errorf("the call is answered %+v", l)
		}
		say(call)
	}
	hear()
	_ = in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = out.Close()
}

// A write whose answer got lost is carried out once, and answered.
func TestWriteWithALostAnswer(t *testing.T) {
	d := start(t, nil)
	lost := 0
	c := client.New(tripper(func(r *http.Request) (*http.Response, error) {
		res, err := client.Handler(d.server.Local()).RoundTrip(r)
		if lost++; lost%2 == 1 {
			return nil, io.ErrUnexpectedEOF
		}
		return res, err
	})).Insisting()
	s := d.open(mcp.Options{Client: func(context.Context) *client.Client { return c }})
	var w memd.Written
	for _, tool := range []string{"note", "remember"} {
		s.call(tool, args{"summary": "carried out once"}).into(&w)
		if w.ID == "" || w.Deduplicated {
			t.Errorf("%s answers %+v", tool, w)
		}
	}
	s.call("remember_long_term", args{"memory_key": "a.b", "summary": "carried out once", "source": "AGENTS.md"}).into(&w)
	if w.Version != 1 || w.Unchanged {
		t.Errorf("remember_long_term answers %+v", w)
	}
	for _, tier := range d.stats() {
		want := map[memd.Tier]int{memd.Transient: 1, memd.Short: 1, memd.Long: 1}[tier.Tier]
		if tier.Rows != want {
			t.Errorf("%d rows in %s, want %d", tier.Rows, tier.Tier, want)
		}
	}
	lost = 1 // but not the answer to the end of the session, which is asked for once
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// A call that is cancelled says so, or nothing, and the session ends in no more time.
func TestStdioCancelled(t *testing.T) {
	stuck := answering(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })(t.Context())
	var in strings.Builder
	in.WriteString(hello)
	for i := range 20 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list","arguments":{}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%[1]d}}`+"\n", i)
	}
	d := start(t, nil)
	for _, l := range d.spoken(stuck, in.String(), patience) {
		if raw, _ := json.Marshal(l); l.ID != "hello" && !strings.Contains(string(raw), `given up before it was answered`) {
			t.Errorf("answered %s", raw)
		}
	}
}
