package main

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// did is what the log holds of an action: callers and details, newest first.
func (b *box) did(action string) (lines []string) {
	b.t.Helper()
	for _, e := range b.log("--action", action).Entries {
		lines = append(lines, e.Caller+": "+e.Detail)
	}
	return lines
}

// What is done to the whole store is in the log, with who did it and counts,
// without a daemon, with one, over TCP and by a schedule.
func TestOperatorsAreLogged(t *testing.T) {
	b := newBox(t)
	b.must("remember", "worth keeping")
	expect := func(action string, want ...string) {
		t.Helper()
		if got := b.did(action); len(got) != len(want) || !slices.EqualFunc(got, want, func(got, want string) bool {
			return regexp.MustCompile("^" + want + "$").MatchString(got)
		}) {
			t.Errorf("%s: the log says %q, want %q", action, got, want)
		}
	}
	const file = `agent_memory-\d{8}T\d{6}Z(-2)?\.db`
	kept := b.backedUpTo()
	b.must("groom", "--dry-run")
	b.must("groom", "--light", "--force")
	b.must("rollover")
	b.must("compact", "--yes")
	expect("backup", "local: 1 databases, 1 rows")
	expect("groom", "local: light, forced, 0 changed")
	expect("rollover", "local: "+file)
	expect("compact", `local: 2 databases, \d+ bytes freed`)

	b.must("remember", "to be rolled over by ops")
	token := b.field("token", "token", "new", "ops", "--role", "admin")
	b.env = append(b.env, "MEMD_BACKUP_SCHEDULE=@every 9000h", "MEMD_GROOM_LIGHT=@every 9000h")
	d := b.serve()
	for _, call := range []string{"backup", "groom", "rollover", "compact"} {
		if status := d.overTCP("POST", "/v1/"+call, token, `{}`); status != 200 {
			t.Errorf("%s answers %d", call, status)
		}
	}
	d.stop()
	expect("backup", "ops: 2 databases, 2 rows", "local: 1 databases, 1 rows")
	expect("groom", "ops: full, 0 changed", "local: light, forced, 0 changed")
	expect("rollover", "ops: "+file, "local: "+file)
	expect("compact", `ops: 3 databases, \d+ bytes freed`, `local: 2 databases, \d+ bytes freed`)

	b.must("restore", "--yes", kept.Path)
	expect("restore", fmt.Sprintf("local: %d databases, 1 rows, 0 of them forgotten since", len(kept.Manifest.Files)))

	b = newBox(t)
	b.must("remember", "kept by itself")
	b.env = append(b.env, "MEMD_BACKUP_SCHEDULE=@yearly")
	d = b.serve()
	eventually(t, "the scheduled backup", func() bool { return len(b.did("backup")) > 0 })
	d.stop()
	expect("backup", "memd: 1 databases, 1 rows")
}
