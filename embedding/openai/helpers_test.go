package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret and private must show nowhere but in the request.
const (
	secret  = "sk-sentinel-0f3a"
	private = "sentinel memory body"
)

// stub is a server whose answers a test sets, and what was asked of it.
type stub struct {
	*httptest.Server
	t      *testing.T
	answer func(w http.ResponseWriter, n int, asked request) // n counts requests from 1

	mu    sync.Mutex
	asked []request
	keys  []string
}

func newStub(t *testing.T, answer func(w http.ResponseWriter, n int, asked request)) *stub {
	s := &stub{t: t, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Method != http.MethodPost {
		s.t.Errorf("%s with a body that does not decode: %v", r.Method, err)
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	s.keys = append(s.keys, r.Header.Get("Authorization"))
	n := len(s.asked)
	s.mu.Unlock()
	s.answer(w, n, asked)
}

func (s *stub) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// client asks s for vectors of two numbers. Its pauses take no time and are
// noted; its clock stands still.
type testClient struct {
	*Client
	pauses []time.Duration
	clock  time.Time
}

func (s *stub) client(change ...func(*Config)) *testClient {
	s.t.Helper()
	config := Config{URL: s.URL, Model: "m", Dim: 2, Key: secret}
	for _, f := range change {
		f(&config)
	}
	c, err := New(config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	tc := &testClient{Client: c, clock: time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)}
	c.now = func() time.Time { return tc.clock }
	c.sleep = func(ctx context.Context, d time.Duration) error {
		tc.pauses = append(tc.pauses, d)
		return ctx.Err()
	}
	return tc
}

// good answers every text with the vector (its length, 1).
func good(w http.ResponseWriter, _ int, asked request) {
	var items []string
	for i, text := range asked.Input {
		items = append(items, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,1]}`, i, len(text)))
	}
	write(w, items...)
}

func write(w http.ResponseWriter, items ...string) {
	fmt.Fprintf(w, `{"object":"list","data":[%s],"usage":{"total_tokens":1}}`, strings.Join(items, ","))
}

// failing answers with status, quoting what it should not.
func failing(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":"key %s, text %s"}`, secret, private)
}

// is checks that v is of unit length and points where good's vector of text does.
func is(t *testing.T, v []float32, text string) {
	t.Helper()
	if len(v) != 2 || v[1] == 0 || math.Abs(float64(v[0]*v[0]+v[1]*v[1])-1) > 1e-4 || int(v[0]/v[1]+0.5) != len(text) {
		t.Errorf("%v is not the vector of the text of %d bytes", v, len(text))
	}
}

// silent checks that an error tells neither text nor key nor more of the
// address than its host.
func silent(t *testing.T, err error) {
	t.Helper()
	if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, secret) || strings.Contains(text, private) {
		t.Errorf("the error tells too much: %s", text)
	}
}
