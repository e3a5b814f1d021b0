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
