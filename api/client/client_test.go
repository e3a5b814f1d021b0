package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"memd"
)

// overBoth runs a test against h through either transport: what a caller sees
// must not tell them apart.
func overBoth(t *testing.T, h http.HandlerFunc, test func(*testing.T, *Client)) {
	t.Run("handler", func(t *testing.T) { test(t, New(Handler(h))) })
	t.Run("unix", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: h}
		done := make(chan struct{})
		go func() { defer close(done); _ = server.Serve(l) }()
		c := New(Unix(path))
		test(t, c)
		c.Close()
		_ = server.Close()
		<-done
	})
}

// What has no room in an address is refused for its size, and not sent.
func TestLongAddresses(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("sent: %.60s", r.RequestURI)
	}, func(t *testing.T, c *Client) {
		_, id := c.Get(context.Background(), strings.Repeat("z", 70_000))
		_, q := c.List(context.Background(), memd.List{Q: strings.Repeat("密", 10_000)})
		for name, err := range map[string]error{"an id": id, "a query": q} {
			if memd.CodeOf(err) != memd.CodeTooLarge || strings.Contains(err.Error(), "zzz") {
				t.Errorf("%s: %.100v", name, err)
			}
		}
	})
}

// Whatever an id or key holds, it stays one segment of the path.
func TestSegments(t *testing.T) {
	for segment, want := range map[string]string{
		"a":                 "/v1/memories/a",
		"deploy/how":        "/v1/memories/deploy%2Fhow",
		"../../etc/passwd":  "/v1/memories/..%2F..%2Fetc%2Fpasswd",
		"..":                "/v1/memories/%2E%2E",
		".":                 "/v1/memories/%2E",
		"a?b#c%2F":          "/v1/memories/a%3Fb%23c%252F",
		"x y\u202e\x1b[31m": "/v1/memories/x%20y%E2%80%AE%1B%5B31m",
	} {
		var got string
		overBoth(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.RequestURI
			if r.URL.EscapedPath() != r.RequestURI {
				t.Errorf("%q: path %q, request %q", segment, r.URL.EscapedPath(), r.RequestURI)
			}
			_, _ = io.WriteString(w, `{}`)
		}, func(t *testing.T, c *Client) {
			if _, err := c.Get(context.Background(), segment); err != nil {
				t.Errorf("%q: %v", segment, err)
			}
			if got != want {
				t.Errorf("%q went to %q, want %q", segment, got, want)
			}
		})
	}
	_, err := New(Handler(http.NotFoundHandler())).Get(context.Background(), "")
	if memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("an empty id: %v", err)
	}
}

func TestProblem(t *testing.T) {
	const document = `{"type":"about:blank","status":409,"code":"version_conflict","field":"base_version",` +
		`"detail":"the head has version 2","hint":"read it first","head":{"id":"x","version":2}}`
	overBoth(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, document+"\n")
	}, func(t *testing.T, c *Client) {
		reply, err := c.RememberLongTerm(context.Background(), memd.RememberLongTerm{})
		e, ok := errors.AsType[*memd.Error](err)
		if !ok {
			t.Fatalf("error %v", err)
		}
		if e.Code != memd.CodeVersionConflict || e.Field != "base_version" || e.Hint != "read it first" ||
			e.Message != "the head has version 2" || e.Head == nil || e.Head.Version != 2 {
			t.Errorf("error %+v", e)
		}
		if string(reply.Raw) != document {
			t.Errorf("raw %s", reply.Raw)
		}
	})
}

// An answer that nobody of ours wrote is still an error, and never a success.
func TestForeignAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{http.StatusBadGateway, "<html>"},
		{http.StatusNotFound, ""},
		{http.StatusFound, ""},
		{http.StatusOK, "<html>"},
	} {
		overBoth(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}, func(t *testing.T, m *Client) {
			if _, err := m.Stats(context.Background()); memd.CodeOf(err) != memd.CodeStoreFailed || err == nil {
				t.Errorf("%d %q: %v", c.status, c.body, err)
			}
		})
	}
}

func TestNoContent(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodDelete {
			t.Errorf("method %s", r.Method)
		}
		w.WriteHeader(http.StatusNoContent)
	}, func(t *testing.T, c *Client) {
		reply, err := c.Forget(context.Background(), "x")
		if err != nil || len(reply.Raw) != 0 {
			t.Errorf("%s %v", reply.Raw, err)
		}
	})
}

// Both transports present a request alike.
func TestRequest(t *testing.T) {
	overBoth(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"summary":"s","tags":["a,b"]}` {
			t.Errorf("body %s %v", body, err)
		}
		if r.Host != host || r.URL.Host != "" || r.URL.Scheme != "" {
			t.Errorf("host %q, URL %v", r.Host, r.URL)
		}
		if got := r.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
		if r.ContentLength != int64(len(body)) {
			t.Errorf("content length %d", r.ContentLength)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"x","deduplicated":true,"later":1}`)
	}, func(t *testing.T, c *Client) {
		reply, err := c.Remember(context.Background(), memd.Remember{Summary: "s", Tags: []string{"a,b"}})
		if err != nil || reply.Value.ID != "x" || !reply.Value.Deduplicated {
			t.Errorf("%+v %v", reply.Value, err)
		}
	})
}

func TestListQuery(t *testing.T) {
	stale := false
	overBoth(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query().Encode(); got != "access=a&access=b&limit=3&namespace=%2A&q=x%26y&stale=false" {
			t.Errorf("query %s", got)
		}
		_, _ = io.WriteString(w, `{"memories":[]}`)
	}, func(t *testing.T, c *Client) {
		req := memd.List{Namespace: "*", Q: "x&y", Stale: &stale, Limit: 3, Access: []string{"a", "b"}}
		if _, err := c.List(context.Background(), req); err != nil {
			t.Error(err)
		}
	})
}

// A call has a connection of its own, so that one whose daemon went away between
// two calls reaches the next one, and what dialling says is what the call says.
func TestDialled(t *testing.T) {
	dir := t.TempDir()
	var serving *http.Server
	done := make(chan struct{})
	dials := 0
	c := New(Dialled(func(ctx context.Context) (net.Conn, error) {
		if dials++; dials > 3 {
			return nil, memd.Errorf(memd.CodeStoreBusy, "nobody can be had").WithHint("later")
		}
		if serving != nil {
			_ = serving.Close() // with every connection
			<-done
		}
		path := filepath.Join(dir, strings.Repeat("s", dials))
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, err
		}
		serving, done = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) })}, make(chan struct{})
		go func(s *http.Server, done chan struct{}) { defer close(done); _ = s.Serve(l) }(serving, done)
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}))
	for range 3 {
		if _, err := c.Remember(t.Context(), memd.Remember{Summary: "x"}); err != nil {
			t.Error(err)
		}
	}
	_, err := c.Remember(t.Context(), memd.Remember{Summary: "x"})
	e, ok := err.(*memd.Error)
	if !ok || e.Code != memd.CodeStoreBusy || e.Message != "nobody can be had" || e.Hint != "later" {
		t.Errorf("the refusal of dialling became %v", err)
	}
	c.Close()
	_ = serving.Close()
	<-done
}

// A daemon that is gone is told from a caller who gave up, and the error
// keeps the query to itself.
func TestUnanswered(t *testing.T) {
	c := New(Unix(filepath.Join(t.TempDir(), "none")))
	_, err := c.List(context.Background(), memd.List{Q: "private"})
	if memd.CodeOf(err) != memd.CodeStoreFailed || strings.Contains(err.Error(), "private") {
		t.Errorf("no daemon: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Stats(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// A Client that insists repeats a call whose answer got lost, once, and no call that
// a repeat would carry out twice.
func TestInsisting(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		run   func(*Client) error
		sends int  // where no answer ever comes
		once  bool // under one Idempotency-Key
	}{
		"get":                {func(c *Client) error { _, err := c.Get(ctx, "x"); return err }, 4, false},
		"list":               {func(c *Client) error { _, err := c.List(ctx, memd.List{}); return err }, 4, false},
		"recall":             {func(c *Client) error { _, err := c.Recall(ctx, memd.Query{Query: "x"}); return err }, 4, false},
		"context":            {func(c *Client) error { _, err := c.Context(ctx, memd.ContextRequest{}); return err }, 4, false},
		"why":                {func(c *Client) error { _, err := c.Why(ctx, memd.WhyRequest{}); return err }, 4, false},
		"note":               {func(c *Client) error { _, err := c.Note(ctx, "s", memd.Note{}); return err }, 4, true},
		"remember":           {func(c *Client) error { _, err := c.Remember(ctx, memd.Remember{}); return err }, 4, true},
		"remember_long_term": {func(c *Client) error { _, err := c.RememberLongTerm(ctx, memd.RememberLongTerm{}); return err }, 4, true},
		"verify":             {func(c *Client) error { _, err := c.Verify(ctx, "x", memd.Verify{}); return err }, 4, true},
		"forget":             {func(c *Client) error { _, err := c.Forget(ctx, "x"); return err }, 1, false},
		"patch":              {func(c *Client) error { _, err := c.Patch(ctx, "x", memd.Patch{}); return err }, 1, false},
		"rollover":           {func(c *Client) error { _, err := c.Rollover(ctx); return err }, 1, false},
		"backup":             {func(c *Client) error { _, err := c.Backup(ctx, ""); return err }, 1, false},
	} {
		for answered, sends := range map[int]int{0: tt.sends, 4: tt.sends, 2: min(2, tt.sends), 1: 1} { // by which of the sends; 0: by none
			var keys []string
			var bodies []string
			overBoth(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }, func(t *testing.T, c *Client) {
				keys, bodies = nil, nil
				next := c.http.Transport
				c = New(tripper(func(r *http.Request) (*http.Response, error) {
					body := []byte{}
					if r.Body != nil {
						body, _ = io.ReadAll(r.Body)
						r.Body = io.NopCloser(bytes.NewReader(body))
					}
					keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(body))
					res, err := next.RoundTrip(r)
					if len(keys) != answered && err == nil {
						return nil, errors.Join(io.EOF, res.Body.Close())
					}
					return res, err
				}))
				err := tt.run(c.Insisting())
				if len(keys) != sends || (err == nil) != (answered == sends) {
					t.Errorf("%s, answered by send %d: sent %d times, want %d: %v", name, answered, len(keys), sends, err)
				}
				if err != nil && memd.CodeOf(err) != memd.CodeStoreFailed {
					t.Errorf("%s: %v", name, err)
				}
				if (keys[0] != "") != tt.once || keys[0] != keys[len(keys)-1] || bodies[0] != bodies[len(bodies)-1] {
					t.Errorf("%s: keys %q, bodies %q", name, keys, bodies)
				}
				if _ = tt.run(c.Insisting()); tt.once && keys[len(keys)-1] == keys[0] {
					t.Errorf("%s: two calls have one key", name)
				}
				keys = nil
				if _ = tt.run(c); len(keys) != 1 || keys[0] != "" {
					t.Errorf("%s: one that does not insist sends %q", name, keys)
				}
			})
		}
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// What a handler flushes can be read before it ends, and who closes the answer ends it.
func TestFlushed(t *testing.T) {
	ended := make(chan error, 2)
	overBoth(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Before", "yes")
		_, _ = io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		w.Header().Set("X-After", "no")
		var err error
		for err == nil { // until nobody reads
			_, err = w.Write(bytes.Repeat([]byte("more\n"), 1000))
		}
		ended <- err
	}, func(t *testing.T, c *Client) {
		res, err := c.http.Get("http://localhost/v1/x")
		if err != nil {
			t.Fatal(err)
		}
		if res.Header.Get("X-Before") != "yes" || res.Header.Get("X-After") != "" {
			t.Errorf("headers %v", res.Header)
		}
		first := make([]byte, len("first\nmore\n"))
		if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "first\nmore\n" {
			t.Errorf("%q, %v", first, err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	// An end that is none is no end of the answer.
	overBoth(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, c *Client) {
		res, err := c.http.Get("http://localhost/v1/x")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if text, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(text) != "first\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}
