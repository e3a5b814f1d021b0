package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/store"
)

// pressure is a store with two historical databases that hold some of
// everything, and what of it is left.
type pressure struct {
	dir                     string
	old, loose, short, owed []memd.Memory
}

func newPressure(t *testing.T) *pressure {
	p := &pressure{dir: t.TempDir()}
	s := under(t, p.dir, nil)
	id := 0
	next := func() int { id++; return id }
	for range 2 {
		for range 12 {
			first := row(memd.Long, next(), textOf(id, 6000))
			put(t, s, first)
			p.old = append(p.old, first)
			head := supersede(t, s, first, 2, next(), textOf(id, 3000))
			keyed := row(memd.Archive, next(), textOf(id, 3000))
			keyed.MemoryKey, keyed.Version = fmt.Sprint("cold-", id), 1
			loose, short := row(memd.Archive, next(), textOf(id, 6000)), row(memd.Short, next(), textOf(id, 6000))
			put(t, s, keyed, loose, short)
			for _, m := range []memd.Memory{head, keyed, short} {
				embed(t, s, m.ID, 2000)
			}
			p.owed, p.loose, p.short = append(p.owed, head, keyed), append(p.loose, loose), append(p.short, short)
		}
		roll(t, s)
	}
	must(t, s.Close())
	return p
}

// left counts what is there, in the order in which it may go.
func (p *pressure) left(t *testing.T, s *store.Set) []int {
	return []int{kept(t, s, p.old), kept(t, s, p.loose), vectors(t, s, memd.Archive), vectors(t, s, memd.Short),
		kept(t, s, p.short), vectors(t, s, memd.Long), len(names(t, filepath.Join(p.dir, store.HistoryDir)))}
}

// Under byte pressure things go in the contract's order, nothing before all
// that comes before it is gone, and what is owed never.
func TestPressureOrder(t *testing.T) {
	p := newPressure(t)
	steps := 0
	for limit := historyBytes(t, p.dir); ; steps++ {
		limit = limit * 9 / 10
		s := under(t, p.dir, func(b *configs.Budgets) { b.StoreBytes = limit })
		makeRoom(t, s)
		left := p.left(t, s)
		first := slices.IndexFunc(left[:6], func(n int) bool { return n > 0 })
		for i := first + 1; first >= 0 && i < 6; i++ {
			if left[i] != 24 {
				t.Fatalf("within %d bytes: stage %d had its turn before stage %d was at its end: %v", limit, i, first, left)
			}
		}
		if first >= 0 && left[6] != 2 {
			t.Fatalf("a database was retired before: %v", left)
		}
		if n := kept(t, s, p.owed); n != len(p.owed) {
			t.Fatalf("%d of %d owed rows are left", n, len(p.owed))
		}
		used := historyBytes(t, p.dir)
		if first >= 0 && used > limit {
			t.Fatalf("%d bytes are in use, more than the %d of the budget, and %v is left", used, limit, left)
		}
		err := s.Update(ctx, func(tx *store.Tx) error { m := row(memd.Short, 9000+steps, "new"); return tx.Insert(&m) })
		if used > limit {
			codeIs(t, err, memd.CodeBudgetExceeded)
		} else {
			must(t, err)
		}
		must(t, s.Close())
		if used > limit {
			if left[6] != 1 && first < 0 {
				t.Errorf("refused with %d databases in place of one", left[6])
			}
			break
		}
	}
	if steps < 8 {
		t.Errorf("only %d steps: the test shows nothing", steps)
	}
}

// Which rows of a stage go first is their value: recency x importance x (1 +
// access), over all files, and no more go than it takes.
func TestPressureByValue(t *testing.T) {
	dir, clock := t.TempDir(), memtest.NewClock()
	s := memtest.Store(t, dir, clock, nil)
	type valued struct {
		m     memd.Memory
		value float64
	}
	var all []valued
	for file := range 3 {
		var rows []memd.Memory
		for n := range 100 {
			id := file*100 + n
			m := row(memd.Short, id, textOf(id, 1500))
			m.Importance, m.AccessCount = 1+(id*7)%10, (id*13)%4
			days := (id * 31) % 50
			m.WrittenAt = memd.At(clock.Now().Add(-time.Duration(days) * 24 * time.Hour))
			rows = append(rows, m)
			all = append(all, valued{m, float64(m.Importance) * float64(1+m.AccessCount) / float64(1+days)})
		}
		put(t, s, rows...)
		roll(t, s)
	}
	slices.SortFunc(all, func(a, b valued) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	must(t, s.Close())
	full := historyBytes(t, dir)
	limit := full * 4 / 5
	s = memtest.Store(t, dir, clock, func(b *configs.Budgets) { b.StoreBytes = limit })
	makeRoom(t, s)
	worst, best := 1e9, 0.0 // of those kept, and of those gone
	gone := 0
	for _, v := range all {
		if _, ok := get(t, s, v.m.ID); ok {
			worst = min(worst, v.value)
		} else {
			best = max(best, v.value)
			gone++
		}
	}
	if best > worst {
		t.Errorf("one worth %f went before one worth %f", best, worst)
	}
	if gone == 0 || gone > 105 || historyBytes(t, dir) > limit {
		t.Errorf("%d of 300 rows went for a fifth of %d bytes, and %d are in use", gone, full, historyBytes(t, dir))
	}
}

// Refused for what is owed, new rows are taken again once there is room: at
// once, and after a restart; until then the store of before it is refused, too.
func TestFullEnds(t *testing.T) {
	dir := t.TempDir()
	s := under(t, dir, nil)
	head, short := row(memd.Long, 1, textOf(1, 200_000)), row(memd.Short, 2, "to be promoted")
	put(t, s, head)
	roll(t, s)
	put(t, s, short)
	must(t, s.Close())
	tight := func(b *configs.Budgets) { b.StoreBytes = historyBytes(t, dir) - 100_000 }
	insert := func(n int) error {
		return s.Update(ctx, func(tx *store.Tx) error { m := row(memd.Short, 100+n, fmt.Sprint("new ", n)); return tx.Insert(&m) })
	}
	s = under(t, dir, tight)
	makeRoom(t, s)
	codeIs(t, insert(1), memd.CodeBudgetExceeded)
	codeIs(t, s.Update(ctx, func(tx *store.Tx) error {
		m := short
		m.Tier, m.MemoryKey, m.Version, m.Source = memd.Long, "k", 1, "AGENTS.md"
		return tx.Move(&m, memd.Short)
	}), memd.CodeBudgetExceeded)
	write(t, s, func(tx *store.Tx) error { // what is no new row is taken
		m, _, err := tx.Get(head.ID)
		if err != nil {
			return err
		}
		m.Importance = 9
		if err := tx.UpdateMeta(&m); err != nil {
			return err
		}
		m = short
		m.Tier = memd.Archive
		return tx.Move(&m, memd.Short)
	})
	must(t, s.Close())
	s = under(t, dir, tight)
	codeIs(t, insert(2), memd.CodeBudgetExceeded)
	must(t, s.Close())
	s = under(t, dir, nil) // a larger budget
	must(t, insert(3))
	must(t, s.Close())
	s = under(t, dir, tight)
	makeRoom(t, s)
	codeIs(t, insert(4), memd.CodeBudgetExceeded)
	write(t, s, func(tx *store.Tx) error {
		m, _, err := tx.Get(head.ID)
		if err != nil {
			return err
		}
		if err := tx.Bury(&m, s.Now()); err != nil {
			return err
		}
		return tx.DropHead(m.Namespace, m.MemoryKey)
	})
	makeRoom(t, s)
	must(t, insert(5))
}

// A budget smaller than an empty database refuses nothing while nothing is owed.
func TestLeastStoreBytes(t *testing.T) {
	s := under(t, "", func(b *configs.Budgets) { b.StoreBytes = 1 })
	for n := range 3 {
		put(t, s, row(memd.Short, n, "a short row"), row(memd.Archive, 10+n, "an archived one"))
		roll(t, s)
	}
	put(t, s, row(memd.Short, 20, "one more"))
	if n := historyBytes(t, s.Dir()); n != 0 {
		t.Errorf("%d bytes of history are left", n)
	}
}

// Beyond their budgets vectors go first from the archive, then from the short
// tier, then from the long, the least valuable first, and summaries stay.
func TestVectorBudgets(t *testing.T) {
	for _, c := range []struct {
		name               string
		edit               func(*configs.Budgets)
		archive, short, lg int
	}{
		{"rows", func(b *configs.Budgets) { b.EmbeddingRows = 13 }, 0, 3, 10},
		{"bytes", func(b *configs.Budgets) { b.EmbeddingBytes = 64 * 7 }, 0, 0, 7},
		{"none", func(b *configs.Budgets) { b.EmbeddingRows = 0 }, 0, 0, 0},
		{"room", func(b *configs.Budgets) { b.EmbeddingRows = 24 }, 4, 10, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := under(t, dir, nil)
			var all []memd.Memory
			for n := range 30 {
				m := row([]memd.Tier{memd.Archive, memd.Short, memd.Long}[n%3], n, fmt.Sprint("row ", n))
				m.Importance = 1 + n/3
				put(t, s, m)
				embed(t, s, m.ID, 64)
				all = append(all, m)
				if n%10 == 9 {
					roll(t, s)
				}
			}
			must(t, s.Close())
			s = under(t, dir, c.edit)
			makeRoom(t, s)
			if a, sh, l := vectors(t, s, memd.Archive), vectors(t, s, memd.Short), vectors(t, s, memd.Long); a != c.archive || sh != c.short || l != c.lg {
				t.Errorf("%d, %d, %d vectors are left of archive, short, long; want %d, %d, %d", a, sh, l, c.archive, c.short, c.lg)
			}
			if n := kept(t, s, all); n != 30 {
				t.Errorf("%d of 30 rows are left", n)
			}
		})
	}
}
