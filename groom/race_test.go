package groom_test

import (
	"context"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
)

// Notes beyond their budget go although time passes between the plan and the run.
func TestNotesGoWhileTimePasses(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Transient, 0, 80)
	h = h.reopened(func(b *configs.Budgets) { b.TransientRows = 30 })
	h.clock.Advance(time.Hour)
	report, err := h.runner.Run(&looked{context.Background(), func() { h.clock.Advance(time.Millisecond) }}, groom.Options{})
	h.must(err)
	if n := h.count(memd.Transient); n != 30 {
		t.Errorf("%d notes are left: %+v", n, h.pass(report, "enforce_budgets"))
	}
}

// Accesses of a row that moves to another database between the plan and the run
// are folded in by this run or the next.
func TestRowsThatMoveMeanwhile(t *testing.T) {
	promote := func(h *house, m memd.Memory) {
		h.must(second(h.tiers.Promote(context.Background(), root, m.ID, memd.Promote{To: memd.Short})))
	}
	for name, test := range map[string]struct {
		old  bool // whether the row stands in a historical database at first
		move func(*house, memd.Memory)
	}{
		"into history": {false, func(h *house, _ memd.Memory) { h.roll() }},
		"out of it":    {true, promote},
		"out and back": {true, func(h *house, m memd.Memory) { promote(h, m); h.roll() }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			m := h.aged(memd.Archive, time.Hour, nil)
			if test.old {
				h.roll()
			}
			h.must(second(h.tiers.Get(context.Background(), root, m.ID)))
			report, err := h.runner.Run(h.between("fold_access", func() { test.move(h, m) }), groom.Options{Light: true})
			h.must(err)
			if !report.Whole() {
				t.Errorf("%+v", report)
			}
			h.groom(groom.Options{Light: true})
			if row, _ := h.row(m.ID); row.AccessCount != 1 {
				t.Errorf("%d accesses are counted, want 1", row.AccessCount)
			}
		})
	}
}
