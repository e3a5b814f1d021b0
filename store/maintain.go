package store

import (
	"context"
	"database/sql"
	"errors"

	"memd"
)

// Accessed returns the ids of at most limit memories with accesses to fold.
func (v *View) Accessed(limit int) ([]string, error) {
	return v.ids(v.active(), `SELECT DISTINCT memory_id FROM access_log WHERE folded = 0 ORDER BY memory_id LIMIT ?`, limit)
}

// standing appends to all those of ids, found in a database, that have not
// left it.
func (v *View) standing(i int, all, ids []string) ([]string, error) {
	for _, id := range ids {
		ok, err := v.stands(i, id)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, id)
		}
	}
	return all, nil
}

// Fold adds a memory's buffered accesses to its access_count. It reports
// whether the memory stands where it was planned to; if not, they wait. See At.
func (tx *Tx) Fold(id string) (bool, error) {
	var count int
	var last string
	err := tx.conn.row(tx.ctx, `SELECT count(*), max(at) FROM access_log WHERE memory_id = ? AND folded = 0`,
		[]any{id}, &count, nullText{&last})
	if err != nil || count == 0 {
		return false, fail("fold accesses", err)
	}
	c, err := tx.home(id)
	if err != nil {
		return false, err
	}
	found := false
	for _, t := range indexed {
		n, err := c.exec(tx.ctx, on(t, `UPDATE {t} SET access_count = access_count + ?2,
 last_accessed_at = max(coalesce(last_accessed_at, ''), ?3) WHERE id = ?1`), id, count, last)
		if err != nil {
			return false, fail("fold accesses", err)
		}
		found = found || n > 0
	}
	if !found {
		return false, nil
	}
	_, err = tx.conn.exec(tx.ctx, `UPDATE access_log SET folded = 1 WHERE memory_id = ? AND folded = 0`, id)
	return true, fail("fold accesses", err)
}

// Edited returns the ids of at most limit rows whose text was changed by hand
// since memd last indexed it.
func (v *View) Edited(limit int) ([]string, error) {
	var all []string
	err := v.each(func(i int, c *conn) error {
		for _, t := range indexed {
			ids, err := v.ids(c, on(t, `SELECT {t}.id FROM {t}_reindex r CROSS JOIN {t} ON {t}.rid = r.rid ORDER BY r.rid LIMIT ?`),
				limit-len(all))
			if err == nil {
				all, err = v.standing(i, all, ids)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// Reindex gives a row that was edited by hand its index terms and the hash of
// its content, as m has it.
func (tx *Tx) Reindex(m *memd.Memory) error {
	c, err := tx.home(m.ID)
	if err != nil {
		return err
	}
	_, err = c.exec(tx.ctx, on(m.Tier, `UPDATE {t} SET content_hash = ?, seg = ?, seg_rev = seg_rev + 1 WHERE id = ?`),
		m.ContentHash, seg(m), m.ID)
	if p := tx.at[m.ID]; p != nil && err == nil {
		tx.w.added = append(tx.w.added, addedHash{p, m.ContentHash})
		err = errors.Join(markDue(tx.ctx, c), // the words of before
			tx.takeQueued(c, m))
	}
	return fail("index a row anew", err)
}

// Changes is a mark that moves with every audited write and with rows deleted
// by hand, but not with what is done to the store as a whole.
func (v *View) Changes() (string, error) {
	var mark string
	err := v.active().row(v.ctx, `SELECT coalesce((SELECT seq FROM audit WHERE action NOT IN ('groom', 'backup', 'compact') ORDER BY seq DESC LIMIT 1), 0) || '/' || (SELECT sum(rows) FROM tally)`, nil, &mark)
	return mark, fail("read how far writes have come", err)
}

// Settled is what a settling did.
type Settled struct {
	Bytes int64 // that the database files shrank by
	Held  bool  // a reader in the middle of its work kept the write-ahead log from being emptied
}

// Settle gives space back and lets nothing deleted linger: it merges the
// keyword index into one segment, so that the terms of deleted rows leave it
// (of the active database with merge, of a historical one where anything was
// deleted since), hands free pages back to the file system, and empties the
// write-ahead log. A historical database that another program holds waits for
// the next time.
func (s *Set) Settle(ctx context.Context, merge bool) (done Settled, err error) {
	err = s.writer.alone(ctx, func() error {
		// Half done it would leave the writer's settings, and the index, half done.
		ctx := context.WithoutCancel(ctx)
		if err := s.writer.ready(ctx); err != nil {
			return err
		}
		done, err = settle(ctx, s.writer.conn, merge)
		return err
	})
	if err != nil {
		return done, err
	}
	freed, err := s.SettleHistory(ctx)
	done.Bytes += freed
	return done, err
}

// SettleHistory is Settle for the historical databases alone. It rewrites those of
// whose pages a quarter is free, if the disk has room for that, and returns the
// bytes that they shrank by.
func (s *Set) SettleHistory(ctx context.Context) (freed int64, err error) {
	files, err := s.historyFiles(context.WithoutCancel(ctx))
	for _, file := range files {
		if ctx.Err() != nil { // what one is owed stands in its file
			return freed, errors.Join(err, ctx.Err())
		}
		here, failed := s.settleFile(ctx, file, true)
		freed += here
		if failed == nil {
			here, failed = s.fillUp(ctx, file)
			freed += here
		}
		if failed != nil && memd.CodeOf(failed) != memd.CodeStoreBusy {
			err = errors.Join(err, failed)
		}
	}
	return freed, err
}

// settleFile settles one historical database, if there is reason to, in so many
// turns of the writer that others need not wait for all of it. Free pages can be
// left to fillUp, where that will rewrite all others.
func (s *Set) settleFile(ctx context.Context, file string, toFill bool) (freed int64, err error) {
	err = s.gently(ctx, func() (more bool, err error) {
		err = s.writer.alone(ctx, func() (err error) {
			if err = s.writer.ready(ctx); err == nil {
				freed, more, err = s.writer.settleHistory(context.WithoutCancel(ctx), file, toFill)
			}
			return err
		})
		return more, err
	})
	return freed, err
}

// fillUp rewrites a historical database of whose pages a quarter is free: many of
// the others are then half empty.
func (s *Set) fillUp(ctx context.Context, file string) (freed int64, err error) {
	s.busy.Lock()
	defer s.busy.Unlock()
	err = s.writer.alone(ctx, func() error {
		ctx := context.WithoutCancel(ctx)
		if err := s.writer.ready(ctx); err != nil {
			return err
		}
		p := s.writer.part(file)
		if p == nil || p.broken() != nil {
			return nil
		}
		c, err := p.own(ctx)
		if err != nil {
			return err
		}
		sparse, err := isSparse(ctx, c)
		if err != nil || !sparse {
			return p.failed(err)
		}
		f, err := s.compact(ctx, p)
		freed = f.Before - f.After
		if err == nil && f.Skipped != "" { // for want of room, say
			freed, err = s.writer.vacuumHistory(ctx, p)
		}
		return err
	})
	return freed, err
}

// isSparse reports whether a quarter of a database's pages is free.
func isSparse(ctx context.Context, c *conn) (bool, error) {
	used, free, err := pageBytes(ctx, c)
	return free > 0 && free >= (used+free)/4, err
}

// historyFiles names the historical databases that can be read, newest first.
func (s *Set) historyFiles(ctx context.Context) (files []string, err error) {
	err = s.View(ctx, func(v *View) error {
		for _, p := range v.parts[1:] {
			if p.broken() == nil {
				files = append(files, p.file)
			}
		}
		return nil
	})
	return files, err
}

// settle is Settle on the one connection that writes to the active database.
func settle(ctx context.Context, c *conn, merge bool) (done Settled, err error) {
	if merge {
		if err := optimize(ctx, c); err != nil {
			return done, err
		}
	}
	if done.Bytes, err = vacuum(ctx, c); err != nil {
		return done, err
	}
	// Writes wait meanwhile, so it waits for readers only briefly.
	if _, err := c.value(ctx, `PRAGMA busy_timeout = 250`); err != nil {
		return done, fail("empty the write-ahead log", err)
	}
	busy, err := c.value(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	done.Held = busy != "0"
	_, reset := c.value(ctx, `PRAGMA busy_timeout = 5000`)
	return done, fail("empty the write-ahead log", errors.Join(err, reset))
}

// optimize merges the keyword indexes of a database.
func optimize(ctx context.Context, c *conn) error {
	for _, t := range indexed {
		if _, err := c.exec(ctx, on(t, `INSERT INTO {t}_fts ({t}_fts) VALUES ('optimize')`)); err != nil {
			return fail("merge the keyword index", err)
		}
	}
	return nil
}

// vacuum hands the free pages of a database back and returns their bytes.
func vacuum(ctx context.Context, c *conn) (freed int64, err error) {
	before, err := fileBytes(ctx, c)
	if err != nil {
		return 0, err
	}
	if err := c.each(ctx, `PRAGMA incremental_vacuum`, nil, func(*sql.Rows) error { return nil }); err != nil {
		return 0, fail("give free pages back", err)
	}
	after, err := fileBytes(ctx, c)
	return before - after, err
}

// Where a historical database notes in its meta table that something was
// deleted from it whose terms and pages are still to go, and how many rows it
// held when they last went: hand deletes note nothing.
const (
	dueKey     = "settle_due"
	settledKey = "settled_rows"
)

// markDue notes in a historical database that something was deleted.
func markDue(ctx context.Context, c *conn) error {
	_, err := c.exec(ctx, `INSERT INTO meta (key, value, updated_at) VALUES (?, '1', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
ON CONFLICT (key) DO NOTHING`, dueKey)
	return fail("note what is to be settled", err)
}

// settleHistory settles one historical database, if there is reason to, or a
// part of a large one and says that there is more.
func (w *writer) settleHistory(ctx context.Context, file string, toFill bool) (freed int64, more bool, err error) {
	if err := w.settleOwing(ctx); err != nil {
		return 0, false, err
	}
	p := w.part(file)
	if p == nil || p.broken() != nil {
		return 0, false, nil
	}
	if err := w.makeReady(ctx, p); err != nil {
		return 0, false, err
	}
	c, err := p.own(ctx)
	if err != nil {
		return 0, false, err
	}
	var due bool
	err = c.row(ctx, `SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)
 OR (SELECT sum(rows) FROM tally) <> coalesce((SELECT cast(value AS INTEGER) FROM meta WHERE key = ?), -1)`,
		[]any{dueKey, settledKey}, &due)
	if err != nil || !due {
		return 0, false, fail("look into "+file, p.failed(err))
	}
	if more, err := w.mergeSome(ctx, p, c); more || err != nil {
		return 0, more, err
	}
	err = p.alone(ctx, still{w.set}, func(c *conn) error {
		if err := optimize(ctx, c); err != nil {
			return err
		}
		return noteSettled(ctx, c)
	})
	if err != nil {
		return 0, false, err
	}
	sparse, err := isSparse(ctx, c)
	if err == nil && !(sparse && toFill) {
		freed, err = w.vacuumHistory(ctx, p)
	}
	if err != nil {
		return freed, false, p.failed(err)
	}
	return freed, false, w.plainly(ctx, func() error {
		if err := untie(ctx, w.conn, p, c); err != nil {
			return err
		}
		return recount(ctx, w.conn, p, c)
	})
}

// untie leaves heads without a row that was deleted by hand from a historical
// database, whose triggers reach no other. The counter stays.
func untie(ctx context.Context, active *conn, p *part, c *conn) error {
	var there []string
	err := c.each(ctx, `SELECT id FROM long`, nil, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		there = append(there, id)
		return err
	})
	if err == nil {
		_, err = active.exec(ctx, `UPDATE head SET id = NULL, file = NULL
 WHERE file = ? AND id NOT IN (SELECT value FROM json_each(?))`, p.file, jsonList(there))
	}
	return fail("untie heads of "+p.file, err)
}

// makeReady makes a historical database ready for which that failed at the
// start.
func (w *writer) makeReady(ctx context.Context, p *part) error {
	if !p.unready.Load() {
		return nil
	}
	w.set.views.Lock()
	defer w.set.views.Unlock()
	err := p.close()
	if err == nil {
		err = p.makeReady(ctx, w.conn, nil)
	}
	p.unready.Store(err != nil)
	return fail("bring "+p.file+" up to date", err)
}

// mergedPages is how much of a large keyword index is merged in one turn.
const mergedPages = 500

// mergeSome does a part of what optimize does at once, where a database is so
// large that it would take long. It reports whether there was anything to do.
func (w *writer) mergeSome(ctx context.Context, p *part, c *conn) (did bool, err error) {
	bytes, err := fileBytes(ctx, c)
	if err != nil || bytes <= denseBytes {
		return false, p.failed(err)
	}
	err = p.alone(ctx, still{w.set}, func(c *conn) error {
		for _, t := range indexed {
			var before, after int
			if err := c.row(ctx, `SELECT total_changes()`, nil, &before); err != nil {
				return err
			}
			// Below zero: towards one segment, from wherever that has come
			// (sqlite.org/fts5.html, "The 'merge' Command").
			if _, err := c.exec(ctx, on(t, `INSERT INTO {t}_fts ({t}_fts, rank) VALUES ('merge', ?)`), -mergedPages); err != nil {
				return fail("merge the keyword index", err)
			}
			if err := c.row(ctx, `SELECT total_changes()`, nil, &after); err != nil {
				return err
			}
			if did = after-before >= 2; did {
				return nil
			}
		}
		return nil
	})
	return did, err
}

// noteSettled notes in a historical database that nothing deleted lingers.
func noteSettled(ctx context.Context, c *conn) error {
	if _, err := c.exec(ctx, `DELETE FROM meta WHERE key = ?`, dueKey); err != nil {
		return err
	}
	_, err := c.exec(ctx, `INSERT INTO meta (key, value, updated_at)
 SELECT ?, sum(rows), strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM tally WHERE true
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, settledKey)
	return err
}

// vacuumHistory gives the free pages of a historical database back.
func (w *writer) vacuumHistory(ctx context.Context, p *part) (int64, error) {
	c, err := p.own(ctx)
	if err != nil {
		return 0, err
	}
	still{w.set}.Lock()
	defer still{w.set}.Unlock()
	freed, err := vacuum(ctx, c)
	return freed, fail("give back the space of "+p.file, p.failed(err))
}

// settleOwing deletes what has left historical databases from their files, if
// that failed before.
func (w *writer) settleOwing(ctx context.Context) error {
	if !w.set.owing.Load() {
		return nil
	}
	still{w.set}.Lock()
	defer still{w.set}.Unlock()
	return w.settleGone(ctx)
}

// fileBytes is the size of a database, as it will stand in its file.
func fileBytes(ctx context.Context, c *conn) (int64, error) {
	used, free, err := pageBytes(ctx, c)
	return used + free, err
}

// pageBytes are the bytes of a database in pages that hold data, and in pages
// that wait for vacuum.
func pageBytes(ctx context.Context, c *conn) (used, free int64, err error) {
	err = c.row(ctx, `SELECT (p.page_count - f.freelist_count) * s.page_size, f.freelist_count * s.page_size
 FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`, nil, &used, &free)
	return used, free, fail("measure the database", err)
}
