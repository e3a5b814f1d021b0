package groom_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
)

// between is a context that has edit run once, after a pass has planned something
// and before it does any of it.
func (h *house) between(name string, edit func()) context.Context {
	done := false
	return &looked{context.Background(), func() {
		if p := h.runner.Running(); !done && p != nil && p.Pass == name && p.Planned > 0 {
			done = true
			edit()
		}
	}}
}

// wantTier fails unless a row is in a tier, "" for nowhere.
func (h *house) wantTier(what string, m memd.Memory, want memd.Tier) {
	h.t.Helper()
	row, _ := h.row(m.ID)
	if row.Tier != want {
		h.t.Errorf("%s is in %q, want %q", what, row.Tier, want)
	}
}

// eachPlace runs a test with its rows in the active database, and in a historical
// one, into which settle moves them.
func eachPlace(t *testing.T, test func(t *testing.T, settle func(*house))) {
	t.Run("active", func(t *testing.T) { test(t, func(*house) {}) })
	t.Run("history", func(t *testing.T) { test(t, func(h *house) { h.roll() }) })
}

// ids are those of rows, sorted.
func ids(rows ...memd.Memory) []string {
	all := []string{}
	for _, m := range rows {
		all = append(all, m.ID)
	}
	slices.Sort(all)
	return all
}

// run does a dry run and a real one, wants both to say the same of a pass, and
// returns that.
func (h *house) run(name string) groom.Pass {
	h.t.Helper()
	dry, real := h.pass(h.groom(groom.Options{DryRun: true}), name), h.pass(h.groom(groom.Options{}), name)
	slices.Sort(dry.IDs)
	slices.Sort(real.IDs)
	if dry.Planned != real.Planned || dry.Changed != real.Changed || dry.Capped != real.Capped || !slices.Equal(dry.IDs, real.IDs) {
		h.t.Errorf("the dry run said %+v, the run did %+v", dry, real)
	}
	return real
}

// Short rows are archived that are past their retention or little worth, to the
// millisecond; importance and use keep them, accesses that are yet to be folded
// in among it. They say who archived them.
func TestArchiveShort(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h := newHouse(t)
		short := func(age time.Duration, importance, reads int) memd.Memory {
			return h.aged(memd.Short, age, func(m *memd.Memory) { m.Importance, m.AccessCount = importance, reads })
		}
		const ms = time.Millisecond
		moves := []memd.Memory{
			short(30*day+ms, 6, 0), short(30*day+ms, 6, 2), short(400*day, 1, 1), // retention
			short(7*day+ms, 5, 0), // little worth
		}
		pit := h.rememberLong(memd.RememberLongTerm{MemoryKey: "pit", Summary: "a pit", Source: "AGENTS.md", Kind: memd.Pitfall})
		open := h.rememberLong(memd.RememberLongTerm{MemoryKey: "open", Summary: "another pit", Source: "AGENTS.md", Kind: memd.Pitfall})
		h.shell(`UPDATE long SET resolved_at = verified_at WHERE id = '` + pit.ID + `'`)
		stays := []memd.Memory{
			short(30*day, 6, 0), short(31*day, 7, 0), short(400*day, 6, 3), // not past it, important, used
			short(7*day, 5, 0), short(8*day, 6, 0), short(8*day, 5, 1), // not old enough, important, read
		}
		read := []memd.Memory{short(8*day, 5, 0), short(31*day, 6, 2)}
		settle(h)
		for _, m := range read { // but not folded
			h.must(second(h.tiers.Get(context.Background(), root, m.ID)))
		}
		if p := h.run("archive_short"); p.Changed != 5 || p.Capped || !slices.Equal(p.IDs, ids(append(moves, pit)...)) {
			t.Errorf("%+v, want the ids %q", p, ids(append(moves, pit)...))
		}
		for _, m := range append(moves, pit) {
			h.wantTier(m.Summary, m, memd.Archive)
		}
		for _, m := range append(stays, read...) {
			h.wantTier(m.Summary, m, memd.Short)
		}
		h.wantTier("an open pitfall", open, memd.Long)
		if m, _ := h.row(pit.ID); m.MemoryKey != "pit" || m.Version != 1 {
			t.Errorf("the resolved pitfall is %+v", m)
		}
		if got := h.shell(`SELECT count(*) FROM audit WHERE caller = 'groom' AND action = 'archive'`); got != "5\n" {
			t.Errorf("%s audit entries of archived rows", strings.TrimSpace(got))
		}
		// One that was past the archive's time as well has a day there.
		h.wantTier("a row of a year ago", moves[2], memd.Archive)
		h.groom(groom.Options{})
		h.wantTier("a row of a year ago, in the second run", moves[2], memd.Archive)
		h.clock.Advance(day)
		h.groom(groom.Options{})
		h.wantTier("a row of a year ago, a day later", moves[2], "")
		h.wantTier("the resolved pitfall", pit, memd.Archive)
	})
}

// Archived rows go after their time, but for those with a key; versions beyond
// those kept go, and never a head.
func TestPrune(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h := houseUnder(t, func(b *configs.Budgets) { b.LongVersions = 3 })
		old, young := h.aged(memd.Archive, 365*day+time.Millisecond, nil), h.aged(memd.Archive, 365*day, nil)
		keyed := h.aged(memd.Archive, 900*day, func(m *memd.Memory) { m.MemoryKey, m.Version = "was", 1 })
		var versions []memd.Memory
		for n := range 6 {
			versions = append(versions, h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: fmt.Sprint("says ", n), Source: "AGENTS.md"}))
			if n == 3 {
				settle(h)
			}
		}
		few := h.rememberLong(memd.RememberLongTerm{MemoryKey: "few", Summary: "once", Source: "AGENTS.md"})
		h.rememberLong(memd.RememberLongTerm{MemoryKey: "few", Summary: "twice", Source: "AGENTS.md"})
		report := h.groom(groom.Options{})
		if p := h.pass(report, "prune_archive"); p.Changed != 1 || !slices.Equal(p.IDs, ids(old)) {
			t.Errorf("%+v", p)
		}
		if p := h.pass(report, "prune_versions"); p.Changed != 3 || !slices.Equal(p.IDs, ids(versions[:3]...)) {
			t.Errorf("%+v", p)
		}
		for i, m := range versions {
			h.wantTier(m.Summary, m, map[bool]memd.Tier{true: memd.Long}[i >= 3])
		}
		h.wantTier("an old row", old, "")
		h.wantTier("a younger row", young, memd.Archive)
		h.wantTier("a row with a key", keyed, memd.Archive)
		h.wantTier("an older version", few, memd.Long)
		if got := h.shell(`SELECT count(*), count(detail) FROM audit WHERE caller = 'groom' AND action = 'prune'`); got != "4,0\n" {
			t.Errorf("the audit has %s entries", strings.TrimSpace(got))
		}
	})
}

// A version that is the last to stand is kept, whatever its head says: that was
// deleted by hand, or its successors were.
func TestPruneKeepsTheLastThatStands(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h := houseUnder(t, func(b *configs.Budgets) { b.LongVersions = 1 })
		var rows []memd.Memory
		for n := range 3 {
			rows = append(rows, h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: fmt.Sprint("says ", n), Source: "AGENTS.md"}))
			if n == 1 {
				settle(h)
			}
		}
		h.shell(`DELETE FROM long WHERE id = '` + rows[2].ID + `'`)
		if p := h.run("prune_versions"); !slices.Equal(p.IDs, ids(rows[0])) {
			t.Errorf("%+v", p)
		}
		h.wantTier("the last version", rows[1], memd.Long)
	})
}

// Vectors of superseded versions and of rows that nobody finds any more go; those
// of living rows stay.
func TestDropEmbeddings(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h := newHouse(t)
		first := h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "first", Source: "AGENTS.md"})
		head := h.rememberLong(memd.RememberLongTerm{MemoryKey: "k", Summary: "second", Source: "AGENTS.md"})
		gone := h.rememberLong(memd.RememberLongTerm{MemoryKey: "gone", Summary: "expires", Source: "AGENTS.md"})
		h.must(second(h.tiers.Patch(context.Background(), root, gone.ID, memd.Patch{ExpiresAt: memd.Some(memd.At(h.clock.Now().Add(time.Hour)))})))
		short := h.remember(memd.Remember{Summary: "short"})
		fresh := h.rememberLong(memd.RememberLongTerm{MemoryKey: "fresh", Summary: "imported", Source: "AGENTS.md"})
		h.rememberLong(memd.RememberLongTerm{MemoryKey: "fresh", Summary: "imported again", Source: "AGENTS.md"})
		h.vector(first, head, gone, short, fresh)
		h.shell(`INSERT INTO imported VALUES ('` + fresh.ID + `', '` + h.store.Now().String() + `')`)
		settle(h)
		h.clock.Advance(time.Hour)
		if p := h.run("drop_embeddings"); p.Changed != 2 || !slices.Equal(p.IDs, ids(first, gone)) {
			t.Errorf("%+v", p)
		}
		h.clock.Advance(day)
		if p := h.run("drop_embeddings"); !slices.Equal(p.IDs, ids(fresh)) {
			t.Errorf("a day later: %+v", p)
		}
		for _, m := range []memd.Memory{first, head, gone, short, fresh} {
			if _, ok := h.row(m.ID); !ok {
				t.Errorf("%q went with its vector", m.Summary)
			}
		}
	})
}

// One run judges away a share of a tier at most, the least valuable rows, unless
// it is forced; what is past its retention is no judgement.
func TestCap(t *testing.T) {
	h := newHouse(t)
	h.fill(memd.Short, 0, 2400)
	h.shell(`UPDATE short SET importance = 1 + rid % 5, written_at = '2026-11-01T00:00:00.000Z' WHERE rid <= 1000;
UPDATE short SET importance = 6, written_at = '2026-01-01T00:00:00.000Z' WHERE rid BETWEEN 1001 AND 1300`)
	least := h.shell(`SELECT id FROM short WHERE rid <= 1000 ORDER BY importance, id LIMIT 120`)
	p := h.run("archive_short")
	if p.Planned != 300+120 || p.Changed != 420 || !p.Capped || len(p.IDs) != 420 {
		t.Errorf("planned %d, changed %d, capped %v, %d ids", p.Planned, p.Changed, p.Capped, len(p.IDs))
	}
	if got := h.shell(`SELECT id FROM archive WHERE importance < 6 ORDER BY importance, id`); got != least {
		t.Error("not the least valuable rows were archived")
	}
	if p := h.pass(h.groom(groom.Options{}), "archive_short"); p.Changed != 100 || !p.Capped { // a twentieth of what is left is less
		t.Errorf("the next run: %d, capped %v", p.Changed, p.Capped)
	}
	if p := h.pass(h.groom(groom.Options{Force: true}), "archive_short"); p.Changed != 780 || p.Capped {
		t.Errorf("forced: %d, capped %v", p.Changed, p.Capped)
	}
}

// What was imported less than a day ago is not judged, though it is old; its
// retention, stale mark and budgets hold.
func TestImportedAreLeftAlone(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		h := newHouse(t)
		little, old := h.aged(memd.Short, 8*day, nil), h.aged(memd.Archive, 400*day, nil)
		past := h.aged(memd.Short, 31*day, nil)
		for _, m := range []memd.Memory{little, old, past} {
			h.shell(`INSERT INTO imported VALUES ('` + m.ID + `', '` + h.store.Now().String() + `')`)
		}
		settle(h)
		h.clock.Advance(day - time.Millisecond)
		h.groom(groom.Options{})
		h.wantTier("a row of little worth", little, memd.Short)
		h.wantTier("an archived row", old, memd.Archive)
		h.wantTier("a row past its retention", past, memd.Archive)
		h.clock.Advance(time.Millisecond)
		h.groom(groom.Options{})
		h.wantTier("a row of little worth, a day later", little, memd.Archive)
		h.wantTier("an archived row, a day later", old, "")
		if got := h.shell(`SELECT count(*) FROM imported`); got != "0\n" {
			t.Errorf("%s marks of imports are left", strings.TrimSpace(got))
		}
	})
}

// A row that was changed after the plan and is no longer due is skipped, and
// counted.
func TestChangedSinceThePlan(t *testing.T) {
	eachPlace(t, func(t *testing.T, settle func(*house)) {
		ctx := context.Background()
		for name, build := range map[string]func(h *house) (due, changed memd.Memory, edit func()){
			"expire_transient": func(h *house) (due, changed memd.Memory, edit func()) {
				soon := memd.At(h.clock.Now().Add(time.Hour))
				due, changed = h.remember(memd.Remember{Summary: "a", ExpiresAt: soon}), h.remember(memd.Remember{Summary: "b", ExpiresAt: soon})
				return due, changed, func() {
					h.must(h.store.Update(ctx, func(tx *store.Tx) error {
						m, _, err := tx.Get(changed.ID)
						m.ExpiresAt = memd.At(h.clock.Now().Add(day))
						h.must(err)
						return tx.UpdateMeta(&m)
					}))
				}
			},
			"archive_short": func(h *house) (due, changed memd.Memory, edit func()) {
				due, changed = h.aged(memd.Short, 31*day, nil), h.aged(memd.Short, 31*day, nil)
				return due, changed, func() {
					h.must(second(h.tiers.Patch(ctx, root, changed.ID, memd.Patch{Importance: memd.Some(9)})))
				}
			},
			"prune_archive": func(h *house) (due, changed memd.Memory, edit func()) {
				due, changed = h.aged(memd.Archive, 400*day, nil), h.aged(memd.Archive, 400*day, nil)
				return due, changed, func() {
					h.must(second(h.tiers.Promote(ctx, root, changed.ID, memd.Promote{To: memd.Short})))
				}
			},
			"prune_versions": func(h *house) (due, changed memd.Memory, edit func()) {
				oldest := map[string]memd.Memory{}
				for _, key := range []string{"a", "b"} {
					for n := range 21 {
						m := h.rememberLong(memd.RememberLongTerm{MemoryKey: key, Summary: fmt.Sprint(key, n), Source: "AGENTS.md"})
						if n == 0 {
							oldest[key] = m
						}
					}
				}
				return oldest["a"], oldest["b"], func() { h.must(h.tiers.Forget(ctx, root, h.head("b").ID)) }
			},
			"mark_stale": func(h *house) (due, changed memd.Memory, edit func()) {
				old := memd.At(h.clock.Now().Add(-100 * day))
				due = h.rememberLong(memd.RememberLongTerm{MemoryKey: "a", Summary: "a", Source: "AGENTS.md", VerifiedAt: old})
				changed = h.rememberLong(memd.RememberLongTerm{MemoryKey: "b", Summary: "b", Source: "AGENTS.md", VerifiedAt: old})
				return due, changed, func() {
					h.must(second(h.tiers.Verify(ctx, root, changed.ID, memd.Verify{})))
				}
			},
			"drop_embeddings": func(h *house) (due, changed memd.Memory, edit func()) {
				due = h.rememberLong(memd.RememberLongTerm{MemoryKey: "a", Summary: "a", Source: "AGENTS.md"})
				changed = h.rememberLong(memd.RememberLongTerm{MemoryKey: "b", Summary: "b", Source: "AGENTS.md"})
				for _, key := range []string{"a", "b"} {
					h.rememberLong(memd.RememberLongTerm{MemoryKey: key, Summary: key + " again", Source: "AGENTS.md"})
				}
				h.vector(due, changed)
				return due, changed, func() { h.must(h.tiers.Forget(ctx, root, h.head("b").ID)) }
			},
		} {
			h := newHouse(t)
			due, changed, edit := build(h)
			settle(h)
			h.clock.Advance(2 * time.Hour)
			report, err := h.runner.Run(h.between(name, edit), groom.Options{})
			h.must(err)
			if p := h.pass(report, name); p.Planned != 2 || p.Changed != 1 || p.Skipped != 1 || p.Error != "" || !slices.Equal(p.IDs, ids(due)) {
				t.Errorf("%s: %+v, want only %s to have changed, and not %s", name, p, due.ID, changed.ID)
			}
		}
	})
}

// head is the current version of a key.
func (h *house) head(key string) memd.Memory {
	h.t.Helper()
	m, err := h.tiers.Head(context.Background(), root, "", key)
	h.must(err)
	return m
}

// What is kept for a while only goes after it: hits of pitfalls after a year, or
// with the pitfall, and accesses of what is gone.
func TestRelicsGo(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	stays := h.rememberLong(memd.RememberLongTerm{MemoryKey: "a", Summary: "a pit", Source: "AGENTS.md", Kind: memd.Pitfall})
	goes := h.rememberLong(memd.RememberLongTerm{MemoryKey: "b", Summary: "another pit", Source: "AGENTS.md", Kind: memd.Pitfall})
	for _, m := range []memd.Memory{stays, goes} {
		h.must(second(h.tiers.Hit(ctx, root, m.ID)))
	}
	h.roll()
	hits := func(want int) {
		t.Helper()
		if got := h.shell(`SELECT count(*) FROM pitfall_hit`); got != strconv.Itoa(want)+"\n" {
			t.Errorf("%s hits, want %d", strings.TrimSpace(got), want)
		}
	}
	h.groom(light)
	hits(2)
	h.must(h.tiers.Forget(ctx, root, goes.ID))
	h.groom(light)
	hits(1)
	h.clock.Advance(365 * day)
	h.groom(light)
	hits(1)
	h.clock.Advance(time.Millisecond)
	h.groom(light)
	hits(0)
}
