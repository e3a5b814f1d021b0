package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A daemon that is killed under a call costs neither the call nor a second row: it is
// made again, and carried out once.
func TestMCPDaemonKilledUnderACall(t *testing.T) {
	b := newBox(t)
	a := b.agent("--wait", patience.String(), "--project=")
	a.call("note", `{"summary":"the daemon is up"}`)
	const rounds = 5
	for i := range rounds {
		// The writes wait for the writer, so that they are lost before or after they
		// reached the daemon and never after their answer.
		release := b.hold()
		ids := []any{
			a.ask("note", fmt.Sprintf(`{"summary":"kumquat note %d"}`, i)),
			a.ask("remember", fmt.Sprintf(`{"summary":"kumquat event %d"}`, i)),
			a.ask("remember_long_term", fmt.Sprintf(`{"memory_key":"kumquat.%d","summary":"kumquat fact %d","source":"AGENTS.md"}`, i, i)),
			a.ask("recall", `{"query":"kumquat"}`),
			a.ask("context", `{}`),
		}
		if err := syscall.Kill(b.daemonPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		release()
		for _, id := range ids {
			if got := a.hear(id).answer(t); got.isError {
				t.Errorf("round %d: call %v is refused: %s; the daemon says %s", i, id, got.text, b.daemonLog())
			}
		}
	}
	if n := b.shell(`SELECT count(*) FROM transient WHERE summary LIKE 'kumquat note %'`); n != fmt.Sprint(rounds) {
		t.Errorf("%s notes, want %d", n, rounds)
	}
	out := b.must("list", "--json")
	for i := range rounds {
		for _, what := range []string{"event", "fact"} {
			if n := strings.Count(out, fmt.Sprintf(`"kumquat %s %d"`, what, i)); n != 1 {
				t.Errorf("%s %d is there %d times", what, i, n)
			}
		}
	}
	a.close()
}
