package mcp_test

import (
	"testing"

	"memd"
	"memd/api/mcp"
)

func both(t *testing.T, test func(t *testing.T, d *daemon, open func(defaults mcp.Defaults, query string) *session)) {
	t.Run("in memory", func(t *testing.T) {
		d := start(t, nil)
		test(t, d, func(defaults mcp.Defaults, _ string) *session { return d.open(mcp.Options{Defaults: defaults}) })
	})
	t.Run("over HTTP", func(t *testing.T) {
		d := start(t, nil).listen()
		test(t, d, func(_ mcp.Defaults, query string) *session { return d.over(d.admin, query) })
	})
}

// What one session writes, another finds.
func TestRememberAndRecall(t *testing.T) {
	both(t, func(t *testing.T, d *daemon, open func(mcp.Defaults, string) *session) {
		a, b := open(mcp.Defaults{}, ""), open(mcp.Defaults{}, "")
		var w memd.Written
		a.call("remember", args{"summary": "the gateway listens on port 8443", "tags": []string{"net"}}).into(&w)
		if w.Tier != memd.Short || w.SessionID != a.ID() && a.ID() != "" || w.Namespace != "default" {
			t.Errorf("written: %+v", w)
		}
		var found memd.Answer
		r := b.call("recall", args{"query": "which port does the gateway use"}).into(&found)
		if len(found.Results) != 1 || found.Results[0].ID != w.ID {
			t.Errorf("found %s", r.structured)
		}
		t.Log(r.text)
	})
}
