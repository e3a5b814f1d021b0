package tiers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memd"
)

func TestPatch(t *testing.T) {
	h := newHouse(t, nil)
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	all := memd.Patch{
		Importance: memd.Some(9), Tags: memd.Some([]string{"a", "b", "a"}), Owner: memd.Some("team"), Access: memd.Some([]string{"hr"}),
		ExpiresAt: memd.Some(h.at(1000 * time.Hour)), ResolvedAt: memd.Some(h.at(-time.Hour)),
	}
	none := memd.Patch{
		Tags: memd.Null[[]string](), Owner: memd.Null[string](), Access: memd.Null[[]string](),
		ExpiresAt: memd.Null[memd.Time](), ResolvedAt: memd.Null[memd.Time](),
	}
	archived := h.remember("archived")
	h.must(second(h.Archive(ctx, ann, archived.ID)))
	for _, id := range []string{h.remember("short").ID, h.keep("k", "long").ID, archived.ID, h.note(boss, "s", "note", "").ID} {
		before, _ := h.get(id)
		h.clock.Advance(time.Hour)
		w, err := h.Patch(ctx, boss, id, all)
		h.must(err)
		m, _ := h.get(id)
		if m.Importance != 9 || fmt.Sprint(m.Tags) != "[a b]" || m.Owner != "team" || fmt.Sprint(m.Access) != "[hr]" ||
			m.ExpiresAt != all.ExpiresAt.Value || m.ResolvedAt != all.ResolvedAt.Value || m.UpdatedAt != h.now() {
			t.Errorf("%s after the patch: %+v", m.Tier, m)
		}
		if w.Importance != 9 || w.Owner != "team" || w.ID != id {
			t.Errorf("%s: answered %+v", m.Tier, w)
		}
		if m.Summary != before.Summary || m.VerifiedAt != before.VerifiedAt || m.WrittenAt != before.WrittenAt || m.Version != before.Version || m.CreatedAt != before.CreatedAt {
			t.Errorf("%s: the patch touched more than it said: %+v", m.Tier, m)
		}
		h.must(second(h.Patch(ctx, boss, id, none)))
		if m, _ = h.get(id); m.Importance != 9 || len(m.Tags) != 0 || m.Owner != "" || len(m.Access) != 0 || !m.ExpiresAt.IsZero() || !m.ResolvedAt.IsZero() {
			t.Errorf("%s after clearing: %+v", m.Tier, m)
		}
	}
}

func TestBadPatch(t *testing.T) {
	h := newHouse(t, nil)
	id := h.remember("x").ID
	const invalid = memd.CodeInvalidRequest
	for name, c := range map[string]struct {
		patch memd.Patch
		code  memd.Code
		field string
	}{
		"empty":              {memd.Patch{}, invalid, ""},
		"no importance":      {memd.Patch{Importance: memd.Null[int]()}, invalid, "importance"},
		"importance 0":       {memd.Patch{Importance: memd.Some(0)}, invalid, "importance"},
		"importance 11":      {memd.Patch{Importance: memd.Some(11)}, invalid, "importance"},
		"blank tag":          {memd.Patch{Tags: memd.Some([]string{"\u200b"})}, invalid, "tags"},
		"33 tags":            {memd.Patch{Tags: memd.Some(make([]string, 33))}, memd.CodeTooLarge, "tags"},
		"owner of two lines": {memd.Patch{Owner: memd.Some("a\nb")}, invalid, "owner"},
		"access not held":    {memd.Patch{Access: memd.Some([]string{"hr"})}, memd.CodeForbidden, "access"},
		"expired already":    {memd.Patch{ExpiresAt: memd.Some(h.now())}, invalid, "expires_at"},
		"resolved ahead":     {memd.Patch{ResolvedAt: memd.Some(h.at(6 * time.Minute))}, invalid, "resolved_at"},
		"good and bad":       {memd.Patch{Owner: memd.Some("o"), Importance: memd.Some(0)}, invalid, "importance"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, second(h.Patch(ctx, ann, id, c.patch)), c.code, c.field)
			if m, _ := h.get(id); m.Importance != 5 || m.Owner != "" || len(m.Tags) != 0 || m.UpdatedAt != m.CreatedAt {
				t.Errorf("a refused patch left %+v", m)
			}
		})
	}
	refused(t, second(h.Patch(ctx, ann, "no-such-id", memd.Patch{Importance: memd.Some(1)})), memd.CodeNotFound, "")
}

func TestVerify(t *testing.T) {
	h := newHouse(t, nil)
	long := h.keep("k", "a rule")
	h.clock.Advance(91 * 24 * time.Hour)
	m, _ := h.get(long.ID)
	if !m.Stale || m.StaleReason != memd.StaleAge || m.Age != "This memory is 91 days old" {
		t.Errorf("after 91 days: stale %v (%s), %q", m.Stale, m.StaleReason, m.Age)
	}
	w, err := h.Verify(ctx, ben, long.ID, memd.Verify{})
	h.must(err)
	if w.Stale || w.Age != "" || w.VerifiedAt != h.now() || w.VerifiedBy != "ben" || w.Version != 1 {
		t.Errorf("verified: %+v", w)
	}
	if m, _ := h.get(long.ID); m.Stale || m.StaleReason != "" {
		t.Errorf("verified, yet stale: %+v", m)
	}
	// At a stated time, which may lie so far back that the row stays stale.
	w, err = h.Verify(ctx, ann, long.ID, memd.Verify{VerifiedAt: h.at(-100 * 24 * time.Hour)})
	h.must(err)
	if !w.Stale || w.Age != "This memory is 100 days old" {
		t.Errorf("verified long ago: stale %v, %q", w.Stale, w.Age)
	}
	refused(t, second(h.Verify(ctx, ann, long.ID, memd.Verify{VerifiedAt: h.at(6 * time.Minute)})), memd.CodeInvalidRequest, "verified_at")
	// A mark that groom set goes with a verification, but not one that says
	// the source no longer bears the row out.
	for _, c := range []struct {
		status, reason string
		stale          bool
	}{{"ok", "age", false}, {"unchecked", "age", false}, {"missing", "source_missing", true}, {"changed", "source_changed", true}} {
		h.shell(fmt.Sprintf(`UPDATE long SET stale = 1, stale_reason = '%s', source_status = '%s'`, c.reason, c.status))
		if w, err := h.Verify(ctx, ann, long.ID, memd.Verify{}); err != nil || w.Stale != c.stale {
			t.Errorf("source %s: stale %v after a verification, %v", c.status, w.Stale, err)
		}
	}
	for _, id := range []string{h.remember("short").ID, h.note(ann, "s", "note", "").ID} {
		refused(t, second(h.Verify(ctx, ann, id, memd.Verify{})), memd.CodeInvalidRequest, "")
	}
}

// Who has looked and found that the source does not say it any more has the row
// marked, whatever memd would see; a later look that finds it takes the mark off.
func TestSourceLacksIt(t *testing.T) {
	r := newRooted(t)
	v1 := r.keep("k", "run make test", from("AGENTS.md#commands"))
	r.clock.Advance(time.Hour)
	w := must(r.Verify(ctx, ben, v1.ID, memd.Verify{SourceStatus: memd.SourceMissing}))
	m, _ := r.get(v1.ID)
	if !w.Stale || w.StaleReason != memd.StaleSourceMissing || w.SourceStatus != memd.SourceMissing || len(w.Warnings) != 0 {
		t.Errorf("answered %+v", w)
	}
	if !m.Stale || m.VerifiedAt != v1.VerifiedAt || m.VerifiedBy != "ann" || m.UpdatedAt != r.now() {
		t.Errorf("the row is %+v", m)
	}
	if hash := r.hash("k"); hash == "" || strings.HasPrefix(hash, "sha256:") {
		t.Errorf("%q is kept, which a section may have", hash)
	}
	if w = must(r.Verify(ctx, ben, v1.ID, memd.Verify{})); w.Stale || w.SourceStatus != memd.SourceOK || !strings.HasPrefix(r.hash("k"), "sha256:") {
		t.Errorf("looked at again: %+v, %q", w, r.hash("k"))
	}
	for field, req := range map[string]memd.Verify{
		"source_status": {SourceStatus: memd.SourceOK},
		"verified_at":   {SourceStatus: memd.SourceMissing, VerifiedAt: r.now()},
	} {
		refused(t, second(r.Verify(ctx, ann, v1.ID, req)), memd.CodeInvalidRequest, field)
	}
	short := r.remember("short")
	refused(t, second(r.Verify(ctx, ann, short.ID, memd.Verify{SourceStatus: memd.SourceMissing})), memd.CodeInvalidRequest, "")
	refused(t, second(r.Verify(ctx, reader, v1.ID, memd.Verify{SourceStatus: memd.SourceMissing})), memd.CodeForbidden, "")
}

// What people wish and say stays fresh longer than what code does.
func TestFreshness(t *testing.T) {
	h := newHouse(t, nil)
	ids := map[memd.Kind]string{}
	for _, k := range memd.AllKinds() {
		if k.Durable() {
			ids[k] = h.keep(string(k), "a "+string(k), func(r *memd.RememberLongTerm) { r.Kind, r.Why, r.HowToApply = k, "w", "h" }).ID
		}
	}
	short := h.remember("short").ID
	check := func(day string, stale func(memd.Kind) bool) {
		t.Helper()
		for k, id := range ids {
			if m, _ := h.get(id); m.Stale != stale(k) {
				t.Errorf("%s: a %s has stale %v", day, k, m.Stale)
			}
		}
		if m, _ := h.get(short); m.Stale {
			t.Errorf("%s: a short row is stale", day)
		}
	}
	h.clock.Advance(90 * 24 * time.Hour)
	check("day 90", func(memd.Kind) bool { return false })
	h.clock.Advance(time.Millisecond)
	check("after day 90", func(k memd.Kind) bool { return !k.Personal() })
	h.clock.Advance(275 * 24 * time.Hour)
	check("after day 365", func(memd.Kind) bool { return true })
}

func TestHit(t *testing.T) {
	h := newHouse(t, nil)
	long := h.keep("p", "a trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	short := h.remember("a small trap", func(r *memd.Remember) { r.Kind = memd.Pitfall })
	for _, id := range []string{long.ID, short.ID, long.ID} {
		h.clock.Advance(time.Minute)
		before, _ := h.get(id)
		w, err := h.Hit(ctx, ann, id)
		h.must(err)
		if after, _ := h.get(id); w.ID != id || after.UpdatedAt != before.UpdatedAt || after.VerifiedAt != before.VerifiedAt || after.AccessCount != 0 {
			t.Errorf("a hit changed the row: %+v", after)
		}
	}
	if got := h.shell(`SELECT group_concat(memory_id || ' ' || at, ';') FROM pitfall_hit`); got != long.ID+" 2026-11-30T02:01:00.000Z;"+
		short.ID+" 2026-11-30T02:02:00.000Z;"+long.ID+" 2026-11-30T02:03:00.000Z" {
		t.Errorf("hits %s", got)
	}
	refused(t, second(h.Hit(ctx, ann, h.remember("no trap").ID)), memd.CodeInvalidRequest, "")
}

// Each change is in the audit log, by whom and of what, and nothing of what it
// says.
func TestAudit(t *testing.T) {
	h := newHouse(t, nil)
	short := h.remember("the audited body")
	h.remember("the audited body")
	h.must(second(h.Patch(ctx, ben, short.ID, memd.Patch{Importance: memd.Some(6)})))
	h.must(second(h.Archive(ctx, ann, short.ID)))
	h.must(second(h.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "k", Source: agents})))
	h.must(second(h.Verify(ctx, ben, short.ID, memd.Verify{})))
	h.must(h.Forget(ctx, ann, short.ID))
	h.note(ann, "s", "the audited body", "")
	h.must(h.EndSession(ctx, ann, "s"))
	got := h.shell(`SELECT caller || ' ' || action FROM audit ORDER BY seq`)
	want := "ann remember\nann remember_again\nben patch\nann archive\nann promote\nben verify\nann forget\nann note\nann end_session"
	if got != want {
		t.Errorf("the audit log is\n%s\nwant\n%s", got, want)
	}
	if got := h.shell(`SELECT count(*) FROM audit WHERE detail LIKE '%body%' OR action LIKE '%body%'`); got != "0" {
		t.Error("the audit log tells a body")
	}
	if got := h.shell(`SELECT count(*) FROM audit WHERE memory_id = '` + short.ID + `' AND namespace = 'default'`); got != "7" {
		t.Errorf("%s entries name the row", got)
	}
}
