package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"memd"
)

// A selector of the configuration picks for a daemon and without one, with the
// key of the environment; while its server is down the order is memd's own.
func TestSelector(t *testing.T) {
	var asked, key, told string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) != 2 {
			t.Errorf("the request does not decode: %v", err)
			return
		}
		asked, key, told = r.URL.Path, r.Header.Get("Authorization"), body.Messages[1].Content
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": "[2]"}}}})
	}))
	b := newBox(t)
	b.must("remember", "the gateway deploys gateway releases by git")
	b.must("remember", "beware: git clean removes what the gateway needs, and it has happened more than once")
	recall := func() memd.Answer {
		var a memd.Answer
		if err := json.Unmarshal([]byte(b.must("recall", "gateway", "--tool", "git", "--no-touch", "--json")), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	plain := recall()
	if len(plain.Results) != 2 || len(plain.Degraded) != 0 {
		t.Fatalf("%d results, degraded %q", len(plain.Results), plain.Degraded)
	}
	b.env = append(b.env, "MEMD_SELECTOR_PROVIDER=openai", "MEMD_SELECTOR_MODEL=m", "MEMD_SELECTOR_URL="+server.URL,
		"MEMD_SELECTOR_KEY_ENV=STUB_KEY", "STUB_KEY=sk-test", "MEMD_SELECTOR_TIMEOUT=1m")
	chosen := func(a memd.Answer) bool {
		return len(a.Results) == 2 && a.Results[0].ID == plain.Results[1].ID && len(a.Degraded) == 0
	}
	if a := recall(); !chosen(a) {
		t.Errorf("without a daemon: %+v", a)
	}
	if asked != "/v1/chat/completions" || key != "Bearer sk-test" || !strings.Contains(told, `"tools_in_use":["git"]`) {
		t.Errorf("asked %s with key %t: %s", asked, key != "", told)
	}
	if out := b.must("recall", "gateway", "--explain", "--no-touch"); !strings.Contains(out, "selected 2.") {
		t.Errorf("explain does not show the choice: %s", out)
	}
	d := b.serve()
	if a := recall(); !chosen(a) {
		t.Errorf("by a daemon: %+v", a)
	}
	server.Close()
	if a := recall(); !slices.Equal(a.Degraded, []string{memd.DegradedSelector}) || a.Results[0].ID != plain.Results[0].ID {
		t.Errorf("while the server is down: %+v", a)
	}
	d.stop()
	for _, secret := range []string{"sk-test", "gateway"} {
		if strings.Contains(d.log.String(), secret) {
			t.Errorf("the log shows %q: %s", secret, d.log.String())
		}
	}
	if strings.Contains(b.must("config"), "sk-test") {
		t.Error("the key is shown")
	}
}
