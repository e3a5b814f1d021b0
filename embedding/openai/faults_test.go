package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"memd/embedding"
)

// What fails in passing is asked again, after pauses that grow or that the
// server names.
func TestRetry(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(w http.ResponseWriter)
		min  []time.Duration // of the pauses; at most the double
	}{
		{"429", func(w http.ResponseWriter) { failing(w, 429) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"500", func(w http.ResponseWriter) { failing(w, 500) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"408", func(w http.ResponseWriter) { failing(w, 408) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"seconds", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "7")
			failing(w, 503)
		}, []time.Duration{7 * time.Second, 7 * time.Second}},
		{"a date", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "Mon, 30 Nov 2026 02:00:04 GMT")
			failing(w, 429)
		}, []time.Duration{4 * time.Second, 4 * time.Second}},
		{"nonsense", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "-5, soon")
			failing(w, 429)
		}, []time.Duration{500 * time.Millisecond, time.Second}},
		{"cut within", func(w http.ResponseWriter) { io.WriteString(w, `{"data":[{"index":0,"embed`) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"cut short of its length", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"data":[`)
		}, []time.Duration{500 * time.Millisecond, time.Second}},
		{"connection gone", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"too few", func(w http.ResponseWriter) { write(w) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"too many", func(w http.ResponseWriter) {
			write(w, `{"index":0,"embedding":[1,1]}`, `{"index":1,"embedding":[1,1]}`)
		}, []time.Duration{500 * time.Millisecond, time.Second}},
		{"wrong index", func(w http.ResponseWriter) { write(w, `{"index":1,"embedding":[1,1]}`) }, []time.Duration{500 * time.Millisecond, time.Second}},
		{"other JSON", func(w http.ResponseWriter) { io.WriteString(w, `{"data":"none"}`) }, []time.Duration{500 * time.Millisecond, time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStub(t, func(w http.ResponseWriter, n int, asked request) {
				if n <= 2 {
					c.fail(w)
					return
				}
				good(w, n, asked)
			})
			client := s.client()
			vectors, err := client.Embed(t.Context(), []string{private})
			if err != nil {
				t.Fatal(err)
			}
			is(t, vectors[0], private)
			if len(client.pauses) != 2 {
				t.Fatalf("pauses %v", client.pauses)
			}
			for i, p := range client.pauses {
				if p < c.min[i] || p > 2*c.min[i] {
					t.Errorf("pause %d is %v, want %v or up to its double", i, p, c.min[i])
				}
			}
		})
	}
}

// fault runs a call that fails and returns how.
func fault(t *testing.T, c *testClient, texts ...string) *embedding.Fault {
	t.Helper()
	vectors, err := c.Embed(t.Context(), texts)
	f, ok := errors.AsType[*embedding.Fault](err)
	if !ok || len(vectors) != 0 {
		t.Fatalf("%d vectors, error %v", len(vectors), err)
	}
	silent(t, err)
	return f
}

func TestGivingUp(t *testing.T) {
	for _, c := range []struct {
		name     string
		fail     func(w http.ResponseWriter)
		requests int
		passing  bool
		after    time.Duration
	}{
		{"down", func(w http.ResponseWriter) { failing(w, 502) }, 3, true, 0},
		{"a long pause", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "60")
			failing(w, 429)
		}, 1, true, time.Minute},
		{"an endless pause", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "4000000000")
			failing(w, 429)
		}, 1, true, time.Hour},
		{"no key", func(w http.ResponseWriter) { failing(w, 401) }, 1, false, 0},
		{"forbidden", func(w http.ResponseWriter) { failing(w, 403) }, 1, false, 0},
		{"no such model", func(w http.ResponseWriter) { failing(w, 404) }, 1, false, 0},
		{"no content", func(w http.ResponseWriter) { w.WriteHeader(204) }, 1, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStub(t, func(w http.ResponseWriter, _ int, _ request) { c.fail(w) })
			f := fault(t, s.client(), private)
			if s.requests() != c.requests || f.Passing != c.passing || f.After != c.after {
				t.Errorf("%d requests, passing %t, after %v: %v", s.requests(), f.Passing, f.After, f)
			}
		})
	}
}

func TestNoRetries(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, _ int, _ request) { failing(w, 500) })
	if fault(t, s.client(func(c *Config) { c.Retries = -1 }), private); s.requests() != 1 {
		t.Errorf("%d requests", s.requests())
	}
}

// A retry that the caller would not live to see is not waited for.
func TestDeadlineBeforeRetry(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, _ int, _ request) {
		w.Header().Set("Retry-After", "9")
		failing(w, 503)
	})
	c := s.client()
	c.clock = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	_, err := c.Embed(ctx, []string{private})
	if f, ok := errors.AsType[*embedding.Fault](err); !ok || f.After != 9*time.Second || len(c.pauses) != 0 {
		t.Errorf("%v after pauses %v", err, c.pauses)
	}
}

// Vectors go by their index; without any, by their place.
func TestOrder(t *testing.T) {
	texts := []string{"a", "bb", "ccc"}
	for name, items := range map[string][]string{
		"mixed":      {`{"index":2,"embedding":[3,1]}`, `{"index":0,"embedding":[1,1]}`, `{"index":1,"embedding":[2,1]}`},
		"unnumbered": {`{"embedding":[1,1]}`, `{"embedding":[2,1]}`, `{"embedding":[3,1]}`},
	} {
		s := newStub(t, func(w http.ResponseWriter, _ int, _ request) { write(w, items...) })
		vectors, err := s.client().Embed(t.Context(), texts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, v := range vectors {
			is(t, v, texts[i])
		}
	}
	for name, items := range map[string][]string{
		"twice":       {`{"index":0,"embedding":[1,1]}`, `{"index":0,"embedding":[2,1]}`, `{"index":1,"embedding":[3,1]}`},
		"beyond":      {`{"index":0,"embedding":[1,1]}`, `{"index":1,"embedding":[2,1]}`, `{"index":3,"embedding":[3,1]}`},
		"below":       {`{"index":0,"embedding":[1,1]}`, `{"index":1,"embedding":[2,1]}`, `{"index":-1,"embedding":[3,1]}`},
		"some number": {`{"index":0,"embedding":[1,1]}`, `{"index":1,"embedding":[2,1]}`, `{"embedding":[3,1]}`},
	} {
		s := newStub(t, func(w http.ResponseWriter, _ int, _ request) { write(w, items...) })
		if f := fault(t, s.client(), texts...); !f.Passing {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// A vector nobody can use is refused alone.
func TestUnusableVectors(t *testing.T) {
	bad := map[string]error{
		`[1]`: embedding.ErrLength, `[1,2,3]`: embedding.ErrLength, `[]`: embedding.ErrLength, `null`: embedding.ErrLength,
		`"AACAPwAAgD8="`: embedding.ErrLength, `[1,null]`: embedding.ErrLength, `[[1,1],[1,1]]`: embedding.ErrLength, `[1,"2"]`: embedding.ErrLength,
		`{}`: embedding.ErrLength, `[1,1e999]`: embedding.ErrNotFinite, `[-1e39,1]`: embedding.ErrNotFinite, `[0,0]`: embedding.ErrZero, `[0.0, -0]`: embedding.ErrZero,
	}
	for vector, want := range bad {
		s := newStub(t, func(w http.ResponseWriter, _ int, _ request) {
			write(w, `{"index":0,"embedding":[3,1]}`, `{"index":1,"embedding":`+vector+`}`, `{"index":2,"embedding":[ 5 ,`+"\n"+`1e0 ]}`)
		})
		vectors, err := s.client().Embed(t.Context(), []string{"aaa", private, "aaaaa"})
		refused, ok := errors.AsType[*embedding.Refused](err)
		if !ok || len(vectors) != 3 || vectors[1] != nil {
			t.Errorf("%s: %d vectors, error %v", vector, len(vectors), err)
			continue
		}
		is(t, vectors[0], "aaa")
		is(t, vectors[2], "aaaaa")
		if len(refused.Texts) != 1 || !errors.Is(refused.Texts[1], want) {
			t.Errorf("%s: refused %v", vector, refused.Texts)
		}
		silent(t, err)
	}
}

// Where all have another length the setting is wrong, not the texts.
func TestWrongDimension(t *testing.T) {
	s := newStub(t, good)
	f := fault(t, s.client(func(c *Config) { c.Dim = 3 }), "a", "b", "c")
	if f.Passing || !errors.Is(f, embedding.ErrLength) {
		t.Errorf("%v", f)
	}
}

// A text that the server chokes on keeps no other from its vector.
func TestRejectedTexts(t *testing.T) {
	for name, choke := range map[string]func(w http.ResponseWriter){
		"400": func(w http.ResponseWriter) { failing(w, 400) },
		"413": func(w http.ResponseWriter) { failing(w, 413) },
		"422": func(w http.ResponseWriter) { failing(w, 422) },
		"NaN": func(w http.ResponseWriter) { write(w, `{"index":0,"embedding":[NaN,NaN]}`) },
	} {
		s := newStub(t, func(w http.ResponseWriter, n int, asked request) {
			if slices.ContainsFunc(asked.Input, func(text string) bool { return strings.Contains(text, private) }) {
				choke(w)
				return
			}
			good(w, n, asked)
		})
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = strings.Repeat("x", i+1)
		}
		texts[41], texts[77] = private, private+"!"
		vectors, err := s.client().Embed(t.Context(), texts)
		refused, ok := errors.AsType[*embedding.Refused](err)
		if !ok || len(vectors) != 100 {
			t.Fatalf("%s: %d vectors, error %v", name, len(vectors), err)
		}
		if got := slices.Sorted(maps.Keys(refused.Texts)); !slices.Equal(got, []int{41, 77}) {
			t.Errorf("%s: refused %v", name, got)
		}
		for i, v := range vectors {
			if i != 41 && i != 77 {
				is(t, v, texts[i])
			} else if v != nil {
				t.Errorf("%s: text %d has a vector", name, i)
			}
		}
		if s.requests() > 30 {
			t.Errorf("%s: %d requests", name, s.requests())
		}
		silent(t, err)
	}
}

// Bad texts at the front do not pass for a bad setting.
func TestRejectedFirst(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, n int, asked request) {
		if slices.Contains(asked.Input, private) {
			failing(w, 400)
			return
		}
		good(w, n, asked)
	})
	texts := []string{private, private, private, private, private, private, "good", "fine"}
	vectors, err := s.client().Embed(t.Context(), texts)
	refused, ok := errors.AsType[*embedding.Refused](err)
	if !ok || len(vectors) != 8 || len(refused.Texts) != 6 {
		t.Fatalf("%d vectors, error %v", len(vectors), err)
	}
	is(t, vectors[6], "good")
	is(t, vectors[7], "fine")
}

// A server that rejects everything is not asked once for each text.
func TestAllRejected(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, _ int, _ request) { failing(w, 400) })
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = private
	}
	if f := fault(t, s.client(), texts...); f.Passing || s.requests() > 12 {
		t.Errorf("%d requests: %v", s.requests(), f)
	}
}

// The batches before a failure are answered.
func TestPrefix(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, n int, asked request) {
		switch {
		case n == 1:
			items := make([]string, len(asked.Input))
			for i := range items {
				items[i] = fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(asked.Input[i])*min(i, 1))
			}
			items[0] = `{"index":0,"embedding":[0,0]}`
			write(w, items...)
		default:
			failing(w, 503)
		}
	})
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	vectors, err := s.client().Embed(t.Context(), texts)
	refused, ok := errors.AsType[*embedding.Refused](err)
	if _, isFault := errors.AsType[*embedding.Fault](err); !ok || !isFault || len(vectors) != 64 || vectors[0] != nil {
		t.Fatalf("%d vectors, error %v", len(vectors), err)
	}
	if len(refused.Texts) != 1 || !errors.Is(refused.Texts[0], embedding.ErrZero) {
		t.Errorf("refused %v", refused.Texts)
	}
	is(t, vectors[63], texts[63])
}

// A server that never answers costs the timeout, and the caller's own end ends
// the call sooner.
func TestSlow(t *testing.T) {
	release := make(chan struct{})
	s := newStub(t, func(http.ResponseWriter, int, request) { <-release })
	defer close(release)
	f := fault(t, s.client(func(c *Config) { c.Timeout, c.Retries = 20*time.Millisecond, -1 }), private)
	if !f.Passing || !strings.Contains(f.Error(), "no answer within 20ms") {
		t.Errorf("%v", f)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := s.client().Embed(ctx, []string{private})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	silent(t, err)
}

// An answer beyond all need is not taken in.
func TestHuge(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, _ int, _ request) {
		io.WriteString(w, `{"data":[{"index":0,"embedding":[1`)
		zeros := strings.Repeat(",0", 1<<15)
		for range 1 << 14 { // a gigabyte, unless the client hangs up
			if _, err := io.WriteString(w, zeros); err != nil {
				return
			}
		}
		t.Error("the whole answer was taken")
	})
	if f := fault(t, s.client(), private); f.Passing || !strings.Contains(f.Error(), "larger") {
		t.Errorf("%v", f)
	}
}

// Neither key nor text follows a redirect, wherever it points.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newStub(t, func(w http.ResponseWriter, _ int, _ request) {
			w.Header().Set("Location", other.URL+"/v1/embeddings")
			failing(w, status)
		})
		if f := fault(t, s.client(), private); f.Passing || s.requests() != 1 {
			t.Errorf("%d: %d requests, %v", status, s.requests(), f)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	s := newStub(t, good)
	c := s.client()
	s.Close()
	if f := fault(t, c, private); !f.Passing || strings.Contains(f.Error(), "embeddings") {
		t.Errorf("%v", f)
	}
}

func TestBreaker(t *testing.T) {
	down := true
	s := newStub(t, func(w http.ResponseWriter, n int, asked request) {
		if down {
			failing(w, 500)
			return
		}
		good(w, n, asked)
	})
	c := s.client(func(c *Config) { c.Retries = -1 })
	for range breakerFailures {
		fault(t, c, private)
	}
	c.clock = c.clock.Add(10 * time.Second)
	if f := fault(t, c, private); !f.Passing || f.After != breakerRest-10*time.Second || s.requests() != breakerFailures {
		t.Errorf("open: after %v, %d requests", f.After, s.requests())
	}
	// After the rest one call tries; its failure opens the breaker anew.
	c.clock = c.clock.Add(breakerRest)
	fault(t, c, private)
	fault(t, c, private)
	if s.requests() != breakerFailures+1 {
		t.Errorf("%d requests", s.requests())
	}
	down = false
	c.clock = c.clock.Add(breakerRest)
	for range 2 {
		if _, err := c.Embed(t.Context(), []string{private}); err != nil {
			t.Fatal(err)
		}
	}
}

// While one call tries a server that was down, others do not.
func TestBreakerTriesOnce(t *testing.T) {
	var b breaker
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	for range breakerFailures {
		if b.enter(now) != 0 {
			t.Fatal("closed, but not to be entered")
		}
		b.failed(now, time.Minute)
	}
	if wait := b.enter(now.Add(breakerRest)); wait != time.Minute-breakerRest {
		t.Errorf("the server's own pause leaves %v", wait)
	}
	now = now.Add(time.Minute)
	if b.enter(now) != 0 || b.enter(now) == 0 {
		t.Error("not one call alone tries")
	}
	b.leave() // cancelled: another may try
	if b.enter(now) != 0 {
		t.Error("nobody tries after a call that was cancelled")
	}
	b.succeeded()
	for range 2 {
		if b.enter(now) != 0 {
			t.Error("not closed by a success")
		}
	}
}

// A caller that gives up is no failure of the server.
func TestCancelIsNoFailure(t *testing.T) {
	s := newStub(t, good)
	c := s.client()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * breakerFailures {
		if _, err := c.Embed(ctx, []string{private}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := c.Embed(t.Context(), []string{private}); err != nil {
		t.Error(err)
	}
}
