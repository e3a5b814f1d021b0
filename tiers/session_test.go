package tiers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"memd"
	"memd/configs"
)

func (h *house) note(c memd.Caller, session, summary, ttl string) memd.Written {
	h.t.Helper()
	w, err := h.Note(ctx, c, session, memd.Note{Summary: summary, TTL: ttl})
	h.must(err)
	return w
}

// notes are the summaries of a session, oldest first.
func (h *house) notes(session string) []string {
	h.t.Helper()
	found, err := h.Notes(ctx, admin, session)
	h.must(err)
	summaries := []string{}
	for _, m := range found {
		summaries = append(summaries, m.Summary)
	}
	return summaries
}

func TestNote(t *testing.T) {
	h := newHouse(t, nil)
	w := h.note(ann, "s/1 ü", "a thought", "")
	if !w.Created || w.Tier != memd.Transient || w.SessionID != "s/1 ü" || w.ExpiresAt != h.at(24*time.Hour) || w.Tags == nil || w.Access == nil {
		t.Errorf("answered %+v", w)
	}
	if again := h.note(ann, "s/1 ü", "a thought", ""); again.ID == w.ID || again.Deduplicated {
		t.Error("equal notes are folded")
	}
	if w := h.remember("a thought"); !w.Created {
		t.Error("a note is the twin of a short row")
	}
	if got := h.shell(`SELECT (SELECT count(*) FROM embedding) || (SELECT count(*) FROM outbox)`); got != "00" {
		t.Error("a note waits for a vector")
	}
}

// A note is gone from every read at the moment its time is over.
func TestNoteTTL(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.TransientTTL = time.Hour })
	brief, usual, long := h.note(ann, "s", "brief", "90s"), h.note(ann, "s", "usual", ""), h.note(ann, "s", "long", "24h")
	for _, step := range []struct {
		after time.Duration
		left  []string
		gone  *memd.Written
	}{
		{90*time.Second - time.Millisecond, []string{"brief", "usual", "long"}, nil},
		{time.Millisecond, []string{"usual", "long"}, &brief},
		{time.Hour, []string{"long"}, &usual},
		{23 * time.Hour, []string{}, &long},
	} {
		h.clock.Advance(step.after)
		if got := h.notes("s"); !slices.Equal(got, step.left) {
			t.Errorf("after %v more the session holds %q, want %q", step.after, got, step.left)
		}
		if got := len(h.list(ann, memd.List{Tier: memd.Transient})); got != len(step.left) {
			t.Errorf("a list shows %d notes, want %d", got, len(step.left))
		}
		if step.gone != nil {
			h.gone(step.gone.ID)
			refused(t, h.Forget(ctx, ann, step.gone.ID), memd.CodeNotFound, "")
		}
	}
}

// A session is seen by who opened it, and by the administrator; for others it
// is not there, whatever they try.
func TestSessionOwnership(t *testing.T) {
	h := newHouse(t, nil)
	note := h.note(ann, "s", "ann's thought", "")
	id := note.ID
	attempts := func(c memd.Caller) map[string]error {
		return map[string]error{
			"notes":   second(h.Notes(ctx, c, "s")),
			"note":    second(h.Note(ctx, c, "s", memd.Note{Summary: "intrusion"})),
			"end":     h.EndSession(ctx, c, "s"),
			"get":     second(h.Get(ctx, c, id)),
			"patch":   second(h.Patch(ctx, c, id, memd.Patch{Importance: memd.Some(9)})),
			"forget":  h.Forget(ctx, c, id),
			"archive": second(h.Archive(ctx, c, id)),
			"promote": second(h.Promote(ctx, c, id, memd.Promote{MemoryKey: "k", Source: agents})),
			"verify":  second(h.Verify(ctx, c, id, memd.Verify{})),
			"hit":     second(h.Hit(ctx, c, id)),
		}
	}
	for name, err := range attempts(ben) {
		t.Run(name, func(t *testing.T) { refused(t, err, memd.CodeNotFound, "") })
	}
	if found, err := h.Batch(ctx, ben, []string{id}); err != nil || len(found) != 0 {
		t.Errorf("a batch shows %d rows, %v", len(found), err)
	}
	if got := h.list(ben, memd.List{Tier: memd.Transient}); len(got) != 0 {
		t.Errorf("a list shows %q", got)
	}
	if got := h.notes("s"); !slices.Equal(got, []string{"ann's thought"}) {
		t.Errorf("the session now holds %q", got)
	}
	refused(t, second(h.Notes(ctx, ben, "no such session")), memd.CodeNotFound, "")
	refused(t, h.EndSession(ctx, ben, "no such session"), memd.CodeNotFound, "")
	// Its owner and the administrator see it on every path.
	for _, c := range []memd.Caller{ann, admin} {
		if _, err := h.Get(ctx, c, id); err != nil {
			t.Errorf("%s: get: %v", c.Name, err)
		}
		if got := h.list(c, memd.List{Tier: memd.Transient}); !slices.Contains(got, id) {
			t.Errorf("%s: a list shows %q", c.Name, got)
		}
		h.must(second(h.Patch(ctx, c, id, memd.Patch{Tags: memd.Some([]string{c.Name})})))
		h.note(c, "s", "one more", "")
	}
	if got := h.list(ann, memd.List{}); len(got) != 0 {
		t.Errorf("a list shows notes unasked: %q", got)
	}
}

// An administrator of some namespaces owns the sessions it opened, like
// anyone; one of all namespaces owns every session.
func TestConfinedAdminOwnsNoOtherSession(t *testing.T) {
	h := newHouse(t, nil)
	confined := memd.Caller{Name: "confined", Role: memd.RoleAdmin, Namespaces: []string{memd.DefaultNamespace}, AllAccess: true}
	note, own := h.note(ann, "s", "ann's thought", ""), h.note(confined, "own", "its own thought", "")
	for name, err := range map[string]error{
		"notes":  second(h.Notes(ctx, confined, "s")),
		"note":   second(h.Note(ctx, confined, "s", memd.Note{Summary: "intrusion"})),
		"get":    second(h.Get(ctx, confined, note.ID)),
		"patch":  second(h.Patch(ctx, confined, note.ID, memd.Patch{Importance: memd.Some(9)})),
		"forget": h.Forget(ctx, confined, note.ID),
		"end":    h.EndSession(ctx, confined, "s"),
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, memd.CodeNotFound, "") })
	}
	for _, ns := range []string{"", "*"} {
		if got := h.list(confined, memd.List{Tier: memd.Transient, Namespace: ns}); !slices.Equal(got, []string{own.ID}) {
			t.Errorf("a list of namespace %q shows it %d notes, want its own", ns, len(got))
		}
		if got := h.list(admin, memd.List{Tier: memd.Transient, Namespace: ns}); len(got) != 2 {
			t.Errorf("a list of namespace %q shows the administrator of all %d notes, want 2", ns, len(got))
		}
	}
	if found, err := h.Notes(ctx, confined, "own"); err != nil || len(found) != 1 {
		t.Errorf("its own session has %d notes for it, %v", len(found), err)
	}
	h.must(h.EndSession(ctx, confined, "own"))
	if got := h.notes("s"); !slices.Equal(got, []string{"ann's thought"}) {
		t.Errorf("the session now holds %q", got)
	}
	if _, ok := h.get(note.ID); !ok {
		t.Error("the administrator of all namespaces does not see the note")
	}
	h.must(h.EndSession(ctx, admin, "s"))
	h.gone(note.ID)
}

func TestEndSession(t *testing.T) {
	h := newHouse(t, nil)
	w, other := h.note(ann, "s", "one", ""), h.note(ann, "t", "other", "")
	h.must(h.EndSession(ctx, ann, "s"))
	h.gone(w.ID)
	refused(t, second(h.Notes(ctx, ann, "s")), memd.CodeNotFound, "")
	refused(t, h.EndSession(ctx, ann, "s"), memd.CodeNotFound, "")
	if _, ok := h.get(other.ID); !ok {
		t.Error("another session ended too")
	}
	// The name is free again, for anyone.
	h.note(ben, "s", "ben's", "")
	refused(t, second(h.Notes(ctx, ann, "s")), memd.CodeNotFound, "")
	if got := h.notes("s"); !slices.Equal(got, []string{"ben's"}) {
		t.Errorf("the new session holds %q", got)
	}
}

// Over the budget the oldest note of the fullest session goes first; a note
// whose time is over goes before any that lives.
func TestNoteEviction(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.TransientRows = 6 })
	for n := range 4 {
		h.note(ann, "full", fmt.Sprint("f", n), "")
	}
	for n := range 2 {
		h.note(ben, "lean", fmt.Sprint("l", n), "")
	}
	h.note(ben, "lean", "l2", "")
	h.note(ben, "new", "n0", "")
	if got := fmt.Sprint(h.notes("full"), h.notes("lean"), h.notes("new")); got != "[f2 f3] [l0 l1 l2] [n0]" {
		t.Errorf("left are %s", got)
	}
	h.note(ann, "full", "f4", "") // now lean is the fullest
	if got := fmt.Sprint(h.notes("full"), h.notes("lean"), h.notes("new")); got != "[f2 f3 f4] [l1 l2] [n0]" {
		t.Errorf("left are %s", got)
	}

	h = newHouse(t, func(b *configs.Budgets) { b.TransientRows = 6 })
	for n := range 2 {
		h.note(ann, "over", fmt.Sprint("o", n), "1m")
	}
	for n := range 4 {
		h.note(ben, "live", fmt.Sprint("l", n), "")
	}
	h.clock.Advance(time.Hour)
	h.note(ben, "live", "l4", "")
	h.note(ben, "live", "l5", "")
	if got := h.notes("live"); fmt.Sprint(got) != "[l0 l1 l2 l3 l4 l5]" {
		t.Errorf("left are %q: notes that live went for notes that do not", got)
	}
	h.note(ben, "live", "l6", "")
	if got := h.notes("live"); fmt.Sprint(got) != "[l1 l2 l3 l4 l5 l6]" {
		t.Errorf("left are %q", got)
	}
	if got := h.rows(); got != "0 0 6 0" {
		t.Errorf("rows %s", got)
	}
}
