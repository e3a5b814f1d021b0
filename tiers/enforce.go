package tiers

import (
	"context"
	"maps"
	"slices"

	"memd"
	"memd/store"
)

// enforced is how many rows one call of Enforce moves or deletes of each tier,
// at most: of the largest, about 0.1 s.
const enforced = 50

// groomer is who enforces budgets, for the audit.
func groomer() memd.Caller { return memd.Caller{Name: "groom"} }

// excess is what is beyond the row budgets.
type excess struct {
	notes     int
	short     int            // beside shortIn
	shortIn   map[string]int // beyond a namespace's share
	archive   int            // beside archiveIn
	archiveIn map[string]int
}

func (e excess) rows() int {
	n := e.notes + e.short + e.archive
	for _, in := range []map[string]int{e.shortIn, e.archiveIn} {
		for _, more := range in {
			n += more
		}
	}
	return n
}

// Excess is how many rows Enforce would move or delete in all, as long as
// nobody writes: those beyond a row budget, or beyond a namespace's share of
// one, but for those whose time has come.
func (s *Service) Excess(ctx context.Context) (int, error) {
	now := s.store.Now()
	ending := map[memd.Tier]int{}
	err := s.store.View(ctx, func(v *store.View) error {
		for _, t := range []memd.Tier{memd.Transient, memd.Short, memd.Archive} {
			ids, err := v.Expired(t, 1<<30, now)
			if err != nil {
				return err
			}
			ending[t] = len(ids)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	n := 0
	err = s.store.Update(ctx, func(tx *store.Tx) error {
		e, err := s.excess(tx, ending)
		n = e.rows()
		return err
	})
	return n, err
}

// excess counts what is beyond the row budgets once the rows that are ending
// are gone.
func (s *Service) excess(tx *store.Tx, ending map[memd.Tier]int) (e excess, err error) {
	over := func(t memd.Tier, coming, limit int) (int, map[string]int) {
		var rows int
		if err == nil {
			rows, err = tx.Rows(t)
		}
		rows += coming - ending[t]
		var in map[string]int
		if share := s.share(limit); share > 0 && t != memd.Transient && err == nil {
			in, err = tx.Crowded(t, share)
			for _, n := range in {
				rows -= n
			}
		}
		return max(0, rows-limit), in
	}
	e.notes, _ = over(memd.Transient, 0, s.budgets.TransientRows)
	e.short, e.shortIn = over(memd.Short, 0, s.budgets.ShortRows)
	moving := e.short
	for _, n := range e.shortIn {
		moving += n
	}
	e.archive, e.archiveIn = over(memd.Archive, moving, s.budgets.ArchiveRows)
	if err != nil {
		return e, err
	}
	loose, err := tx.Loose() // the others are owed
	e.archive = min(e.archive, max(0, loose+moving-ending[memd.Archive]))
	return e, err
}

// Enforce brings the tiers some way down to their row budgets, by the rules by
// which writes make room, and returns how many rows it moved or deleted: 0 once
// nothing is left to do.
func (s *Service) Enforce(ctx context.Context) (changed int, err error) {
	now := s.store.Now()
	err = s.store.Update(ctx, func(tx *store.Tx) error {
		before, err := rowsOf(tx)
		if err != nil {
			return err
		}
		e, err := s.excess(tx, nil)
		if err != nil {
			return err
		}
		for range min(e.notes, enforced) {
			if err := tx.EvictNote(now); err != nil {
				return err
			}
		}
		err = inParts(e.shortIn, e.short, func(namespace string, n int) error {
			return s.archiveLeast(tx, groomer(), namespace, n, now)
		})
		if err == nil && e.short == 0 && len(e.shortIn) == 0 { // what is moved makes its own room
			err = inParts(e.archiveIn, e.archive, func(namespace string, n int) error {
				return dropLeast(tx, namespace, n, now)
			})
		}
		if err != nil {
			return err
		}
		after, err := rowsOf(tx)
		moved := before[memd.Short] - after[memd.Short]
		changed = before[memd.Transient] - after[memd.Transient] + moved + before[memd.Archive] + moved - after[memd.Archive]
		return err
	})
	return changed, err
}

// inParts does a part of what is to be done in namespaces, and in all.
func inParts(in map[string]int, all int, do func(namespace string, n int) error) error {
	left := enforced
	for _, namespace := range slices.Sorted(maps.Keys(in)) {
		n := min(in[namespace], left)
		if n == 0 {
			break
		}
		if err := do(namespace, n); err != nil {
			return err
		}
		left -= n
	}
	if n := min(all, left); n > 0 {
		return do("", n)
	}
	return nil
}

func rowsOf(tx *store.Tx) (map[memd.Tier]int, error) {
	rows := map[memd.Tier]int{}
	for _, t := range []memd.Tier{memd.Transient, memd.Short, memd.Archive} {
		n, err := tx.Rows(t)
		if err != nil {
			return nil, err
		}
		rows[t] = n
	}
	return rows, nil
}
