package tiers_test

import (
	"fmt"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/tiers"
)

// edit changes a row's summary by hand.
func (h *house) edit(id, summary string) {
	h.t.Helper()
	for _, t := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
		h.shell(fmt.Sprintf(`UPDATE %s SET summary = '%s' WHERE id = '%s'`, t, summary, id))
	}
}

// After a hand edit a row stands for what it says now: the old wording is new
// content again, not a duplicate of it.
func TestEditedRowIsNoTwinOfItsOldWording(t *testing.T) {
	h := newHouse(t, nil)
	short := h.remember("the port is 8080")
	h.edit(short.ID, "the port is 9090")
	w := h.remember("the port is 8080")
	if w.Deduplicated || w.Summary != "the port is 8080" {
		t.Errorf("answered %q, deduplicated %v", w.Summary, w.Deduplicated)
	}
	long := h.keep("k", "the host is a")
	h.edit(long.ID, "the host is b")
	if w := h.remember("the host is a"); w.DuplicateOf != "" {
		t.Error("a long row answers for what it no longer says")
	}
}

// An upsert compares with what the head says now.
func TestEditedHeadIsAnotherVersion(t *testing.T) {
	h := newHouse(t, nil)
	v1 := h.keep("k", "the port is 8080")
	h.edit(v1.ID, "the port is 9090")
	if w := h.keep("k", "the port is 8080"); w.Unchanged || w.Version != 2 || w.Summary != "the port is 8080" {
		t.Errorf("the old wording is answered version %d, unchanged %v, %q", w.Version, w.Unchanged, w.Summary)
	}
	v1 = h.keep("l", "the port is 8080")
	h.edit(v1.ID, "the port is 9090")
	if w := h.keep("l", "the port is 9090"); !w.Unchanged || w.ID != v1.ID {
		t.Errorf("the wording that stands is answered version %d, unchanged %v", w.Version, w.Unchanged)
	}
}

// Whatever memd writes of an edited row carries the hash of what it says, so
// that its twins are found from then on.
func TestEditedRowGetsItsHash(t *testing.T) {
	for name, write := range map[string]func(*house, string){
		"patch of tags": func(h *house, id string) {
			h.must(second(h.Patch(ctx, ann, id, memd.Patch{Tags: memd.Some([]string{"t"})})))
		},
		"patch of importance": func(h *house, id string) {
			h.must(second(h.Patch(ctx, ann, id, memd.Patch{Importance: memd.Some(9)})))
		},
		"archive and back": func(h *house, id string) {
			h.must(second(h.Archive(ctx, ann, id)))
			h.must(second(h.Promote(ctx, ann, id, memd.Promote{To: memd.Short})))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			w := h.remember("the port is 8080")
			h.edit(w.ID, "the port is 9090")
			write(h, w.ID)
			if m, _ := h.get(w.ID); m.ContentHash == w.ContentHash {
				t.Error("the row kept the hash of its old wording")
			}
			if again := h.remember("the port is 9090"); !again.Deduplicated || again.ID != w.ID {
				t.Error("its twin was not found")
			}
			if old := h.remember("the port is 8080"); old.Deduplicated {
				t.Error("its old wording counts as its twin")
			}
		})
	}
}

// A row edited by hand that is archived for room takes the hash of its text
// along: the archive would never be given it.
func TestArchivedForRoomAfterHandEdit(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.ShortRows = 1 })
	w := h.remember("the port is 8080")
	h.edit(w.ID, "the port is 9090")
	h.remember("something else")
	m, _ := h.get(w.ID)
	if m.Tier != memd.Archive || m.ContentHash != tiers.ContentHash(&m) {
		t.Errorf("in %s with the hash of its old wording: %v", m.Tier, m.ContentHash == w.ContentHash)
	}
	h.must(second(h.Promote(ctx, ann, w.ID, memd.Promote{To: memd.Short})))
	if again := h.remember("the port is 9090"); again.ID != w.ID {
		t.Error("its twin was not found")
	}
}

// Promoting an edited row takes what it says now.
func TestEditedRowPromoted(t *testing.T) {
	h := newHouse(t, nil)
	w := h.remember("the port is 8080")
	h.edit(w.ID, "the port is 9090")
	p, err := h.Promote(ctx, ann, w.ID, memd.Promote{MemoryKey: "k", Source: agents})
	h.must(err)
	if p.Summary != "the port is 9090" {
		t.Errorf("promoted as %q", p.Summary)
	}
	if w := h.keep("k", "the port is 9090"); !w.Unchanged {
		t.Error("the promoted row has another hash than its text")
	}
}

// A head deleted by hand takes its key along; the next write goes on counting
// where the key stood, and nothing old comes back meanwhile.
func TestHeadDeletedByHand(t *testing.T) {
	h := newHouse(t, nil)
	v1 := h.keep("k", "first wording")
	v2 := h.keep("k", "second wording")
	h.shell(`DELETE FROM long WHERE id = '` + v2.ID + `'`)
	_, err := h.Head(ctx, ann, "", "k")
	refused(t, err, memd.CodeNotFound, "")
	if got := h.list(admin, memd.List{Namespace: "*"}); len(got) != 0 {
		t.Errorf("a list shows %q", got)
	}
	if w := h.remember("first wording"); !w.Created {
		t.Error("the old version answered as a twin")
	}
	_, err = h.RememberLongTerm(ctx, ann, longRequest("k", "x", func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(2) }))
	refused(t, err, memd.CodeVersionConflict, "base_version")
	w := h.keep("k", "second wording", func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(0) })
	if w.Version != 3 || w.Unchanged || w.ID == v2.ID {
		t.Errorf("the next write is version %d, unchanged %v", w.Version, w.Unchanged)
	}
	if v, err := h.Versions(ctx, ann, "", "k"); err != nil || len(v) != 2 || v[0].ID != w.ID || v[1].ID != v1.ID {
		t.Errorf("versions %+v, %v", v, err)
	}
	// Forgetting the key forgets the count.
	h.must(h.ForgetKey(ctx, ann, "", "k"))
	if w := h.keep("k", "anew"); w.Version != 1 {
		t.Errorf("after forgetting the key its version is %d", w.Version)
	}
}

// An expired head is not there for anyone; a write to its key is found again.
func TestExpiredHeadIsNoHead(t *testing.T) {
	h := newHouse(t, nil)
	v1 := h.keep("k", "a passing rule")
	h.must(second(h.Patch(ctx, ann, v1.ID, memd.Patch{ExpiresAt: memd.Some(h.at(time.Hour))})))
	h.clock.Advance(2 * time.Hour)
	_, err := h.Head(ctx, ann, "", "k")
	refused(t, err, memd.CodeNotFound, "")
	if v, err := h.Versions(ctx, ann, "", "k"); err == nil {
		t.Errorf("an expired row is shown among the versions: %+v", v)
	}
	w := h.keep("k", "a passing rule", func(r *memd.RememberLongTerm) { r.BaseVersion = ptr(0) })
	if head, err := h.Head(ctx, ann, "", "k"); err != nil || head.ID != w.ID || !head.ExpiresAt.IsZero() {
		t.Errorf("a write to an expired key cannot be read: %+v, %v", head, err)
	}
	if w.Version != 2 {
		t.Errorf("its version is %d: one was given out before", w.Version)
	}
	if got := h.list(ann, memd.List{}); len(got) != 1 || got[0] != w.ID {
		t.Errorf("a list shows %q", got)
	}
}
