package groom_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"memd"
)

// Accesses of rows in historical databases fold into them there, once a
// session and day, also over a rollover.
func TestFoldReachesHistory(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	short := h.remember(memd.Remember{Summary: "kumquat"})
	long := h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "quince", Source: "AGENTS.md"})
	read := func() {
		t.Helper()
		for _, id := range []string{short.ID, long.ID} {
			h.must(second(h.tiers.Get(ctx, root, id)))
		}
	}
	counts := func(want int) {
		t.Helper()
		for _, id := range []string{short.ID, long.ID} {
			if m, _ := h.row(id); m.AccessCount != want || want > 0 && !m.LastAccessedAt.Equal(h.clock.Now()) {
				t.Errorf("access_count %d at %s, want %d", m.AccessCount, m.LastAccessedAt, want)
			}
		}
	}
	read()
	h.groom(light)
	counts(1)
	h.roll()
	read() // the same day
	h.groom(light)
	counts(1)
	h.clock.Advance(24 * time.Hour)
	read()
	h.remember(memd.Remember{Summary: "another"})
	h.must(h.store.FlushAccess(ctx))
	h.roll() // with accesses under way
	h.groom(light)
	counts(2)
	if p := h.pass(h.groom(light), "fold_access"); p.Planned != 0 {
		t.Errorf("a second groom plans %+v", p)
	}
}

// Rows of a historical database are edited by hand like any other.
func TestHandEditInHistory(t *testing.T) {
	h := newHouse(t)
	short := h.remember(memd.Remember{Summary: "旧的说法 before", Tags: []string{"标签"}})
	long := h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "另一说法 before", Source: "AGENTS.md"})
	r := h.roll()
	h.groom(light)
	for _, m := range []memd.Memory{short, long} {
		tier := string(m.Tier)
		h.shellOn(r.File, `UPDATE `+tier+` SET importance = 9, summary = '修复watchdog误杀设备重启 after' WHERE id = '`+m.ID+`'`)
		if got, _ := h.row(m.ID); got.Importance != 9 {
			t.Errorf("%s: importance %d", tier, got.Importance)
		}
		if !h.found(m.Tier, "after", m.ID) || h.found(m.Tier, "before", m.ID) {
			t.Errorf("%s: an English word of a hand edit is not found at once", tier)
		}
		h.groom(light)
		for word, want := range map[string]bool{"重": true, "设备": true, "watchdog": true, "after": true, "旧": false, "说法": false, "before": false} {
			if got := h.found(m.Tier, word, m.ID); got != want {
				t.Errorf("%s: after the groom %s is found: %t", tier, word, got)
			}
		}
	}
	// What it says now is known: it is no new memory.
	w, err := h.tiers.Remember(context.Background(), root, memd.Remember{Summary: "修复watchdog误杀设备重启 after"})
	h.must(err)
	if w.DuplicateOf != long.ID {
		t.Errorf("the edited wording is answered %+v", w)
	}
	h.shellOn(r.File, `DELETE FROM short WHERE id = '`+short.ID+`'`)
	if h.found(memd.Short, "after", short.ID) {
		t.Error("a row deleted by hand is still found")
	}
}

// A shell that holds one historical database keeps a groom from that one alone.
func TestGroomAroundAHeldDatabase(t *testing.T) {
	for _, hold := range []string{`BEGIN IMMEDIATE;`, `BEGIN; SELECT count(*) FROM short;`} {
		t.Run(hold, func(t *testing.T) {
			h := newHouse(t)
			brief := func(text string) memd.Memory {
				return h.remember(memd.Remember{Summary: text, ExpiresAt: memd.At(h.clock.Now().Add(time.Hour))})
			}
			held := brief("in the held one")
			r := h.roll()
			other := brief("in another")
			h.roll()
			fresh := brief("in the active one")
			h.clock.Advance(2 * time.Hour)
			there := func(want ...string) {
				t.Helper()
				for _, m := range []memd.Memory{held, other, fresh} {
					if _, ok := h.row(m.ID); ok != slices.Contains(want, m.ID) {
						t.Errorf("%q is there: %t", m.Summary, ok)
					}
				}
			}
			leave := h.leaveOpen(r.File, hold)
			report, err := h.runner.Run(context.Background(), light)
			h.must(err)
			if p := h.pass(report, "expire_transient"); p.Error != string(memd.CodeStoreBusy) || p.Changed != 2 || p.Skipped != 1 {
				t.Errorf("while it is held: %+v", p)
			}
			there(held.ID)
			leave()
			if p := h.pass(h.groom(light), "expire_transient"); p.Changed != 1 {
				t.Errorf("after: %+v", p)
			}
			there()
		})
	}
}
