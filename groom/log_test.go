package groom_test

import (
	"testing"
	"time"

	"memd"
	"memd/groom"
	"memd/store"
)

// The log tells of each run that somebody asked for, and of the schedule's but for
// light ones that had nothing to do; that moves nothing that the next run looks at.
func TestRunsAreLogged(t *testing.T) {
	h := newHouse(t)
	entries := func() string {
		t.Helper()
		return h.shell(`SELECT caller || ' ' || detail FROM audit WHERE action = 'groom' ORDER BY seq`)
	}
	m := h.remember(memd.Remember{Summary: "about to expire", ExpiresAt: memd.At(h.clock.Now().Add(time.Hour))})
	h.groom(groom.Options{Caller: store.Memd, Light: true})
	h.clock.Advance(2 * time.Hour)
	h.groom(groom.Options{Caller: "ann", DryRun: true})
	h.groom(groom.Options{Caller: store.Memd, Light: true})
	h.groom(groom.Options{Caller: store.Memd})
	h.groom(groom.Options{Caller: "ann", Light: true})
	if want := "'memd light, 1 changed'\n'memd full, 0 changed'\n'ann light, 0 changed'\n"; entries() != want {
		t.Errorf("of %s the log says %q, want %q", m.ID, entries(), want)
	}
	before, commits := h.allTables(), h.commits()
	h.groom(groom.Options{Caller: "ann", Light: true})
	if got := h.commits(); got != commits+1 || h.allTables() != before {
		t.Errorf("a run after a logged one made %d commits", got-commits)
	}
}
