package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A call of a method that there is none of is answered as on stdio, under its id.
func TestUnknownMethods(t *testing.T) {
	d := start(t, nil).listen()
	id := d.begin(d.admin, "")
	for _, session := range []string{id, ""} {
		for request, code := range map[string]int{
			`"method":"xylophone"`: -32601, `"method":"xylophone","params":{"a":1}`: -32601,
			`"method":"logging/setLevel","params":{"level":"info"}`: -32601, `"method":"resources/subscribe","params":{"uri":"memd://memory/1"}`: -32601,
			`"method":"tools/call"`: -32600, `"method":"resources/read"`: -32600,
		} {
			r := d.ask(ask{token: d.admin, session: session, body: `{"jsonrpc":"2.0","id":7,` + request + "}"})
			var l line
			if err := json.Unmarshal([]byte(r.body), &l); err != nil || r.StatusCode != http.StatusOK || l.Error == nil || l.Error.Code != code || strings.Contains(r.body, "Accept") {
				t.Errorf("%s: %d %s %v, want %d", request, r.StatusCode, r.body, err, code)
			}
			own(t, request, "xylophone", r.body)
		}
		if r := d.ask(ask{token: d.admin, session: session, body: `{"jsonrpc":"2.0","method":"notifications/xylophone"}`}); r.StatusCode != http.StatusAccepted || r.body != "" {
			t.Errorf("a notification: %d %s", r.StatusCode, r.body)
		}
	}
}
