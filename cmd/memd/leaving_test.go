package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What leaves the machine passes the guards once more: a row that was edited by hand,
// and a query, which no door looks at.
func TestSecretsDoNotLeave(t *testing.T) {
	b := newBox(t)
	sent := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- r.URL.Path + " " + string(body)
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			fmt.Fprint(w, `{"choices":[{"message":{"content":"[1]"}}]}`)
			return
		}
		var req struct{ Input []string }
		_ = json.Unmarshal(body, &req)
		var data []string
		for i := range req.Input {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[1,0]}`, i))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	defer server.Close()
	id := b.field("id", "remember", "the night bot is blue")
	b.must("remember", "the night bot is green")
	// The key stands where the line of a manifest is cut.
	b.shell(`UPDATE short SET summary = 'the night bot ` + strings.Repeat("is blue ", 22) + aToken + `' WHERE id = '` + id + `'`)
	b.env = append(b.env, "MEMD_EMBEDDING_PROVIDER=openai", "MEMD_EMBEDDING_MODEL=m", "MEMD_EMBEDDING_DIM=2", "MEMD_EMBEDDING_URL="+server.URL,
		"MEMD_SELECTOR_PROVIDER=openai", "MEMD_SELECTOR_MODEL=m", "MEMD_SELECTOR_URL="+server.URL)
	d := b.serve()
	eventually(t, "the rows have vectors", func() bool { return b.shell(`SELECT count(*) FROM embedding`) == "2" })
	b.must("recall", "why does the night bot use "+aToken+" and the card "+aCard)
	d.stop()
	close(sent)
	asked := map[string]bool{}
	marks := 0
	for body := range sent {
		path, _, _ := strings.Cut(body, " ")
		asked[path] = true
		marks += strings.Count(body, "[redacted:github-pat]")
		for _, piece := range []string{aToken[:12], aToken[20:], aCard[:9]} {
			if strings.Contains(body, piece) {
				t.Errorf("%s is sent %q", path, piece)
			}
		}
	}
	if len(asked) != 2 || marks < 3 {
		t.Errorf("asked %v, with %d marks", asked, marks)
	}
}
