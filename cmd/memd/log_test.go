package main

import (
	"encoding/json"
	"strings"
	"testing"

	"memd/api/client"
)

// log reads the log as the program prints it.
func (b *box) log(args ...string) (page client.LogPage) {
	b.t.Helper()
	out := b.must(append([]string{"log", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &page); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return page
}

func (b *box) has(action, caller, detail string) bool {
	b.t.Helper()
	for _, e := range b.log("--action", action).Entries {
		if e.Caller == caller && e.Detail == detail {
			return true
		}
	}
	return false
}

// The log tells of writes with and without a daemon, of tokens that the command
// line changes beside a running one, and of a configuration that changed between
// two starts.
func TestLogCommand(t *testing.T) {
	b := newBox(t)
	if out := b.must("log"); out != "none\n" {
		t.Errorf("an empty log: %q", out)
	}
	id := b.field("id", "remember", "written without a daemon")
	b.must("token", "new", "early", "--role", "read")
	d := b.serve()
	eventually(t, "a token made before the start", func() bool { return b.has("token_new", "local", "early") })
	eventually(t, "the first configuration", func() bool { return len(b.log("--action", "configure").Entries) == 1 })
	b.must("token", "new", "late", "--role", "read")
	b.must("token", "revoke", "early")
	eventually(t, "a token made beside the daemon", func() bool { return b.has("token_new", "local", "late") })
	eventually(t, "a token revoked beside the daemon", func() bool { return b.has("token_revoke", "local", "early") })
	d.overTCP("POST", "/v1/remember", "wrong", `{"summary":"x"}`)
	if page := b.log("--action", "refuse"); len(page.Entries) != 1 {
		t.Errorf("a refusal just before: %+v", page)
	}
	d.stop()

	if page := b.log("--action", "refuse"); len(page.Entries) != 1 || page.Entries[0].Code != "unauthorized" || page.Entries[0].Count != 1 {
		t.Errorf("a refusal before the end: %+v", page)
	}
	b.env = append(b.env, "MEMD_GUARD_DERIVABLE=block")
	d = b.serve()
	eventually(t, "the changed configuration", func() bool { return b.has("configure", "memd", "guard.derivable") })
	d.stop()

	out := b.must("log", "--id", id)
	if !strings.Contains(out, "remember") || !strings.Contains(out, id) || strings.Count(out, "\n") != 2 {
		t.Errorf("of one memory: %s", out)
	}
	page := b.log("--limit", "1")
	out = b.must("log", "--limit", "1", "--cursor", page.NextCursor)
	if strings.Count(out, "\n") != 3 || !strings.Contains(out, "more: --cursor ") {
		t.Errorf("the second page: %s", out)
	}
	for _, bad := range [][]string{{"--limit", "0"}, {"--limit", "201"}, {"--cursor", "x"}, {"x"}} {
		if r := b.run(append([]string{"log"}, bad...)...); r.code != 2 {
			t.Errorf("%q exits %d", bad, r.code)
		}
	}
	if r := b.run("remember-long-term", "$ git status\n$ git stash\nSaved", "--key", "k", "--source", "a.md"); r.code != 5 || strings.Contains(r.err, "stash") {
		t.Errorf("what git can be asked for: %d %s", r.code, r.err)
	}
}
