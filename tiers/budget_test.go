package tiers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
)

// in returns the summaries of a tier, oldest first.
func (h *house) in(tier memd.Tier) string {
	h.t.Helper()
	return strings.ReplaceAll(h.shell(`SELECT summary FROM `+string(tier)+` ORDER BY id`), "\n", " ")
}

// A full short tier archives its least valuable row; nothing is lost and the
// new row stays.
func TestShortRowsBudget(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.ShortRows = 4 })
	weigh := func(importance int) func(*memd.Remember) {
		return func(r *memd.Remember) { r.Importance = &importance }
	}
	h.remember("old-but-important", weigh(10))
	h.clock.Advance(2 * day)
	h.remember("old", weigh(4))
	h.clock.Advance(day)
	h.remember("trivial", weigh(1))
	h.remember("fresh", weigh(5))
	for _, step := range []struct{ add, short, archive string }{
		{"a", "old-but-important old fresh a", "trivial"},
		{"b", "old-but-important fresh a b", "old trivial"},
		{"c", "fresh a b c", "old-but-important old trivial"}, // 10/(1+3) goes before a fresh 5/(1+0)
	} {
		w := h.remember(step.add)
		if got := h.in(memd.Short); got != step.short {
			t.Errorf("after %s the short tier holds %s, want %s", step.add, got, step.short)
		}
		if got := h.in(memd.Archive); got != step.archive {
			t.Errorf("after %s the archive holds %s, want %s", step.add, got, step.archive)
		}
		if m, _ := h.get(w.ID); m.Tier != memd.Short {
			t.Errorf("the new row %s is in %s", step.add, m.Tier)
		}
	}
	// Saying again what is there takes no room.
	h.remember("a")
	if got := h.rows(); got != "0 4 0 3" {
		t.Errorf("rows %s", got)
	}
	// Nor does a row that comes back exceed the budget.
	old := h.list(admin, memd.List{Tier: memd.Archive})[0]
	h.must(second(h.Promote(ctx, ann, old, memd.Promote{To: memd.Short})))
	if got := h.rows(); got != "0 4 0 3" {
		t.Errorf("rows %s after a row came back from the archive", got)
	}
}

// Accesses that were folded in make a row more valuable.
func TestShortRowsBudgetCountsAccess(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.ShortRows = 2 })
	used := h.remember("used")
	h.remember("unused")
	h.shell(`UPDATE short SET access_count = 3 WHERE id = '` + used.ID + `'`)
	h.remember("new")
	if got := h.in(memd.Short); got != "used new" {
		t.Errorf("the short tier holds %s", got)
	}
}

// All long keys in use: a new key is refused, an old one can still be written.
func TestLongRowsBudget(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.LongRows = 3 })
	for n := range 3 {
		h.keep(fmt.Sprint("k", n), fmt.Sprint("fact ", n))
	}
	short := h.remember("to be promoted")
	for name, write := range map[string]func() error{
		"write": func() error { return second(h.RememberLongTerm(ctx, ann, longRequest("new", "x"))) },
		"namespace": func() error {
			return second(h.RememberLongTerm(ctx, ann, longRequest("k0", "x", func(r *memd.RememberLongTerm) { r.Namespace = "user" })))
		},
		"promote": func() error {
			return second(h.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "new", Source: agents}))
		},
	} {
		err := write()
		refused(t, err, memd.CodeBudgetExceeded, "")
		if e, ok := errors.AsType[*memd.Error](err); !ok || !strings.Contains(e.Message, "long_rows") || e.Hint == "" {
			t.Errorf("%s: %v does not name the budget and what to do", name, err)
		}
	}
	if got := h.rows(); got != "3 1 0 0" {
		t.Errorf("rows %s after refusals", got)
	}
	for n := range 5 { // versions are no keys
		h.keep("k0", fmt.Sprint("wording ", n))
	}
	h.keep("k1", "fact 1")
	p, err := h.Promote(ctx, ann, short.ID, memd.Promote{MemoryKey: "k2", Source: agents})
	if err != nil || p.Version != 2 {
		t.Errorf("a promotion onto an old key: %+v, %v", p, err)
	}
	h.must(h.ForgetKey(ctx, ann, "", "k1"))
	h.keep("new", "x")
	h.shell(`DELETE FROM long WHERE memory_key = 'new'`) // by hand: the key's place is free
	h.keep("newer", "x")
	refused(t, second(h.RememberLongTerm(ctx, ann, longRequest("new", "x"))), memd.CodeBudgetExceeded, "")
}

// Over the archive's budget its least valuable rows go, but none with a key.
func TestArchiveRowsBudget(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.ArchiveRows = 3 })
	archive := func(id string) { h.must(second(h.Archive(ctx, ann, id))) }
	for n := range 2 {
		id := h.keep(fmt.Sprint("p", n), fmt.Sprint("trap", n), func(r *memd.RememberLongTerm) { r.Kind, r.Importance = memd.Pitfall, ptr(1) }).ID
		h.must(second(h.Patch(ctx, ann, id, memd.Patch{ResolvedAt: memd.Some(h.now())})))
		archive(id)
	}
	h.clock.Advance(day)
	archive(h.remember("a", func(r *memd.Remember) { r.Importance = ptr(9) }).ID)
	archive(h.remember("b", func(r *memd.Remember) { r.Importance = ptr(2) }).ID)
	if got := h.in(memd.Archive); got != "trap0 trap1 b" {
		t.Errorf("the archive holds %s", got)
	}
	// With rows that are owed alone it exceeds the budget rather than drop one.
	id := h.keep("p9", "trap9", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }).ID
	h.must(second(h.Patch(ctx, ann, id, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	archive(id)
	id = h.keep("p10", "trap10", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }).ID
	h.must(second(h.Patch(ctx, ann, id, memd.Patch{ResolvedAt: memd.Some(h.now())})))
	archive(id)
	if got := h.in(memd.Archive); got != "trap0 trap1 trap9 trap10" {
		t.Errorf("the archive holds %s", got)
	}
}

// One namespace's share: it makes room among its own rows and cannot crowd out
// another's.
func TestPerNamespaceBudget(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.PerNamespace, b.ShortRows, b.LongRows, b.ArchiveRows = 0.5, 6, 4, 4 })
	in := func(ns string) func(*memd.Remember) { return func(r *memd.Remember) { r.Namespace = ns } }
	longIn := func(ns string) func(*memd.RememberLongTerm) {
		return func(r *memd.RememberLongTerm) { r.Namespace = ns }
	}
	h.remember("u0", in("user"))
	for n := range 5 {
		h.clock.Advance(time.Hour)
		h.remember(fmt.Sprint("d", n))
	}
	if got := h.in(memd.Short); got != "u0 d2 d3 d4" {
		t.Errorf("the short tier holds %s", got)
	}
	if got := h.in(memd.Archive); got != "d0 d1" {
		t.Errorf("the archive holds %s", got)
	}
	h.clock.Advance(time.Hour)
	h.remember("d5")
	if got := h.in(memd.Archive); got != "d1 d2" {
		t.Errorf("over its share of the archive it holds %s", got)
	}
	h.keep("a", "1")
	h.keep("b", "2")
	err := second(h.RememberLongTerm(ctx, ann, longRequest("c", "3")))
	refused(t, err, memd.CodeBudgetExceeded, "")
	if !strings.Contains(err.Error(), "per_namespace") {
		t.Errorf("%v does not name the budget", err)
	}
	h.keep("a", "1 again")
	h.keep("c", "3", longIn("user"))
}

// Lengths follow the budgets in force, in code points.
func TestConfiguredLengths(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.ShortChars, b.LongChars, b.TransientChars, b.RawBytes = 3, 4, 2, 5 })
	h.remember("三個字", func(r *memd.Remember) { r.RawContent = "字ab" })
	h.keep("k", "四個字喔", func(r *memd.RememberLongTerm) { r.RawContent = "字ab" })
	h.note(ann, "s", "兩字", "")
	refused(t, second(h.Remember(ctx, ann, memd.Remember{Summary: "abcd"})), memd.CodeTooLarge, "summary")
	refused(t, second(h.Remember(ctx, ann, memd.Remember{Summary: "abc", RawContent: "字字"})), memd.CodeTooLarge, "raw_content")
	refused(t, second(h.RememberLongTerm(ctx, ann, longRequest("k", "abcde"))), memd.CodeTooLarge, "summary")
	refused(t, second(h.Note(ctx, ann, "s", memd.Note{Summary: "abc"})), memd.CodeTooLarge, "summary")
	// A row fits the tier it is promoted to, or it stays.
	h2 := newHouse(t, func(b *configs.Budgets) { b.LongChars = 3 })
	w := h2.remember("four")
	refused(t, second(h2.Promote(ctx, ann, w.ID, memd.Promote{MemoryKey: "k", Source: agents})), memd.CodeTooLarge, "summary")
}
