package tiers_test

import (
	"fmt"
	"testing"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
	"memd/tiers"
)

// maxMoved is how many rows one write moves or drops at most to make room.
const maxMoved = 250

// fill inserts rows from..to-1, as they were written under larger budgets.
// Rows of one number have the same content, whatever their namespace.
func (h *house) fill(t memd.Tier, ns string, from, to int, edit func(*memd.Memory)) {
	h.t.Helper()
	h.must(h.store.Update(ctx, func(tx *store.Tx) error {
		for n := from; n < to; n++ {
			m := memd.Memory{
				ID:   fmt.Sprintf("01900000-0000-7000-%04x-%012d", len(ns), n),
				Tier: t, Namespace: ns, Kind: memd.Event, Summary: fmt.Sprint("row ", n), Importance: 5,
				SourceStatus: memd.SourceNone, CreatedAt: h.now(), UpdatedAt: h.now(), WrittenAt: h.now(),
			}
			m.ContentHash = tiers.ContentHash(&m)
			if edit != nil {
				edit(&m)
			}
			if err := tx.Insert(&m); err != nil {
				return err
			}
		}
		return nil
	}))
}

// reopened is the same folder under other budgets.
func (h *house) reopened(edit func(*configs.Budgets)) *house {
	h.t.Helper()
	h.must(h.store.Close())
	s := memtest.Store(h.t, h.store.Dir(), h.clock, edit)
	return &house{Service: tiers.New(s), t: h.t, store: s, clock: h.clock}
}

// counts are the rows of the short tier and of the archive.
func (h *house) counts() (short, archive int) {
	h.t.Helper()
	var long, transient int
	if _, err := fmt.Sscan(h.rows(), &long, &short, &transient, &archive); err != nil {
		h.t.Fatal(err)
	}
	return short, archive
}

// A store whose budget was lowered by much comes down to it over several
// writes; none of them moves more than a few rows.
func TestLoweredShortBudget(t *testing.T) {
	h := newHouse(t, nil)
	h.fill(memd.Short, memd.DefaultNamespace, 0, 1100, nil)
	h.clock.Advance(day)
	h = h.reopened(func(b *configs.Budgets) { b.ShortRows = 200 })
	writes := 0
	for short, archive := h.counts(); short > 200; writes++ {
		w := h.remember(fmt.Sprint("new ", writes))
		if m, _ := h.get(w.ID); m.Tier != memd.Short {
			t.Fatalf("the new row is in %s", m.Tier)
		}
		left, kept := h.counts()
		if moved := short - left + 1; moved < 2 || moved > maxMoved || kept != archive+moved {
			t.Fatalf("write %d: short from %d to %d, archive from %d to %d rows", writes, short, left, archive, kept)
		}
		short, archive = left, kept
	}
	if writes != 4 {
		t.Errorf("it came down over %d writes, want 4", writes)
	}
	if got := h.shell(`SELECT count(*) FROM short WHERE summary GLOB 'new *'`); got != "4" {
		t.Errorf("%s of the new rows stayed in the short tier, want 4", got)
	}
}

// Room in a full archive is made once, for all that one write moves there:
// the least valuable of what it held go, and what comes stays.
func TestFullArchiveTakesWhatComes(t *testing.T) {
	h := newHouse(t, nil)
	h.fill(memd.Archive, memd.DefaultNamespace, 0, 300, func(m *memd.Memory) { m.Importance = 9 })
	h.fill(memd.Short, memd.DefaultNamespace, 300, 900, func(m *memd.Memory) { m.Importance = 1 })
	h = h.reopened(func(b *configs.Budgets) { b.ShortRows, b.ArchiveRows = 100, 300 })
	h.remember("new")
	if short, archive := h.counts(); short != 600-maxMoved+1 || archive != 300 {
		t.Errorf("rows of short and archive: %d and %d, want %d and 300", short, archive, 600-maxMoved+1)
	}
	if got := h.shell(`SELECT min(id) = '01900000-0000-7000-0007-000000000250', sum(importance = 9), sum(importance = 1) FROM archive`); got != "1|50|250" {
		t.Errorf("the archive begins where it should, with old and new rows: %s, want 1|50|250", got)
	}
}

// A lowered budget of the archive is come down to in the same way.
func TestLoweredArchiveBudget(t *testing.T) {
	h := newHouse(t, nil)
	h.fill(memd.Archive, memd.DefaultNamespace, 0, 700, nil)
	h = h.reopened(func(b *configs.Budgets) { b.ArchiveRows = 100 })
	for _, want := range []int{451, 202, 100, 100} {
		h.must(second(h.Archive(ctx, ann, h.remember("to be archived").ID)))
		if _, archive := h.counts(); archive != want {
			t.Errorf("the archive has %d rows, want %d", archive, want)
		}
	}
}

// Each namespace keeps within its share of the archive, and all within the
// budget, however many come at once, and where the same stands in several.
func TestSharesOfTheArchive(t *testing.T) {
	h := newHouse(t, nil)
	for _, ns := range []string{"agent/a", "project/b", "user"} {
		h.fill(memd.Archive, ns, 0, 40, nil)
		h.fill(memd.Short, ns, 40, 100, nil) // the same rows in each
	}
	h.clock.Advance(day)
	h = h.reopened(func(b *configs.Budgets) { b.ShortRows, b.ArchiveRows, b.PerNamespace = 60, 100, 0.3 })
	for n := range 3 {
		h.remember(fmt.Sprint("new ", n))
		if got := h.shell(`SELECT max(n), sum(n) <= 100 FROM (SELECT count(*) AS n FROM archive GROUP BY namespace)`); got != "30|1" {
			t.Errorf("after write %d the largest share and whether all fit: %s, want 30|1", n, got)
		}
		if short, _ := h.counts(); short != 60 {
			t.Errorf("after write %d the short tier has %d rows, want 60", n, short)
		}
	}
}

// What lowered budgets and shares let go is chosen without a write, and brings the
// tiers down to them; archived rows that carry a key stay, though they are more
// than the budget.
func TestExcess(t *testing.T) {
	h := newHouse(t, nil)
	for _, ns := range []string{"agent/a", "project/b", "user"} {
		h.fill(memd.Short, ns, 0, 200, nil)
		h.fill(memd.Archive, ns, 200, 260, func(m *memd.Memory) { m.MemoryKey, m.Version = m.ID, 1 })
	}
	h.must(second(h.store.Rollover(ctx)))
	h.fill(memd.Short, "user", 300, 500, nil)
	h = h.reopened(func(b *configs.Budgets) { b.ShortRows, b.ArchiveRows, b.PerNamespace = 300, 150, 0.5 })
	now := h.store.Now()
	var e tiers.Excess
	h.must(h.store.View(ctx, func(v *store.View) (err error) {
		e, err = h.Excess(v, now, nil)
		return err
	}))
	if len(e.Notes) != 0 || len(e.Archive) != 0 || len(e.Doomed) != 500 || len(e.Short) != 0 {
		t.Errorf("%d notes, %d archived, %d doomed and %d short rows go, want 0, 0, 500 and 0",
			len(e.Notes), len(e.Archive), len(e.Doomed), len(e.Short))
	}
	h.must(h.store.Update(ctx, func(tx *store.Tx) error {
		for _, c := range e.Doomed {
			if err := tx.At(c.File, c.ID); err != nil {
				return err
			}
			if same, err := tiers.Unchanged(tx, c, now); !same || err != nil {
				t.Errorf("row %s is another: %v", c.ID, err)
			}
			if did, err := h.PruneRow(tx, c, now); !did || err != nil {
				t.Errorf("row %s stays: %v", c.ID, err)
			}
		}
		return nil
	}))
	if got := h.shell(`SELECT (SELECT count(*) FROM archive WHERE memory_key IS NULL)`); got != "0" {
		t.Errorf("%s rows are archived that should have gone", got)
	}
	if short, archive := h.counts(); short != 300 || archive != 180 {
		t.Errorf("%d short and %d archived rows, want 300 and 180", short, archive)
	}
	for _, ns := range []string{"agent/a", "project/b", "user"} {
		h.must(h.store.Update(ctx, func(tx *store.Tx) error {
			n, err := tx.RowsIn(memd.Short, ns)
			if n > 150 {
				t.Errorf("%s holds %d short rows, more than its share", ns, n)
			}
			return err
		}))
	}
}
