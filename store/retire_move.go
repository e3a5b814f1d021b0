package store

import (
	"context"
	"database/sql"

	"memd"
)

// Of one step of a retirement, so that others wait for it no longer than some
// tens of milliseconds.
const (
	movedRows   = 100       // at most
	movedBytes  = 256 << 10 // of text and terms, unless one row has more
	movedGraves = 500       // tombstones
)

// moveOwed moves some of what is owed in one historical database into another
// and returns how many rows that were, 0 at the end.
func (tx *Tx) moveOwed(from, to *part) (int, error) {
	if from == nil || to == nil {
		return 0, errClosing
	}
	own, err := from.own(tx.ctx)
	if err != nil {
		return 0, err
	}
	into, err := tx.change(to) // first, so that it commits first
	if err != nil {
		return 0, err
	}
	moved, left := 0, movedBytes
	move := func(t memd.Tier, ids []string) error {
		for _, id := range ids {
			if left <= 0 || moved == movedRows {
				return nil
			}
			n, err := tx.moveOne(from, to, own, into, t, id)
			if err != nil {
				return err
			}
			left -= n
			moved++
		}
		return nil
	}
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		ids, err := tx.owedIDs(from, own, t)
		if err == nil {
			err = move(t, ids)
		}
		if err != nil {
			return 0, err
		}
	}
	if moved == 0 { // to look for these takes longest
		ids, err := tx.w.headless(tx.ctx, from, own)
		if err == nil {
			err = move(memd.Long, ids)
		}
		if err != nil {
			return 0, err
		}
	}
	if moved > 0 {
		return moved, nil
	}
	return tx.moveGraves(from, own, into)
}

// owedIDs are at most one step's rows of tier t that are owed in a historical
// database.
func (tx *Tx) owedIDs(p *part, own *conn, t memd.Tier) (owed []string, err error) {
	c, query, args := own, `SELECT id FROM archive WHERE memory_key IS NOT NULL ORDER BY rid`, []any(nil)
	if t == memd.Long {
		c, query, args = tx.conn, `SELECT id FROM head WHERE file = ? ORDER BY namespace, memory_key`, []any{p.file}
	}
	var ids []string
	err = c.each(tx.ctx, query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fail("look for what is owed", err)
	}
	for _, id := range ids {
		if len(owed) == movedRows {
			break
		}
		var there bool
		err := own.row(tx.ctx, on(t, `SELECT EXISTS (SELECT 1 FROM {t} WHERE id = ?)`), []any{id}, &there)
		if err == nil && there {
			there, err = stands(tx.ctx, tx.conn, tx.w.set.ghosts, id, p.file)
		}
		if err != nil {
			return nil, fail("look for what is owed", err)
		}
		if there {
			owed = append(owed, id)
		}
	}
	return owed, nil
}

// moveOne moves one row with its vector, and returns the bytes of its text and
// terms.
func (tx *Tx) moveOne(from, to *part, own, into *conn, t memd.Tier, id string) (int, error) {
	m, _, err := get(tx.ctx, own, id, []memd.Tier{t})
	if err != nil {
		return 0, err
	}
	// One that a move cut short left behind.
	if _, err := into.exec(tx.ctx, on(t, `DELETE FROM {t} WHERE id = ?`), id); err != nil {
		return 0, fail("move a row", err)
	}
	if err := insert(tx.ctx, into, &m); err != nil {
		return 0, err
	}
	var edited bool // by hand, and not indexed since
	var bytes int
	if err := own.row(tx.ctx, on(t, `SELECT EXISTS (SELECT 1 FROM {t}_reindex r WHERE r.rid = {t}.rid), `+rowBytes+` FROM {t} WHERE {t}.id = ?`),
		[]any{id}, &edited, &bytes); err != nil {
		return 0, fail("move a row", err)
	}
	if edited {
		if _, err := into.exec(tx.ctx, on(t, `INSERT OR IGNORE INTO {t}_reindex (rid, drop_seg) SELECT rid, 0 FROM {t} WHERE id = ?`), id); err != nil {
			return 0, fail("move a row", err)
		}
	}
	vec, has, err := vectorIn(tx.ctx, own, id)
	if err == nil && has {
		err = tx.putVector(into, id, vec)
	}
	if err == nil {
		_, err = tx.conn.exec(tx.ctx, `UPDATE head SET file = ? WHERE id = ? AND file = ?`, to.file, id, from.file)
	}
	if err != nil {
		return 0, fail("move a row", err)
	}
	tx.w.added = append(tx.w.added, addedHash{to, m.ContentHash})
	tx.w.copied = append(tx.w.copied, copied{to, t, id})
	return bytes, tx.leave(from, t, id)
}

// moveGraves moves some tombstones: it deletes them only in a step in which each
// stands in the other file already, as nothing tells which of two files of a
// group commits first.
func (tx *Tx) moveGraves(from *part, own, into *conn) (int, error) {
	graves, err := readGraves(tx.ctx, own, movedGraves)
	if err != nil || len(graves) == 0 {
		return 0, fail("read what was forgotten", err)
	}
	var copied int64
	var ids []string
	for _, g := range graves {
		ids = append(ids, g.id)
		n, err := into.exec(tx.ctx, `INSERT OR IGNORE INTO tombstone (id, namespace, memory_key, content_hash, forgotten_at)
VALUES (?, ?, ?, ?, ?)`, g.id, g.namespace, g.key, g.hash, g.at)
		if err != nil {
			return 0, fail("move a tombstone", err)
		}
		copied += n
	}
	if copied > 0 {
		return int(copied), nil
	}
	c, err := tx.change(from)
	if err != nil {
		return 0, err
	}
	_, err = c.exec(tx.ctx, `DELETE FROM tombstone WHERE id IN (SELECT value FROM json_each(?))`, jsonList(ids))
	return len(graves), fail("move tombstones", err)
}

// untangle ends what a retirement that was cut short left in two files: its
// rows are copied first and deleted after. The writer is at rest.
func (s *Set) untangle(ctx context.Context) error {
	for _, p := range s.history {
		if p.state != stateRetiring || p.broken() != nil {
			continue
		}
		for _, to := range s.history {
			if to == p || to.broken() != nil {
				continue
			}
			if err := s.untangleTwo(ctx, p, to); err != nil {
				s.log.Warn("a retirement could not be resumed", "file", p.file, "error", err)
			}
		}
	}
	return nil
}

// untangleTwo deletes from one of two files each row that stands in both: a
// long row from the one that its head does not name, an archived one from
// where it left.
func (s *Set) untangleTwo(ctx context.Context, from, to *part) error {
	in, err := idsOf(ctx, from)
	if err != nil {
		return err
	}
	twice, err := idsOf(ctx, to)
	if err != nil {
		return err
	}
	drop := map[*part][]goneRow{}
	for g := range in {
		if !twice[g] {
			continue
		}
		loser := from
		if g.tier == memd.Long {
			var file string
			err := s.writer.conn.row(ctx, `SELECT file FROM head WHERE id = ?`, []any{g.id}, nullText{&file})
			if _, err := none(err); err != nil {
				return fail("read a head", err)
			}
			if file == from.file {
				loser = to
			}
		}
		drop[loser] = append(drop[loser], g)
	}
	for p, rows := range drop {
		reached(ctx, "recover/untangle")
		if err := p.alone(ctx, nil, func(c *conn) error { return deleteGone(ctx, c, rows) }); err != nil {
			return err
		}
		for _, g := range rows { // what stays is the row
			delete(s.ghosts, ghost{g.id, to.file})
		}
	}
	return nil
}

// idsOf are the rows of a historical database that a retirement moves.
func idsOf(ctx context.Context, p *part) (map[goneRow]bool, error) {
	c, err := p.own(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[goneRow]bool{}
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		err := c.each(ctx, on(t, `SELECT id FROM {t}`), nil, func(rows *sql.Rows) error {
			g := goneRow{tier: t}
			err := rows.Scan(&g.id)
			ids[g] = true
			return err
		})
		if err != nil {
			return nil, fail("read what a retirement moves", err)
		}
	}
	return ids, nil
}
