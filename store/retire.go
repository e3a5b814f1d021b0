package store

import (
	"context"
	"database/sql"
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
	var files []string
	var n int
	err := s.View(ctx, func(v *View) (err error) {
		files, n, err = s.surplusFiles(v, limit)
		return err
	})
	if err == nil {
		_, err = s.retire(ctx, files, n, room)
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

// surplusFiles names the historical databases that can be read, oldest first,
// and says how many of them are to be retired where limit may stay, or because
// their retirement has begun. The newest stays: what is owed must have a place.
func (s *Set) surplusFiles(v *View, limit int) (files []string, n int, err error) {
	for _, p := range slices.Backward(v.parts[1:]) {
		if p.broken() == nil {
			files = append(files, p.file)
		}
	}
	n = len(v.parts) - 1 - limit
	err = v.active().each(v.ctx, `SELECT file FROM history WHERE state = 'retiring'`, nil, func(rows *sql.Rows) error {
		var file string
		err := rows.Scan(&file)
		n = max(n, 1+slices.Index(files, file))
		return err
	})
	return files, max(0, min(n, len(files)-1)), fail("read the catalogue", err)
}

// retireFor retires as many of the oldest historical databases as make need
// bytes, where that can be had: what is owed moves and gives nothing. Nothing
// else is left in them by then, see pressed.
func (s *Set) retireFor(ctx context.Context, need int64, room *Room) (bool, error) {
	var files []string
	n := 0
	err := s.View(ctx, func(v *View) error {
		for i := len(v.parts) - 1; i > 0; i-- {
			c := v.conn(i)
			if c == nil {
				continue
			}
			files = append(files, v.parts[i].file)
			if need <= 0 {
				continue
			}
			gain, err := gainOf(v.ctx, c)
			if err != nil {
				return err
			}
			need -= gain
			n++
		}
		return nil
	})
	if err != nil || need > 0 {
		return false, err
	}
	if len(files) == 1 { // what is owed has no other place
		return s.endRetirement(ctx, files[0], room)
	}
	gone, err := s.retire(ctx, files, min(n, len(files)-1), room)
	return gone > 0, err
}

// gainOf is how many bytes retiring a database gives back at most: those that
// are not text, terms, vectors and index of what is left in it.
func gainOf(ctx context.Context, c *conn) (gain int64, err error) {
	bytes, err := fileBytes(ctx, c)
	if err != nil {
		return 0, err
	}
	var kept int64
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		var rows, text, index, vectors int64
		err := c.row(ctx, on(t, `SELECT count(*), coalesce(sum(`+rowBytes+`), 0), (SELECT sum(octet_length(block)) FROM {t}_fts_data),
 (SELECT coalesce(sum(octet_length(vec)), 0) FROM embedding e CROSS JOIN {t} ON {t}.id = e.memory_id) FROM {t}`),
			nil, &rows, &text, &index, &vectors)
		if err != nil {
			return 0, fail("measure what is owed", err)
		}
		if rows > 0 {
			kept += text + index + vectors
		}
	}
	return max(0, bytes-kept), nil
}

// retire moves what is owed in the first n of the given historical databases
// into the one after them, the next-oldest that stays, and deletes their files.
// All go into the same: what one hands on does not move again with the next. It
// returns how many are gone.
func (s *Set) retire(ctx context.Context, files []string, n int, room *Room) (gone int, err error) {
	for _, from := range files[:max(0, n)] {
		if err := s.retireOne(ctx, from, files[n]); err != nil {
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
	if gone > 0 {
		err = s.settleSome(ctx, files[n:n+1])
	}
	return gone, err
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
