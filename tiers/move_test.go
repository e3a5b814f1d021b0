package tiers_test

import (
	"fmt"
	"testing"
	"time"

	"memd"
)

const day = 24 * time.Hour

// Moving a row, or labelling it, makes it no younger and no older.
func TestAgeSurvivesMoves(t *testing.T) {
	h := newHouse(t, nil)
	w := h.remember("an aging row", func(r *memd.Remember) { r.Tags, r.RawContent, r.SessionID = []string{"t"}, "raw", "s" })
	id := w.ID
	h.clock.Advance(10 * day)
	check := func(step string, tier memd.Tier, err error) {
		t.Helper()
		h.must(err)
		m, _ := h.get(id)
		if m.Tier != tier || m.Age != "This memory is 10 days old" || m.CreatedAt != w.CreatedAt {
			t.Errorf("%s: in %s, %q, created %v", step, m.Tier, m.Age, m.CreatedAt)
		}
		if m.Summary != w.Summary || fmt.Sprint(m.Tags) != "[t]" || m.RawContent != "raw" || m.SessionID != "s" {
			t.Errorf("%s: the row is %+v", step, m)
		}
	}
	check("patch", memd.Short, second(h.Patch(ctx, ann, id, memd.Patch{Importance: memd.Some(8)})))
	check("archive", memd.Archive, second(h.Archive(ctx, ann, id)))
	check("patch", memd.Archive, second(h.Patch(ctx, ann, id, memd.Patch{Owner: memd.Some("o")})))
	check("back to short", memd.Short, second(h.Promote(ctx, ann, id, memd.Promote{To: memd.Short})))
	check("archive", memd.Archive, second(h.Archive(ctx, ann, id)))
	check("to long", memd.Long, second(h.Promote(ctx, ann, id, memd.Promote{MemoryKey: "k", Source: agents, Kind: memd.Pitfall})))
	check("resolve the pitfall", memd.Archive, second(h.Patch(ctx, ann, id, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	check("archive it again", memd.Archive, second(h.Archive(ctx, ann, id)))
	check("to long again", memd.Long, second(h.Promote(ctx, ann, id, memd.Promote{Source: agents})))
	if m, _ := h.get(id); m.Version != 2 || m.MemoryKey != "k" || m.Importance != 8 || m.Owner != "o" || m.Kind != memd.Pitfall {
		t.Errorf("at the end the row is %+v", m)
	}
	for n := range 3 {
		h.must(second(h.Get(ctx, ann, id)))
		if m, _ := h.get(id); m.Age != "This memory is 10 days old" || m.VerifiedAt != h.at(-10*day) {
			t.Errorf("reading it %d times made it %q", n+1, m.Age)
		}
	}
}

func TestAgeWords(t *testing.T) {
	h := newHouse(t, nil)
	id := h.remember("x").ID
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{day - time.Millisecond, ""}, {time.Millisecond, "saved yesterday"}, {day, "This memory is 2 days old"}, {45 * day, "This memory is 47 days old"}} {
		h.clock.Advance(step.after)
		if m, _ := h.get(id); m.Age != step.want {
			t.Errorf("age %q, want %q", m.Age, step.want)
		}
	}
	h.clock.Advance(-100 * day) // a clock set back
	if m, _ := h.get(id); m.Age != "" {
		t.Errorf("from the future: age %q", m.Age)
	}
}

func TestPromoteShort(t *testing.T) {
	h := newHouse(t, nil)
	w := h.remember("what was learnt", func(r *memd.Remember) { r.Kind, r.Importance, r.Tags = memd.Event, ptr(8), []string{"a"} })
	for name, c := range map[string]struct {
		req   memd.Promote
		code  memd.Code
		field string
	}{
		"no key":       {memd.Promote{Source: agents}, memd.CodeMissingField, "memory_key"},
		"bad key":      {memd.Promote{Source: agents, MemoryKey: "a b"}, memd.CodeInvalidRequest, "memory_key"},
		"no source":    {memd.Promote{MemoryKey: "k"}, memd.CodeMissingSource, "source"},
		"bad source":   {memd.Promote{MemoryKey: "k", Source: "hearsay"}, memd.CodeMissingSource, "source"},
		"short kind":   {memd.Promote{MemoryKey: "k", Source: agents, Kind: memd.Task}, memd.CodeInvalidRequest, "kind"},
		"no reasons":   {memd.Promote{MemoryKey: "k", Source: agents, Kind: memd.Project}, memd.CodeMissingField, "why"},
		"importance":   {memd.Promote{MemoryKey: "k", Source: agents, Importance: ptr(11)}, memd.CodeInvalidRequest, "importance"},
		"to archive":   {memd.Promote{MemoryKey: "k", Source: agents, To: memd.Archive}, memd.CodeInvalidRequest, "to"},
		"to nowhere":   {memd.Promote{MemoryKey: "k", Source: agents, To: "attic"}, memd.CodeInvalidRequest, "to"},
		"to short":     {memd.Promote{To: memd.Short}, memd.CodeInvalidRequest, "to"},
		"future check": {memd.Promote{MemoryKey: "k", Source: agents, VerifiedAt: h.at(6 * time.Minute)}, memd.CodeInvalidRequest, "verified_at"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, second(h.Promote(ctx, ann, w.ID, c.req)), c.code, c.field)
			if h.rows() != "0 1 0 0" {
				t.Errorf("a refused promotion left %s", h.rows())
			}
		})
	}
	p, err := h.Promote(ctx, ann, w.ID, memd.Promote{MemoryKey: "k", Source: agents})
	h.must(err)
	if p.ID != w.ID || p.Tier != memd.Long || p.Version != 1 || p.Kind != memd.Fact || p.Importance != 8 || fmt.Sprint(p.Tags) != "[a]" || p.Created {
		t.Errorf("answered %+v", p)
	}
	if h.rows() != "1 0 0 0" {
		t.Errorf("rows %s: a promoted row is in one place", h.rows())
	}
	refused(t, second(h.Promote(ctx, ann, w.ID, memd.Promote{MemoryKey: "l", Source: agents})), memd.CodeInvalidRequest, "")
	refused(t, second(h.Promote(ctx, ann, h.note(ann, "s", "n", "").ID, memd.Promote{MemoryKey: "l", Source: agents})), memd.CodeInvalidRequest, "")
}

// A promotion onto a key is its next version; of equal content it refreshes
// the head, and makes it no older.
func TestPromoteOntoKey(t *testing.T) {
	h := newHouse(t, nil)
	h.keep("k", "as it was")
	w := h.remember("as it is")
	p, err := h.Promote(ctx, ann, w.ID, memd.Promote{MemoryKey: "k", Source: agents})
	h.must(err)
	if p.Version != 2 || p.ID != w.ID {
		t.Errorf("answered version %d", p.Version)
	}
	// The same content was remembered before its key was written.
	same := h.remember("said twice")
	h.clock.Advance(30 * day)
	head := h.keep("l", "said twice")
	p, err = h.Promote(ctx, ann, same.ID, memd.Promote{MemoryKey: "l", Source: agents})
	h.must(err)
	if !p.Unchanged || p.ID != head.ID || p.Version != 1 {
		t.Errorf("answered %+v", p)
	}
	h.gone(same.ID)
	if m, _ := h.get(head.ID); m.Age != "" || m.VerifiedAt != head.VerifiedAt {
		t.Errorf("the head was verified at %v and now counts from %v", head.VerifiedAt, m.VerifiedAt)
	}
}

// Restrictions of a row go with it, and those of a key stay.
func TestPromoteUnderAccessTags(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr", "pay"}}
	w, err := h.Remember(ctx, boss, memd.Remember{Summary: "restricted", Access: []string{"hr"}})
	h.must(err)
	refused(t, second(h.Promote(ctx, ann, w.ID, memd.Promote{MemoryKey: "k", Source: agents})), memd.CodeNotFound, "")
	p, err := h.Promote(ctx, boss, w.ID, memd.Promote{MemoryKey: "k", Source: agents})
	h.must(err)
	if fmt.Sprint(p.Access) != "[hr]" {
		t.Errorf("promoted with the access tags %q", p.Access)
	}
	open := h.remember("open")
	refused(t, second(h.Promote(ctx, ann, open.ID, memd.Promote{MemoryKey: "k", Source: agents})), memd.CodeForbidden, "memory_key")
	if _, err := h.Get(ctx, ann, w.ID); memd.CodeOf(err) != memd.CodeNotFound {
		t.Error("a restricted row is open after its promotion")
	}
	p, err = h.Promote(ctx, boss, open.ID, memd.Promote{MemoryKey: "k", Source: agents})
	h.must(err)
	if fmt.Sprint(p.Access) != "[hr]" {
		t.Errorf("an open row promoted onto a restricted key opened it: %q", p.Access)
	}
}

func TestArchive(t *testing.T) {
	h := newHouse(t, nil)
	short := h.remember("a short row")
	trap := h.keep("p", "a trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	fact := h.keep("f", "a fact")
	note := h.note(ann, "s", "note", "")
	for _, id := range []string{trap.ID, fact.ID, note.ID} {
		refused(t, second(h.Archive(ctx, ann, id)), memd.CodeInvalidRequest, "")
	}
	h.must(second(h.Patch(ctx, ann, fact.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	refused(t, second(h.Archive(ctx, ann, fact.ID)), memd.CodeInvalidRequest, "")
	// Resolved before a resolved pitfall went to the archive by itself.
	h.shell(`UPDATE long SET resolved_at = '` + h.now().String() + `' WHERE id = '` + trap.ID + `'`)
	for _, id := range []string{short.ID, trap.ID} {
		w, err := h.Archive(ctx, ann, id)
		h.must(err)
		if w.Tier != memd.Archive || w.ID != id || w.Unchanged {
			t.Errorf("answered %+v", w)
		}
		if w, err = h.Archive(ctx, ann, id); err != nil || !w.Unchanged {
			t.Errorf("archived twice: %+v, %v", w, err)
		}
	}
	if h.rows() != "1 0 1 2" {
		t.Errorf("rows %s", h.rows())
	}
	if w := h.remember("a short row"); !w.Created {
		t.Error("an archived row swallowed a write")
	}
	refused(t, second(h.Promote(ctx, ann, trap.ID, memd.Promote{To: memd.Short})), memd.CodeInvalidRequest, "to")
	refused(t, second(h.Archive(ctx, ann, "no-such-id")), memd.CodeNotFound, "")
}
