package store

import (
	"context"
	"slices"

	"memd"
	"memd/configs"
)

// Room is what was done to keep historical databases and vectors within their
// budgets.
type Room struct {
	Retired []string // historical databases that are gone, below the data directory, oldest first
	Rows    int      // rows deleted
	Vectors int      // vectors deleted
}

// MakeRoom brings historical databases and vectors down to their budgets, in
// the order of docs/operations.md: of too many files the oldest go; of too many
// bytes first superseded versions, then the least valuable archived rows,
// vectors of archived and short rows, short rows, vectors of long rows, and
// then the oldest files. What is owed always stays, and where that alone is
// more than the budget, new rows are refused from then on. Meta names these
// budgets then, also where the Set was opened as it is.
func (s *Set) MakeRoom(ctx context.Context) (Room, error) {
	s.making.Lock()
	defer s.making.Unlock()
	room := Room{Retired: []string{}}
	if err := s.recordBudgets(ctx); err != nil {
		return room, err
	}
	if err := s.retireSurplus(ctx, s.budgets.HistoryFiles, &room); err != nil {
		return room, err
	}
	if err := s.dropSurplusVectors(ctx, &room); err != nil {
		return room, err
	}
	if err := s.pressAll(ctx, 0, &room); err != nil {
		return room, err
	}
	for {
		over, err := s.overBytes(ctx)
		if err != nil {
			return room, err
		}
		if over <= 0 {
			return room, s.setFull(ctx, false)
		}
		retired, err := s.retireFor(ctx, over, &room)
		if err != nil {
			return room, err
		}
		if !retired {
			s.log.Warn("what is owed in historical databases exceeds budgets.store_bytes", "bytes_over", over)
			return room, s.setFull(ctx, true)
		}
	}
}

// recordBudgets has meta name the budgets of a Set that was opened as it is, as the
// opening does of others.
func (s *Set) recordBudgets(ctx context.Context) error {
	if !s.asItIs {
		return nil
	}
	var changed []configs.Setting
	err := s.View(ctx, func(v *View) error {
		for _, b := range s.budgets.Map() {
			if old, err := v.Meta("budgets." + b.Key); err != nil {
				return err
			} else if old != b.Value {
				changed = append(changed, b)
			}
		}
		return nil
	})
	if err != nil || len(changed) == 0 {
		return err
	}
	return s.Update(ctx, func(tx *Tx) error {
		for _, b := range changed {
			if err := tx.SetMeta("budgets."+b.Key, b.Value, s.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Trim brings vectors down to their budgets, and the rows of those historical
// databases that are not to be retired for their number: MakeRoom without the
// files.
func (s *Set) Trim(ctx context.Context) (Room, error) {
	s.making.Lock()
	defer s.making.Unlock()
	room := Room{Retired: []string{}}
	if err := s.dropSurplusVectors(ctx, &room); err != nil {
		return room, err
	}
	leaving, err := s.surplusBytes(ctx)
	if err != nil {
		return room, err
	}
	return room, s.pressAll(ctx, leaving, &room)
}

// Surplus is what Trim and MakeRoom would find to do: the historical databases
// beyond their number, and rows and vectors to be deleted. Of rows that is an
// estimate, since only the file tells what a deleted one gave back.
type Surplus struct {
	Files, Rows, Vectors int
}

// Surplus changes nothing.
func (s *Set) Surplus(ctx context.Context) (Surplus, error) {
	var sur Surplus
	leaving, err := s.surplusBytes(ctx)
	if err != nil {
		return sur, err
	}
	over, err := s.overBytes(ctx)
	if err != nil {
		return sur, err
	}
	over -= leaving
	err = s.View(ctx, func(v *View) error {
		going, err := s.surplusFiles(v, s.budgets.HistoryFiles)
		if err != nil {
			return err
		}
		sur.Files = len(going.files)
		vectors, err := s.surplusVectors(ctx, v.active())
		sur.Vectors = int(vectors)
		for _, st := range pressed {
			if over <= 0 || err != nil {
				return err
			}
			var plan []victim
			if plan, err = v.victims(st, "", over, s.Now()); st.vectors {
				sur.Vectors += len(plan)
			} else {
				sur.Rows += len(plan)
			}
			for _, v := range plan {
				over -= v.bytes
			}
		}
		return err
	})
	return sur, err
}

// overBytes is by how much historical databases exceed their budget.
func (s *Set) overBytes(ctx context.Context) (over int64, err error) {
	err = s.View(ctx, func(v *View) error {
		return v.active().row(v.ctx, `SELECT coalesce(sum(bytes), 0) - ? FROM history`, []any{s.budgets.StoreBytes}, &over)
	})
	return over, fail("read the catalogue", err)
}

// surplusBytes are those of the historical databases that are to be retired
// for their number.
func (s *Set) surplusBytes(ctx context.Context) (sum int64, err error) {
	err = s.View(ctx, func(v *View) error {
		going, err := s.surplusFiles(v, s.budgets.HistoryFiles)
		if err != nil {
			return err
		}
		return v.active().row(v.ctx, `SELECT coalesce(sum(bytes), 0) FROM history WHERE file IN (SELECT value FROM json_each(?))`,
			[]any{jsonList(going.files)}, &sum)
	})
	return sum, fail("read the catalogue", err)
}

// fullKey notes that what is owed alone exceeds the budget, for the next start.
const fullKey = "owed_exceeds"

// setFull has new rows refused, or taken again.
func (s *Set) setFull(ctx context.Context, full bool) error {
	if s.full.Swap(full) == full {
		return nil
	}
	value := "0"
	if full {
		value = "1"
	}
	return s.Update(ctx, func(tx *Tx) error { return tx.SetMeta(fullKey, value, s.Now()) })
}

// wasFull reports whether new rows are refused from the start on: they were
// when the store was closed, and the budget is no larger now. What was deleted
// since then by hand is found out by MakeRoom.
func (s *Set) wasFull(ctx context.Context) (full bool, err error) {
	err = s.View(ctx, func(v *View) error {
		return v.active().row(v.ctx, `SELECT EXISTS (SELECT 1 FROM meta WHERE key = ? AND value = '1')
 AND (SELECT coalesce(sum(bytes), 0) > ? FROM history)`, []any{fullKey, s.budgets.StoreBytes}, &full)
	})
	return full, fail("read meta", err)
}

// refused is the answer to a new row where what is owed in historical
// databases alone exceeds their budget.
func (s *Set) refused() error {
	if !s.full.Load() {
		return nil
	}
	return memd.Errorf(memd.CodeBudgetExceeded, "what is owed in historical databases alone exceeds budgets.store_bytes").
		WithHint("forget what is no longer needed and run `memd groom --light`, or raise budgets.store_bytes")
}

// dropSurplusVectors deletes vectors beyond their budgets: first of archived
// rows, then of short, then of long ones, the least valuable first.
func (s *Set) dropSurplusVectors(ctx context.Context, room *Room) error {
	var over int64
	err := s.View(ctx, func(v *View) (err error) {
		over, err = s.surplusVectors(ctx, v.active())
		return err
	})
	if over == 0 {
		return err
	}
	for _, t := range []memd.Tier{memd.Archive, memd.Short, memd.Long} {
		for {
			deleted := 0
			err := s.Update(ctx, func(tx *Tx) (err error) {
				deleted, err = tx.dropVectors(t)
				return err
			})
			if err != nil {
				return err
			}
			if deleted == 0 {
				break
			}
			room.Vectors += deleted
		}
	}
	return nil
}

// countVectors are the vectors of all databases, and their bytes.
const countVectors = `SELECT
 (SELECT count(*) FROM embedding) + (SELECT coalesce(sum(vectors), 0) FROM history WHERE state <> 'copying'),
 (SELECT coalesce(sum(length(vec)), 0) FROM embedding) + (SELECT coalesce(sum(vector_bytes), 0) FROM history WHERE state <> 'copying')`

// surplusVectors is how many vectors are beyond the budgets.
func (s *Set) surplusVectors(ctx context.Context, c *conn) (int64, error) {
	var rows, bytes int64
	if err := c.row(ctx, countVectors, nil, &rows, &bytes); err != nil {
		return 0, fail("count vectors", err)
	}
	over := rows - int64(s.budgets.EmbeddingRows)
	if bytes > s.budgets.EmbeddingBytes && rows > 0 {
		each := max(1, bytes/rows)
		over = max(over, (bytes-s.budgets.EmbeddingBytes+each-1)/each)
	}
	return min(rows, max(0, over)), nil
}

// dropVectors deletes at most one transaction's worth of the vectors of a tier
// that are beyond the budgets.
func (tx *Tx) dropVectors(t memd.Tier) (int, error) {
	over, err := tx.w.set.surplusVectors(tx.ctx, tx.conn)
	if err != nil || over == 0 {
		return 0, err
	}
	ids, err := tx.leastVectors(t, int(min(over, pressedRows)))
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if _, err := tx.dropVector(id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// dropVector deletes the vector of a row where that stands. See At.
func (tx *Tx) dropVector(id string) (bool, error) {
	c, err := tx.home(id)
	if err != nil {
		return false, err
	}
	n, err := c.exec(tx.ctx, `DELETE FROM embedding WHERE memory_id = ?`, id)
	if err == nil && c != tx.conn {
		err = markDue(tx.ctx, c)
	}
	return n > 0, fail("delete a vector", err)
}

// settleSome settles those of the named historical databases that have reason
// to, each in a turn of its own. One that another program holds waits.
func (s *Set) settleSome(ctx context.Context, files []string) error {
	for _, file := range slices.Compact(slices.Sorted(slices.Values(files))) {
		_, err := s.settleFile(ctx, file, false)
		if err != nil && memd.CodeOf(err) != memd.CodeStoreBusy {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
