package tiers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memd"
)

// holdings counts what is left of an id anywhere in the database.
func (h *house) holdings(id string) string {
	return h.shell(`SELECT (SELECT count(*) FROM memory WHERE id = '` + id + `') || ' ' || (SELECT count(*) FROM embedding WHERE memory_id = '` + id + `')
 || ' ' || (SELECT count(*) FROM outbox WHERE memory_id = '` + id + `') || ' ' || (SELECT count(*) FROM tombstone WHERE id = '` + id + `')`)
}

func TestForgetRow(t *testing.T) {
	h := newHouse(t, nil)
	archived := h.remember("to be archived").ID
	h.must(second(h.Archive(ctx, ann, archived)))
	note, err := h.Note(ctx, ann, "s", memd.Note{Summary: "a note"})
	h.must(err)
	for _, id := range []string{h.remember("short").ID, archived, note.ID} {
		h.shell(`INSERT INTO embedding VALUES ('` + id + `', 'm', 1, x'7f', x'01')`)
		if id != note.ID {
			h.shell(`INSERT INTO outbox (memory_id, queued_at) VALUES ('` + id + `', '')`)
		} else {
			h.shell(`DELETE FROM embedding WHERE memory_id = '` + id + `'`) // notes have no vector
		}
		h.must(h.Forget(ctx, ann, id))
		h.gone(id)
		if got := h.holdings(id); got != "0 0 0 1" {
			t.Errorf("rows, vectors, queue entries and tombstones after a forget: %s", got)
		}
		refused(t, h.Forget(ctx, ann, id), memd.CodeNotFound, "")
	}
	refused(t, h.Forget(ctx, ann, "no-such-id"), memd.CodeNotFound, "")
	if w := h.remember("short"); !w.Created {
		t.Error("a forgotten row cannot be remembered again by hand")
	}
}

// Forgetting a head takes its older versions along, and the key with them.
func TestForgetHead(t *testing.T) {
	h := newHouse(t, nil)
	var ids []string
	for n := range 3 {
		ids = append(ids, h.keep("k", fmt.Sprint("the secret wording ", n)).ID)
	}
	other := h.keep("l", "another key")
	h.must(h.Forget(ctx, ann, ids[2]))
	for _, id := range ids {
		h.gone(id)
		if got := h.holdings(id); got != "0 0 0 1" {
			t.Errorf("after the forget: %s", got)
		}
	}
	refused(t, second(h.Versions(ctx, ann, "", "k")), memd.CodeNotFound, "")
	refused(t, second(h.Head(ctx, ann, "", "k")), memd.CodeNotFound, "")
	if _, ok := h.get(other.ID); !ok {
		t.Error("another key was forgotten too")
	}
	// No body anywhere but in what rests on deleted pages: not in the tables.
	for _, table := range []string{"tombstone", "audit", "head"} {
		if dump := h.shell(`.mode list` + "\n" + `SELECT * FROM ` + table); strings.Contains(dump, "secret") {
			t.Errorf("table %s holds a body", table)
		}
	}
	if got := h.shell(`SELECT count(*) FROM tombstone WHERE namespace = 'default' AND memory_key = 'k' AND content_hash GLOB 'sha256:*' AND forgotten_at = '2026-11-30T02:00:00.000Z'`); got != "3" {
		t.Errorf("%s whole tombstones, want 3", got)
	}
	w := h.keep("k", "the secret wording 0")
	if w.Version != 1 || !w.Created {
		t.Errorf("the key starts again at version %d", w.Version)
	}
}

// Forgetting an old version takes the older ones along and leaves the head.
func TestForgetOldVersion(t *testing.T) {
	h := newHouse(t, nil)
	var ids []string
	for n := range 4 {
		ids = append(ids, h.keep("k", fmt.Sprint("wording ", n)).ID)
	}
	h.must(h.Forget(ctx, ann, ids[1]))
	h.gone(ids[0])
	h.gone(ids[1])
	versions, err := h.Versions(ctx, ann, "", "k")
	h.must(err)
	if len(versions) != 2 || versions[0].ID != ids[3] || versions[1].ID != ids[2] {
		t.Errorf("left are %+v", versions)
	}
	if head, err := h.Head(ctx, ann, "", "k"); err != nil || head.Version != 4 {
		t.Errorf("the head is %d, %v", head.Version, err)
	}
	if w := h.keep("k", "wording 4"); w.Version != 5 {
		t.Errorf("the next version is %d", w.Version)
	}
}

func TestForgetKey(t *testing.T) {
	h := newHouse(t, nil)
	a, b := h.keep("k", "one"), h.keep("k", "two")
	elsewhere := h.keep("k", "three", func(r *memd.RememberLongTerm) { r.Namespace = "user" })
	refused(t, h.ForgetKey(ctx, ann, "", "K"), memd.CodeNotFound, "")
	h.must(h.ForgetKey(ctx, ann, "default", "k"))
	h.gone(a.ID)
	h.gone(b.ID)
	if _, ok := h.get(elsewhere.ID); !ok {
		t.Error("the key of another namespace was forgotten")
	}
	refused(t, h.ForgetKey(ctx, ann, "", "k"), memd.CodeNotFound, "")
	if w := h.keep("k", "one"); w.Version != 1 {
		t.Errorf("the key starts again at version %d", w.Version)
	}
}

// An archived pitfall still belongs to its key: forgetting the key forgets it,
// and while it lies there the key's count goes on.
func TestForgetArchivedKey(t *testing.T) {
	h := newHouse(t, nil)
	w := h.keep("p", "a trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	h.must(second(h.Patch(ctx, ann, w.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	h.must(second(h.Archive(ctx, ann, w.ID)))
	refused(t, second(h.Head(ctx, ann, "", "p")), memd.CodeNotFound, "")
	if v, err := h.Versions(ctx, ann, "", "p"); err != nil || len(v) != 1 || v[0].Tier != memd.Archive {
		t.Errorf("versions %+v, %v", v, err)
	}
	again := h.keep("p", "the trap is back", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	if again.Version != 2 {
		t.Errorf("the next version is %d", again.Version)
	}
	h.must(h.Forget(ctx, ann, again.ID))
	h.gone(w.ID)
	h.gone(again.ID)
	if w := h.keep("p", "a trap"); w.Version != 1 {
		t.Errorf("the key starts again at version %d", w.Version)
	}
}

// Who may see what a key says now may forget it, and with it all that it said before:
// also versions that it may not see, which would keep the key's text. Who may not see
// it forgets no version below it that is hidden.
func TestForgetOverRestrictedVersions(t *testing.T) {
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	tagged := func(tags ...string) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.Access = append([]string{}, tags...) }
	}
	write := func(h *house, c memd.Caller, n int, tags ...string) string {
		return must(h.RememberLongTerm(ctx, c, longRequest("k", fmt.Sprint("wording ", n), tagged(tags...)))).ID
	}
	end := func(h *house, c memd.Caller, id string) {
		h.must(second(h.Patch(ctx, c, id, memd.Patch{ExpiresAt: memd.Some(h.at(time.Minute))})))
		h.clock.Advance(time.Hour)
	}
	byID := func(h *house, ids []string) error { return h.Forget(ctx, ann, ids[len(ids)-1]) }
	byKey := func(h *house, _ []string) error { return h.ForgetKey(ctx, ann, "", "k") }
	for name, c := range map[string]struct {
		make  func(*house) []string
		other func(*house, []string) error // another forget than of the newest row and of the key
		may   bool
	}{
		"opened by who holds the tags": {func(h *house) []string {
			return []string{write(h, boss, 1, "hr"), write(h, boss, 2)}
		}, nil, true},
		"one between": {func(h *house) []string {
			return []string{write(h, boss, 1), write(h, boss, 2, "hr"), write(h, boss, 3)}
		}, nil, true},
		"written over what had expired": {func(h *house) []string {
			id := write(h, boss, 1, "hr")
			end(h, boss, id)
			return []string{id, write(h, ann, 2)}
		}, nil, true},
		"expired itself": {func(h *house) []string {
			ids := []string{write(h, boss, 1, "hr"), write(h, boss, 2)}
			end(h, ann, ids[1])
			return ids
		}, nil, true},
		"in another database": {func(h *house) []string {
			id := write(h, boss, 1, "hr")
			h.roll()
			return []string{id, write(h, boss, 2)}
		}, nil, true},
		"the head is hidden": {func(h *house) []string {
			return []string{write(h, boss, 1), write(h, boss, 2, "hr")}
		}, nil, false},
		"hidden and expired": {func(h *house) []string {
			id := write(h, boss, 1, "hr")
			end(h, boss, id)
			return []string{id}
		}, nil, false},
		"an older one that shows, below a hidden head": {func(h *house) []string {
			ids := []string{write(h, boss, 1, "hr"), write(h, boss, 2), write(h, boss, 3, "hr")}
			h.shell(`UPDATE long SET access = '[]' WHERE id = '` + ids[1] + `'`) // as before versions were covered
			return ids
		}, func(h *house, ids []string) error { return h.Forget(ctx, ann, ids[1]) }, false},
	} {
		for by, forget := range map[string]func(*house, []string) error{"id": byID, "key": byKey, "other": c.other} {
			if forget == nil {
				continue
			}
			t.Run(name+" by "+by, func(t *testing.T) {
				h := newHouse(t, nil)
				ids := c.make(h)
				const all = `SELECT id, access, updated_at FROM long; SELECT * FROM head; SELECT * FROM tombstone; SELECT count(*) FROM audit`
				before := h.shell(all)
				err := forget(h, ids)
				if !c.may {
					refused(t, err, memd.CodeNotFound, "")
					if after := h.shell(all); after != before {
						t.Errorf("a refused forget left\n%s\nof\n%s", after, before)
					}
					return
				}
				h.must(err)
				for _, id := range ids {
					h.gone(id)
				}
				if said := h.everywhere(`SELECT count(*) FROM long`); strings.Trim(strings.Join(said, ""), "0") != "" {
					t.Errorf("rows are left: %q", said)
				}
				refused(t, second(h.Head(ctx, admin, "", "k")), memd.CodeNotFound, "")
				refused(t, second(h.Versions(ctx, admin, "", "k")), memd.CodeNotFound, "")
				if w := h.keep("k", "wording 1"); w.Version != 1 {
					t.Errorf("the key starts again at version %d", w.Version)
				}
			})
		}
	}
}

// An old version that shows takes hidden ones below it along, and leaves the head.
func TestForgetOldOverHidden(t *testing.T) {
	h := newHouse(t, nil)
	var ids []string
	for n, tags := range [][]string{{"hr"}, {}, {}} {
		ids = append(ids, must(h.RememberLongTerm(ctx, admin, longRequest("k", fmt.Sprint("wording ", n), func(r *memd.RememberLongTerm) { r.Access = tags }))).ID)
	}
	refused(t, h.Forget(ctx, ann, ids[0]), memd.CodeNotFound, "")
	h.must(h.Forget(ctx, ann, ids[1]))
	h.gone(ids[0])
	h.gone(ids[1])
	if head, err := h.Head(ctx, ann, "", "k"); err != nil || head.ID != ids[2] {
		t.Errorf("the head is %+v, %v", head, err)
	}
}

// A row with a key outlives its time, so it can be forgotten after it; a row
// without is groom's to delete and is not found.
func TestForgetExpired(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	until := memd.Patch{ExpiresAt: memd.Some(h.at(time.Minute))}
	v1, v2 := h.keep("k", "first wording"), h.keep("k", "second wording")
	trap := h.keep("trap", "a trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	h.must(second(h.Patch(ctx, ann, trap.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	h.must(second(h.Archive(ctx, ann, trap.ID)))
	hidden, err := h.RememberLongTerm(ctx, boss, longRequest("hidden", "hidden", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }))
	h.must(err)
	short, cold, note := h.remember("short"), h.remember("cold"), h.note(ann, "s", "note", "1m")
	h.must(second(h.Archive(ctx, ann, cold.ID)))
	for _, w := range []memd.Written{v2, trap, hidden, short, cold} {
		h.must(second(h.Patch(ctx, boss, w.ID, until)))
	}
	h.clock.Advance(time.Hour)
	for _, w := range []memd.Written{short, cold, note} {
		refused(t, h.Forget(ctx, ann, w.ID), memd.CodeNotFound, "")
	}
	refused(t, h.Forget(ctx, ann, hidden.ID), memd.CodeNotFound, "") // its tags bind as before
	refused(t, second(h.Patch(ctx, ann, v2.ID, memd.Patch{Importance: memd.Some(1)})), memd.CodeNotFound, "")
	for _, id := range []string{v2.ID, trap.ID} {
		h.must(h.Forget(ctx, ann, id))
	}
	for _, id := range []string{v1.ID, v2.ID, trap.ID} {
		if got := h.holdings(id); got != "0 0 0 1" {
			t.Errorf("after the forget of an expired row: %s", got)
		}
	}
	for _, id := range []string{short.ID, cold.ID, note.ID, hidden.ID} {
		if got := h.holdings(id); got[0] != '1' {
			t.Errorf("a refused forget left %s", got)
		}
	}
}
