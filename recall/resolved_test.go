package recall_test

import (
	"testing"

	"memd"
)

// Whether a pitfall was ever hit is found in the archive, in whichever database
// it stood when it was resolved; no version of it is found without.
func TestResolvedPitfallIsFoundInTheArchive(t *testing.T) {
	for _, rolled := range []bool{false, true} {
		h := newHouse(t)
		pitfall := func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }
		h.keep("trap", "the linker starves", pitfall)
		trap := h.keep("trap", "the linker starves on small runners", pitfall)
		if rolled {
			h.rollOver()
		}
		h.patch(trap.ID, memd.Patch{ResolvedAt: memd.Some(h.store.Now())})
		q := memd.Query{Query: "did the linker ever starve"}
		wantIDs(t, h.recall(q).Results)
		q.IncludeArchive = true
		wantIDs(t, h.recall(q).Results, trap.ID)
		again := h.keep("trap", "the linker starves again", pitfall)
		wantIDs(t, h.recall(q).Results, again.ID)
	}
}
