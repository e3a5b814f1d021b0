package tiers_test

import (
	"fmt"
	"testing"
	"time"

	"memd"
)

// Keys that ended are told with what became of them, also over several databases, and
// none whose memory is in force again.
func TestGone(t *testing.T) {
	h := newHouse(t, nil)
	admin := memd.LocalAdmin()
	pitfall := func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }
	for _, key := range []string{"stands", "anew", "forgotten", "short-lived"} {
		h.keep(key, key)
	}
	h.keep("over", "over", pitfall)
	h.roll()
	h.keep("late", "late")
	h.keep("stood", "stood")
	h.must(h.ForgetKey(ctx, admin, "", "forgotten"))
	h.must(h.ForgetKey(ctx, admin, "", "anew"))
	h.keep("anew", "anew again")
	h.must(h.ForgetKey(ctx, admin, "", "late"))
	patch := func(key string, p memd.Patch) {
		m, err := h.Head(ctx, admin, "", key)
		h.must(err)
		h.must(second(h.Patch(ctx, admin, m.ID, p)))
	}
	patch("over", memd.Patch{ResolvedAt: memd.Some(h.now())})
	patch("short-lived", memd.Patch{ExpiresAt: memd.Some(h.at(time.Hour))})
	h.shell(`DELETE FROM long WHERE memory_key = 'stood'`)
	h.clock.Advance(2 * time.Hour)
	page, err := h.Gone(ctx, admin, "", "")
	h.must(err)
	want := "[{forgotten forgotten} {late forgotten} {over archived} {short-lived expired} {stood deleted}]"
	if got := fates(page); got != want || page.NextCursor != "" {
		t.Errorf("gone are %s %q, want %s", got, page.NextCursor, want)
	}
	h.shell(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO head (namespace, memory_key, version) SELECT 'team/x', printf('k%05d', i), 1 FROM n`)
	page, err = h.Gone(ctx, admin, "team/x", "")
	h.must(err)
	next, err := h.Gone(ctx, admin, "team/x", page.NextCursor)
	h.must(err)
	if len(page.Gone) != 5000 || len(next.Gone) != 1 || next.Gone[0].MemoryKey != "k05000" || next.NextCursor != "" {
		t.Errorf("%d keys, then %v", len(page.Gone), next)
	}
	if _, err := h.Gone(ctx, ann, "", ""); memd.CodeOf(err) != memd.CodeForbidden {
		t.Errorf("a writer is told %v", err)
	}
	if _, err := h.Gone(ctx, admin, "", "x"); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("a foreign cursor is %v", err)
	}
}

// fates words a page without its times, which only what was forgotten has.
func fates(page memd.GonePage) string {
	type gone struct {
		key  string
		fate memd.Fate
	}
	var all []gone
	for _, g := range page.Gone {
		if g.ForgottenAt.IsZero() == (g.Fate == memd.FateForgotten) {
			g.Fate += " at another time"
		}
		all = append(all, gone{g.MemoryKey, g.Fate})
	}
	return fmt.Sprint(all)
}

// What became of a key is what became of its last version, whatever was forgotten before.
func TestGoneOfTheLast(t *testing.T) {
	h := newHouse(t, nil)
	admin := memd.LocalAdmin()
	pitfall := func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }
	for _, key := range []string{"anew-expired", "anew-archived", "old-expired", "old-archived", "both"} {
		first := h.keep(key, key, pitfall)
		if key[:3] == "ane" {
			h.must(h.ForgetKey(ctx, admin, "", key))
			h.keep(key, key+" again", pitfall)
			continue
		}
		h.keep(key, key+" again", pitfall)
		h.must(h.Forget(ctx, admin, first.ID))
	}
	for key, p := range map[string]memd.Patch{
		"anew-expired": {ExpiresAt: memd.Some(h.at(time.Hour))}, "old-expired": {ExpiresAt: memd.Some(h.at(time.Hour))},
		"anew-archived": {ResolvedAt: memd.Some(h.now())}, "old-archived": {ResolvedAt: memd.Some(h.now())}, "both": {ResolvedAt: memd.Some(h.now())},
	} {
		m, err := h.Head(ctx, admin, "", key)
		h.must(err)
		h.must(second(h.Patch(ctx, admin, m.ID, p)))
	}
	h.must(h.ForgetKey(ctx, admin, "", "both"))
	h.clock.Advance(2 * time.Hour)
	page, err := h.Gone(ctx, admin, "", "")
	h.must(err)
	want := "[{anew-archived archived} {anew-expired expired} {both forgotten} {old-archived archived} {old-expired expired}]"
	if got := fates(page); got != want {
		t.Errorf("gone are %s, want %s", got, want)
	}
}
