package store

import (
	"cmp"
	"context"
	"math"
	"slices"

	"memd"
)

// retireSurplus goes on with retirements that were cut short, and retires the
// oldest historical databases while there are more than limit.
func (s *Set) retireSurplus(ctx context.Context, limit int, room *Room) error {
	// One that is retired counts no more, and its file may not cost another's.
	if err := s.dropRetired(ctx); err != nil {
		return err
	}
	var sur surplus
	err := s.View(ctx, func(v *View) (err error) {
		sur, err = s.surplusFiles(v, limit)
		return err
	})
	if err == nil && sur.holds {
		err = s.strip(ctx, sur.to)
	}
	if err == nil {
		_, err = s.retire(ctx, sur.files, sur.to, room)
	}
	if err == nil && len(sur.files) > 0 && !sur.holds {
		err = s.settleSome(ctx, []string{sur.to})
	}
	return err
}

// dropRetired deletes the files whose retirement came to its end but for that.
func (s *Set) dropRetired(ctx context.Context) error {
	var left bool
	err := s.View(ctx, func(v *View) error {
		return v.active().row(v.ctx, `SELECT EXISTS (SELECT 1 FROM history WHERE state IN ('copying', 'retired'))`, nil, &left)
	})
	if err != nil || !left {
		return fail("read the catalogue", err)
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	ctx = context.WithoutCancel(ctx)
	return s.writer.alone(ctx, func() error {
		if err := s.writer.ready(ctx); err != nil {
			return err
		}
		return s.dropLeft(ctx)
	})
}

// retireFor retires as many historical databases as make need bytes, where that
// can be had: what is owed moves and gives nothing. Nothing else is left in them
// by then, see pressed. The oldest go first, but for those that hold more than
// half of the budget of the active database: of these the smallest, into the
// largest, so that a row moves as often as what it stands in can double.
func (s *Set) retireFor(ctx context.Context, need int64, room *Room) (bool, error) {
	var all []yield
	err := s.View(ctx, func(v *View) error {
		for i := len(v.parts) - 1; i > 0; i-- {
			c := v.conn(i)
			if c == nil {
				continue
			}
			y, err := yieldOf(v.ctx, c)
			if err != nil {
				return err
			}
			y.file = v.parts[i].file
			all = append(all, y)
		}
		return nil
	})
	half := s.budgets.ActiveBytes / 2
	slices.SortStableFunc(all, func(a, b yield) int { return cmp.Compare(max(half, a.kept), max(half, b.kept)) })
	var files []string
	for _, y := range all {
		if need > 0 {
			files = append(files, y.file)
			need -= y.gain
		}
	}
	if err != nil || need > 0 {
		return false, err
	}
	if len(all) == 1 { // what is owed has no other place
		return s.endRetirement(ctx, files[0], room)
	}
	n := min(len(files), len(all)-1)
	to := all[n].file
	if last := all[len(all)-1]; last.kept > half {
		to = last.file
	}
	gone, err := s.retire(ctx, files[:n], to, room)
	if err == nil && gone > 0 {
		err = s.settleSome(ctx, []string{to})
	}
	return gone > 0, err
}

// strip deletes from a historical database what is not owed in it. The space is
// given back by the light groom, or to the rows that come.
func (s *Set) strip(ctx context.Context, file string) error {
	for _, st := range pressed {
		if st.vectors {
			continue
		}
		var plan []victim
		err := s.View(ctx, func(v *View) (err error) {
			plan, err = v.victims(st, file, math.MaxInt64, s.Now())
			return err
		})
		if err == nil {
			_, _, err = s.dropAll(ctx, st, plan)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// retire moves what is owed in historical databases into another, and deletes
// their files. It returns how many are gone.
func (s *Set) retire(ctx context.Context, files []string, to string, room *Room) (gone int, err error) {
	for _, from := range files {
		if err := s.retireOne(ctx, from, to); err != nil {
			return gone, err
		}
		done, err := s.endRetirement(ctx, from, room)
		if err == nil && !done {
			err = memd.Errorf(memd.CodeStoreBusy, "rows came to %s while it was retired", from)
		}
		if err != nil {
			return gone, err
		}
		gone++
	}
	return gone, nil
}

// retireOne moves what is owed in one historical database into another.
func (s *Set) retireOne(ctx context.Context, from, to string) error {
	var bytes int64
	err := s.View(ctx, func(v *View) error {
		return v.active().row(v.ctx, `SELECT coalesce(sum(bytes), 0) FROM history WHERE file = ?`, []any{from}, &bytes)
	})
	if err != nil {
		return fail("read the catalogue", err)
	}
	if err := s.room(s.dir, bytes+4<<20); err != nil {
		return err
	}
	reached(ctx, "retire/begin")
	err = s.Update(ctx, func(tx *Tx) error {
		_, err := tx.conn.exec(tx.ctx, `UPDATE history SET state = 'retiring' WHERE file = ?`, from)
		return fail("begin a retirement", err)
	})
	if err == nil {
		err = s.gently(ctx, func() (bool, error) {
			reached(ctx, "retire/move")
			moved := 0
			err := s.Update(ctx, func(tx *Tx) (err error) {
				moved, err = tx.moveOwed(tx.w.part(from), tx.w.part(to))
				return err
			})
			return moved > 0, err
		})
	}
	if err == nil {
		reached(ctx, "retire/moved")
	}
	return err
}

// endRetirement takes a historical database out of use, unless anything is owed
// in it, and deletes its file. It reports whether that was done.
func (s *Set) endRetirement(ctx context.Context, file string, room *Room) (done bool, err error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	ctx = context.WithoutCancel(ctx)
	err = s.writer.alone(ctx, func() error {
		w := s.writer
		if err := w.ready(ctx); err != nil {
			return err
		}
		p := w.part(file)
		if p == nil {
			return errClosing
		}
		s.views.Lock()
		defer s.views.Unlock()
		if err := w.settleGone(ctx); err != nil {
			return err
		}
		if owed, err := w.owed(ctx, p); owed || err != nil {
			return err
		}
		err := w.plainly(ctx, func() error {
			_, err := w.conn.exec(ctx, `UPDATE history SET state = 'retired' WHERE file = ?`, file)
			return fail("end a retirement", err)
		})
		if err != nil {
			return err
		}
		reached(ctx, "retire/retired")
		s.history = slices.DeleteFunc(s.history, func(q *part) bool { return q == p })
		if err := p.close(); err != nil {
			return fail("close "+file, err)
		}
		done = true
		return s.dropFile(ctx, p)
	})
	if done {
		room.Retired = append(room.Retired, HistoryDir+"/"+file)
	}
	if err == nil && done {
		reached(ctx, "retire/done")
		s.log.Info("retired a historical database", "file", file)
	}
	return done, err
}

// owed reports whether a historical database holds anything that must not be
// lost.
func (w *writer) owed(ctx context.Context, p *part) (owed bool, err error) {
	c, err := p.own(ctx)
	if err != nil {
		return true, err
	}
	var here bool
	err = c.row(ctx, `SELECT EXISTS (SELECT 1 FROM archive WHERE memory_key IS NOT NULL) OR EXISTS (SELECT 1 FROM tombstone)`, nil, &here)
	if here || err != nil {
		return true, fail("look for what is owed", err)
	}
	rows, err := w.conn.query(ctx, `SELECT id FROM head WHERE file = ?`, p.file)
	if err != nil {
		return true, fail("look for what is owed", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return true, fail("look for what is owed", err)
		}
		if err := c.row(ctx, `SELECT EXISTS (SELECT 1 FROM long WHERE id = ?)`, []any{id}, &here); here || err != nil {
			return true, fail("look for what is owed", err)
		}
	}
	if err := rows.Err(); err != nil {
		return true, fail("look for what is owed", err)
	}
	left, err := w.headless(ctx, p, c)
	return len(left) > 0, err
}
