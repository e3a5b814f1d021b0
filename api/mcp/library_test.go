package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memd"
)

// odd are requests of whose answers the library would make the text itself, mostly
// out of the request. Each holds secret.
func odd(secret string) map[string]string {
	long := strings.Repeat(secret, 10_000)
	return map[string]string{
		"a tool":        `"method":"tools/call","params":{"name":"` + long + `"}`,
		"a tool's name": `"method":"tools/call","params":{"name":5,"arguments":{"summary":"` + long + `"}}`,
		"a prompt":      `"method":"prompts/get","params":{"name":"` + long + `"}`,
		"an argument":   `"method":"prompts/get","params":{"name":"recall-before-work","arguments":{"task":["` + long + `"]}}`,
		"a reference":   `"method":"completion/complete","params":{"ref":{"type":"` + long + `"},"argument":{}}`,
		"a cursor":      `"method":"tools/list","params":{"cursor":"` + long + `"}`,
		"a version":     `"method":"initialize","params":{"protocolVersion":["` + long + `"]}`,
		"another begin": `"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"` + secret + `","version":"1"}}`,
	}
}

// own checks that an answer is an error in memd's words.
func own(t *testing.T, name, secret, said string) {
	t.Helper()
	var answer struct {
		ID    int
		Error struct {
			Code    int
			Message string
			Data    problem
		}
	}
	err := json.Unmarshal([]byte(said), &answer)
	e := answer.Error
	if err != nil || answer.ID != 7 || e.Code == 0 || len(said) > 1000 || e.Data.Code == "" || e.Data.Hint == "" || e.Message != string(e.Data.Code)+": "+e.Data.Detail {
		t.Errorf("%s: %v %.400s", name, err, said)
	}
	if (name == "a tool" || name == "a prompt") && e.Data.Code != memd.CodeNotFound {
		t.Errorf("%s: %s", name, said)
	}
	if low := strings.ToLower(said); strings.Contains(low, secret) || strings.Contains(low, "unmarshal") || strings.Contains(low, "mcp.") {
		t.Errorf("%s: the library's words: %.400s", name, said)
	}
}

// What the library says of a request is said in memd's words: its own repeat the
// request, at any length.
func TestTheLibrarysErrors(t *testing.T) {
	const secret = "xylophone"
	d := start(t, nil).listen()
	requests := odd(secret)
	t.Run("stdio", func(t *testing.T) {
		requests["a method"] = `"method":"` + strings.Repeat(secret, 10_000) + `"`
		requests["another protocol"] = `"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + strings.Repeat(secret, 10_000) +
			`","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`
		defer delete(requests, "a method")
		defer delete(requests, "another protocol")
		for name, request := range requests {
			answered := false
			for _, l := range d.spoken(d.rest, hello+`{"jsonrpc":"2.0","id":7,`+request+"}\n", patience) {
				if fmt.Sprint(l.ID) == "7" {
					raw, err := json.Marshal(l)
					if err != nil {
						t.Fatal(err)
					}
					own(t, name, secret, string(raw))
					answered = true
				}
			}
			if !answered {
				t.Errorf("%s is not answered", name)
			}
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		for name, request := range requests {
			r := d.ask(ask{token: d.admin, session: d.begin(d.admin, ""), body: `{"jsonrpc":"2.0","id":7,` + request + "}"})
			said := r.body
			if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
				_, said, _ = strings.Cut(said, "data: {")
				said, _, _ = strings.Cut("{"+said, "\n")
			}
			own(t, name, secret, said)
		}
		r := d.ask(ask{token: d.admin, body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`})
		_, said, _ := strings.Cut(r.body, "data: {")
		own(t, "before a session", secret, strings.TrimSpace("{"+said))
	})
}
