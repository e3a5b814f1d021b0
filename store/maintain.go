package store

import (
	"context"
	"database/sql"
	"errors"

	"memd"
)

// owed is the condition that a row is kept whatever its time: the only copy of
// a key's memory.
const owed = `({t}.memory_key IS NOT NULL)`

// Expired returns the ids of at most limit rows of tier t whose time has come.
func (v *View) Expired(t memd.Tier, limit int, now memd.Time) ([]string, error) {
	return v.ids(on(t, `SELECT id FROM {t} WHERE expires_at IS NOT NULL AND expires_at <= ? AND NOT `+owed+`
 ORDER BY expires_at, id LIMIT ?`),
		now.String(), limit)
}

// Accessed returns the ids of at most limit memories with accesses to fold.
func (v *View) Accessed(limit int) ([]string, error) {
	return v.ids(`SELECT DISTINCT memory_id FROM access_log WHERE folded = 0 ORDER BY memory_id LIMIT ?`, limit)
}

func (v *View) ids(query string, args ...any) ([]string, error) {
	var ids []string
	err := v.conns[0].each(v.ctx, query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, fail("plan a groom", err)
}

// Expire deletes a row of tier t if its time has come; it may have been
// prolonged since it was listed.
func (tx *Tx) Expire(t memd.Tier, id string, now memd.Time) (bool, error) {
	n, err := tx.conn.exec(tx.ctx, on(t, `DELETE FROM {t} WHERE id = ? AND expires_at <= ? AND NOT `+owed), id, now.String())
	return n > 0, fail("expire a row", err)
}

// Fold adds a memory's buffered accesses to its access_count. It reports
// whether the memory still exists.
func (tx *Tx) Fold(id string) (bool, error) {
	found := false
	for _, t := range indexed {
		n, err := tx.conn.exec(tx.ctx, on(t, `UPDATE {t} SET
  access_count = access_count + (SELECT count(*) FROM access_log a WHERE a.memory_id = ?1 AND a.folded = 0),
  last_accessed_at = max(coalesce(last_accessed_at, ''), (SELECT max(at) FROM access_log a WHERE a.memory_id = ?1 AND a.folded = 0))
 WHERE id = ?1 AND EXISTS (SELECT 1 FROM access_log a WHERE a.memory_id = ?1 AND a.folded = 0)`), id)
		if err != nil {
			return false, fail("fold accesses", err)
		}
		found = found || n > 0
	}
	_, err := tx.conn.exec(tx.ctx, `UPDATE access_log SET folded = 1 WHERE memory_id = ? AND folded = 0`, id)
	return found, fail("fold accesses", err)
}

// DropFolded deletes the folded accesses of days before day (YYYY-MM-DD).
func (tx *Tx) DropFolded(day string) error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM access_log WHERE folded = 1 AND day < ?`, day)
	return fail("drop folded accesses", err)
}

// DropSessions deletes the sessions opened before the given time that hold no
// note any more.
func (tx *Tx) DropSessions(before memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM session WHERE opened_at < ?
 AND NOT EXISTS (SELECT 1 FROM transient t WHERE t.session_id = session.session_id)`, before.String())
	return fail("drop empty sessions", err)
}

// Edited returns the ids of at most limit rows whose text was changed by hand
// since memd last indexed it.
func (v *View) Edited(limit int) ([]string, error) {
	var all []string
	for _, t := range indexed {
		ids, err := v.ids(on(t, `SELECT {t}.id FROM {t}_reindex r CROSS JOIN {t} ON {t}.rid = r.rid ORDER BY r.rid LIMIT ?`),
			limit-len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	return all, nil
}

// Reindex gives a row that was edited by hand its index terms and the hash of
// its content, as m has it.
func (tx *Tx) Reindex(m *memd.Memory) error {
	_, err := tx.conn.exec(tx.ctx, on(m.Tier, `UPDATE {t} SET content_hash = ?, seg = ?, seg_rev = seg_rev + 1 WHERE id = ?`),
		m.ContentHash, seg(m), m.ID)
	return fail("index a row anew", err)
}

// Changes is a mark that moves with every audited write and with rows deleted
// by hand.
func (v *View) Changes() (string, error) {
	var mark string
	err := v.conns[0].row(v.ctx, `SELECT (SELECT coalesce(max(seq), 0) FROM audit) || '/' || (SELECT sum(rows) FROM tally)`, nil, &mark)
	return mark, fail("read how far writes have come", err)
}

// Settle gives space back and lets nothing deleted linger: it merges the
// keyword index into one segment, so that the terms of deleted rows leave it
// (with merge), hands free pages back to the file system, and empties the
// write-ahead log. It returns the bytes the database file shrank by. A reader
// in the middle of its work delays the log's emptying to the next time.
func (s *Set) Settle(ctx context.Context, merge bool) (freed int64, err error) {
	// Half done it would leave the writer's settings, and the index, half done.
	ctx = context.WithoutCancel(ctx)
	err = s.writer.alone(ctx, func(c *conn) error {
		freed, err = settle(ctx, c, merge)
		return err
	})
	return freed, err
}

// settle is Settle on the one connection that writes.
func settle(ctx context.Context, c *conn, merge bool) (freed int64, err error) {
	if merge {
		for _, t := range indexed {
			if _, err := c.exec(ctx, on(t, `INSERT INTO {t}_fts ({t}_fts) VALUES ('optimize')`)); err != nil {
				return 0, fail("merge the keyword index", err)
			}
		}
	}
	before, err := fileBytes(ctx, c)
	if err != nil {
		return 0, err
	}
	ignore := func(*sql.Rows) error { return nil }
	if err := c.each(ctx, `PRAGMA incremental_vacuum`, nil, ignore); err != nil {
		return 0, fail("give free pages back", err)
	}
	after, err := fileBytes(ctx, c)
	if err != nil {
		return 0, err
	}
	// Writes wait meanwhile, so it waits for readers only briefly.
	if err := c.each(ctx, `PRAGMA busy_timeout = 250`, nil, ignore); err != nil {
		return 0, fail("empty the write-ahead log", err)
	}
	err = c.each(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, ignore)
	return before - after, fail("empty the write-ahead log", errors.Join(err, c.each(ctx, `PRAGMA busy_timeout = 5000`, nil, ignore)))
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
