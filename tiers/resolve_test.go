package tiers_test

import (
	"fmt"
	"testing"

	"memd"
)

func asPitfall(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }

// resolve patches a row's resolved_at.
func (h *house) resolve(id string) memd.Written {
	h.t.Helper()
	w, err := h.Patch(ctx, ann, id, memd.Patch{ResolvedAt: memd.Some(h.now())})
	h.must(err)
	return w
}

// A resolved pitfall goes to the archive in the write that resolves it, with its
// key and its count of versions, whichever database it stands in.
func TestResolvedPitfallIsArchived(t *testing.T) {
	for _, rolled := range []bool{false, true} {
		t.Run(fmt.Sprint("in a historical database ", rolled), func(t *testing.T) {
			h := newHouse(t, nil)
			v1 := h.keep("trap", "the first trap", asPitfall)
			v2 := h.keep("trap", "the second trap", asPitfall)
			roll := func() {
				if rolled {
					h.roll()
				}
			}
			roll()
			h.clock.Advance(day)
			// A version under a later one stays where it is.
			if w := h.resolve(v1.ID); w.Tier != memd.Long || w.ResolvedAt != h.now() {
				t.Errorf("the superseded version is in %s", w.Tier)
			}
			w := h.resolve(v2.ID)
			if w.Tier != memd.Archive || w.MemoryKey != "trap" || w.Version != 2 || w.ID != v2.ID || w.ResolvedAt != h.now() || w.Age != "saved yesterday" {
				t.Errorf("answered %+v", w)
			}
			if w.RawContent != "" || h.rows() != "1 0 0 1" {
				t.Errorf("rows %s", h.rows())
			}
			if w, err := h.Archive(ctx, ann, v2.ID); err != nil || !w.Unchanged || w.Tier != memd.Archive {
				t.Errorf("archived after that: %+v, %v", w, err)
			}
			refused(t, second(h.Head(ctx, ann, "", "trap")), memd.CodeNotFound, "")
			if v := must(h.Versions(ctx, ann, "", "trap")); len(v) != 2 || v[0].ID != v2.ID || v[0].Tier != memd.Archive || v[1].Tier != memd.Long {
				t.Errorf("versions %+v", v)
			}
			if page := must(h.List(ctx, ann, memd.List{MemoryKey: "trap"})); len(page.Memories) != 1 || page.Memories[0].ID != v2.ID {
				t.Errorf("listed %+v", page.Memories)
			}

			// The trap comes back, as the next version and then by a promotion.
			if w := h.keep("trap", "the third trap", asPitfall); w.Version != 3 || !w.ResolvedAt.IsZero() {
				t.Errorf("written again: %+v", w)
			}
			roll()
			if got := must(h.Head(ctx, ann, "", "trap")); got.Version != 3 {
				t.Errorf("the head is version %d", got.Version)
			}
			if w := must(h.Promote(ctx, ann, v2.ID, memd.Promote{})); w.Version != 4 || w.Tier != memd.Long || !w.ResolvedAt.IsZero() {
				t.Errorf("promoted: %+v", w)
			}
			if got := must(h.Head(ctx, ann, "", "trap")); got.ID != v2.ID || got.Version != 4 {
				t.Errorf("the head is %+v", got)
			}
		})
	}
}

// What is no pitfall keeps the field and stays; a short pitfall has no key to
// keep; and nothing is moved by other fields, nor brought back by null.
func TestResolvedElsewhere(t *testing.T) {
	h := newHouse(t, nil)
	fact, event := h.keep("fact", "a fact"), h.remember("an event")
	for _, id := range []string{fact.ID, event.ID} {
		if w := h.resolve(id); w.Tier == memd.Archive || w.ResolvedAt != h.now() {
			t.Errorf("a %s is in %s, resolved %v", w.Kind, w.Tier, w.ResolvedAt)
		}
	}
	short := h.remember("a small trap", func(r *memd.Remember) { r.Kind = memd.Pitfall })
	if w := h.resolve(short.ID); w.Tier != memd.Archive || w.MemoryKey != "" {
		t.Errorf("a short pitfall: %+v", w)
	}
	clear := memd.Patch{ResolvedAt: memd.Null[memd.Time]()}
	if w := must(h.Patch(ctx, ann, short.ID, clear)); w.Tier != memd.Archive || !w.ResolvedAt.IsZero() {
		t.Errorf("cleared: %+v", w)
	}
	if w := h.resolve(short.ID); w.Tier != memd.Archive || w.ResolvedAt.IsZero() {
		t.Errorf("resolved in the archive: %+v", w)
	}
	trap := h.keep("trap", "a trap", asPitfall)
	if w := must(h.Patch(ctx, ann, trap.ID, clear)); w.Tier != memd.Long {
		t.Errorf("nothing to clear: %+v", w)
	}
	h.shell(`UPDATE long SET resolved_at = '` + h.now().String() + `' WHERE id = '` + trap.ID + `'`)
	if w := must(h.Patch(ctx, ann, trap.ID, memd.Patch{Importance: memd.Some(9)})); w.Tier != memd.Long {
		t.Errorf("another field moved it: %+v", w)
	}
	if got := h.shell(`SELECT group_concat(action, ' ') FROM audit WHERE memory_id = '` + short.ID + `'`); got != "remember patch archive patch patch" {
		t.Errorf("the audit log has %s", got)
	}
}

// Hits follow their pitfall through rollovers and moves, stand in one place, and
// go when it is forgotten.
func TestHitsOfAPitfall(t *testing.T) {
	h := newHouse(t, nil)
	trap, other := h.keep("trap", "a trap", asPitfall), h.keep("other", "another", asPitfall)
	hit := func(id string) { h.must(second(h.Hit(ctx, ann, id))) }
	hits := func(id string) (n int) {
		for _, found := range h.everywhere(`SELECT count(*) FROM pitfall_hit WHERE memory_id = '` + id + `'`) {
			var here int
			fmt.Sscan(found, &here)
			n += here
		}
		return n
	}
	hit(trap.ID)
	hit(other.ID)
	h.roll()
	hit(trap.ID)
	h.resolve(trap.ID)
	h.remember("so that there is something to roll over")
	h.roll()
	hit(trap.ID)
	if got := h.shell(`SELECT count(*) FROM pitfall_hit WHERE memory_id = '` + trap.ID + `'`); got != "3" || hits(trap.ID) != 3 {
		t.Errorf("the active database counts %s hits, all do %d; want 3", got, hits(trap.ID))
	}
	h.must(h.ForgetKey(ctx, ann, "", "trap"))
	if n, others := hits(trap.ID), hits(other.ID); n != 0 || others != 1 {
		t.Errorf("%d hits of the forgotten pitfall and %d of the other are left, want 0 and 1", n, others)
	}
}
