package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memd"
)

// chatWith asks a server whose answers the test writes.
func chatWith(t *testing.T, answer http.HandlerFunc) (c *Chat, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := NewChat(ChatConfig{URL: s.URL, Model: "m", Key: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	clock := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	c.now = func() time.Time { return clock }
	return c, requests
}

func says(w http.ResponseWriter, text string) {
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}}}})
}

func TestChatRequest(t *testing.T) {
	var asked string
	c, _ := chatWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body)
		says(w, "yes")
	})
	answer, err := c.Complete(t.Context(), "rules", "caf\xff", 256)
	if err != nil || answer != "yes" {
		t.Errorf("answer %q, %v", answer, err)
	}
	want := "POST /v1/chat/completions Bearer " + secret +
		` {"model":"m","messages":[{"role":"system","content":"rules"},{"role":"user","content":"caf\ufffd"}],"max_tokens":256,"temperature":0}`
	if asked != want {
		t.Errorf("asked %s\nwant %s", asked, want)
	}
	for field, config := range map[string]ChatConfig{
		"url": {URL: "ftp://x.test", Model: "m"}, "model": {URL: "http://x.test"}, "key": {URL: "http://x.test", Model: "m", Key: "a b"},
	} {
		_, err := NewChat(config)
		if e, ok := errors.AsType[*memd.Error](err); !ok || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// What fails is asked for once and tells neither what was sent nor what came;
// three failures of the server in a row, and it is left alone.
func TestChatFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		opens  bool // the breaker
	}{
		"500":          {func(w http.ResponseWriter, _ *http.Request) { failing(w, 500) }, true},
		"429":          {func(w http.ResponseWriter, _ *http.Request) { failing(w, 429) }, true},
		"401":          {func(w http.ResponseWriter, _ *http.Request) { failing(w, 401) }, true},
		"redirect":     {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/x"); failing(w, 307) }, true},
		"rejected":     {func(w http.ResponseWriter, _ *http.Request) { failing(w, 400) }, false},
		"gone":         {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
		"no JSON":      {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, private) }, true},
		"cut short":    {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"choices":[{"mess`) }, true},
		"no choice":    {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"choices":[]}`) }, true},
		"no text":      {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"choices":[{"message":{}}]}`) }, true},
		"other choice": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"choices":7}`) }, true},
		"huge":         {func(w http.ResponseWriter, _ *http.Request) { says(w, strings.Repeat("x", chatBytes)) }, true},
	} {
		chat, requests := chatWith(t, c.answer)
		for n := range 5 {
			answer, err := chat.Complete(t.Context(), private, private, 256)
			if answer != "" || err == nil {
				t.Fatalf("%s: answer %q, %v", name, answer, err)
			}
			silent(t, err)
			if open := errors.Is(err, errOpen); open != (c.opens && n >= breakerFailures) {
				t.Errorf("%s: call %d: %v", name, n+1, err)
			}
		}
		if want := map[bool]int64{true: breakerFailures, false: 5}[c.opens]; requests.Load() != want {
			t.Errorf("%s: %d requests, want %d", name, requests.Load(), want)
		}
	}
}

// A server that never answers costs the timeout; a caller that gives up is no
// failure of the server.
func TestChatSlow(t *testing.T) {
	release := make(chan struct{})
	c, requests := chatWith(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	c.timeout = 20 * time.Millisecond
	_, err := c.Complete(t.Context(), "", private, 256)
	if err == nil || !strings.Contains(err.Error(), "no answer within 20ms") {
		t.Errorf("%v", err)
	}
	c.timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * breakerFailures {
		if _, err := c.Complete(ctx, "", private, 256); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}
