package tiers_test

import (
	"testing"
	"time"

	"memd"
	"memd/guard"
	"memd/tiers"
)

// What an earlier release kept under a bare name is the token's that had the name
// when it was kept; what is older, or of a token without a date, is the
// administrator's alone.
func TestAdopt(t *testing.T) {
	h := newHouse(t, nil)
	dated := guard.Token{Name: "ann", ID: "ann#1", CreatedAt: h.at(time.Hour)}
	undated := guard.Token{Name: "ben", ID: "ben#1"}
	repeat := tiers.WithOnce(ctx, tiers.Once{Key: "k", Print: "p"})
	h.note(ann, "before", "of the former ann", "")
	h.clock.Advance(2 * time.Hour)
	h.note(ann, "after", "of this ann", "")
	h.note(ben, "undated", "of some ben", "")
	kept, err := h.Remember(repeat, ann, shortRequest("once"))
	h.must(err)
	h.must(h.Adopt(ctx, []guard.Token{dated, undated}))
	h.must(h.Adopt(ctx, []guard.Token{dated, undated})) // every start does
	now := memd.Caller{Name: "ann", ID: "ann#1", Role: memd.RoleWrite}
	for session, c := range map[string]memd.Caller{"before": now, "undated": {Name: "ben", ID: "ben#1", Role: memd.RoleWrite}} {
		refused(t, second(h.Notes(ctx, c, session)), memd.CodeNotFound, "")
		h.must(second(h.Notes(ctx, admin, session)))
	}
	h.must(second(h.Notes(ctx, now, "after")))
	if again, err := h.Remember(repeat, now, shortRequest("once")); err != nil || again.ID != kept.ID || !again.Created {
		t.Errorf("the repeat answers %s, %v, want %s", again.ID, err, kept.ID)
	}
}
