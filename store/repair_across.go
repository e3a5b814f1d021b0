package store

import "memd"

// mendPlaces leaves each row where it counts and deletes its further copies.
func mendPlaces(tx *Tx, c *census) (n int, err error) {
	for id, more := range c.twice {
		places := append([]place{c.at[id]}, more...)
		keep := c.keeps(id, places)
		for i, at := range places {
			if i == keep {
				continue
			}
			if err := tx.dropCopy(at, id); err != nil {
				return n, err
			}
			n++
		}
		if err := tx.keepHeads(c, id); err != nil {
			return n, err
		}
	}
	return n, nil
}

// keeps is which of several places of a row is the one: the long row that a
// head names; else, as rows move into newer databases alone, the newest (see
// untangleTwo), and of several tiers of one the first of long, short, archive.
func (c *census) keeps(id string, places []place) int {
	best := 0
	for i, at := range places {
		for _, l := range c.long[id] {
			if at.tier == memd.Long && l.part == at.part {
				if h := c.heads[l.headKey]; h.ID == id && h.File == at.part.file {
					return i
				}
			}
		}
		if at.part == places[best].part && rank(at.tier) < rank(places[best].tier) {
			best = i
		}
	}
	return best
}

func rank(t memd.Tier) int {
	for i, other := range indexed {
		if t == other {
			return i
		}
	}
	return len(indexed)
}

// dropCopy deletes one copy of a row.
func (tx *Tx) dropCopy(at place, id string) (err error) {
	c := tx.conn
	if at.part.file != "" {
		if c, err = tx.change(at.part); err != nil {
			return err
		}
	}
	// The delete trigger drops the vector of another copy in the same database:
	// it can be made anew.
	if _, err = c.exec(tx.ctx, on(at.tier, `DELETE FROM {t} WHERE id = ?`), id); err == nil && at.part.file != "" {
		err = markDue(tx.ctx, c)
	}
	return fail("delete a copy of a row", err)
}

// keepHeads puts heads of a row back that the deletion of a copy has emptied.
func (tx *Tx) keepHeads(c *census, id string) error {
	for _, l := range c.long[id] {
		if h := c.heads[l.headKey]; h.ID == id {
			if err := tx.tie(l.headKey, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// tie makes a row of any database, or none, the head of a key.
func (tx *Tx) tie(k headKey, h Head) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO head (namespace, memory_key, version, id, file) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, memory_key) DO UPDATE SET version = excluded.version, id = excluded.id, file = excluded.file,
 source_hash = CASE WHEN head.id IS excluded.id THEN head.source_hash END`,
		k.namespace, k.key, h.Version, orNull(h.ID), orNull(h.File))
	return fail("move a head", err)
}

// mendHeads ties a head that names no row to that row where it stands, if it is
// the newest version of its key. Any other points to nowhere from then on; its
// counter stays, so that no older version revives.
func mendHeads(tx *Tx, c *census) (n int, err error) {
	newest := map[headKey]longAt{}
	for _, rows := range c.long {
		for _, l := range rows {
			if best, has := newest[l.headKey]; !has || l.version > best.version || l.version == best.version && l.id > best.id {
				newest[l.headKey] = l
			}
		}
	}
	for k, h := range c.heads {
		if !c.lost(k, h) {
			continue
		}
		best, has := newest[k]
		to := Head{Version: max(h.Version, best.version)}
		if has && best.id == h.ID {
			to = Head{Version: best.version, ID: best.id, File: best.part.file}
		}
		if err := tx.tie(k, to); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func mendHeadless(tx *Tx, c *census) (n int, err error) {
	none, _ := c.headless()
	rows, err := c.revivable(none)
	if err != nil {
		return 0, err
	}
	for k, l := range rows {
		if err := tx.tie(k, Head{Version: l.version, ID: l.id, File: l.part.file}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func mendOutbox(tx *Tx, c *census) (n int, err error) {
	idle, err := c.idle(outboxIDs)
	if err != nil {
		return 0, err
	}
	for p, ids := range idle {
		if err := tx.deleteFrom(p, `DELETE FROM outbox WHERE memory_id = ?`, ids); err != nil {
			return n, err
		}
		n += len(ids)
	}
	return n, nil
}

func mendBadVectors(tx *Tx, c *census) (n int, err error) {
	faults, err := c.vectors()
	if err != nil {
		return 0, err
	}
	for p, bad := range faults.bad {
		ids := make([]string, len(bad))
		for i, b := range bad {
			ids[i] = b.id
		}
		if err := tx.remake(p, ids, faults.set); err != nil {
			return n, err
		}
		n += len(ids)
	}
	return n, nil
}

func mendMixed(tx *Tx, c *census) (n int, err error) {
	faults, err := c.vectors()
	if err != nil {
		return 0, err
	}
	for p, ids := range faults.strange {
		if err := tx.remake(p, ids, faults.set); err != nil {
			return n, err
		}
		n += len(ids)
	}
	return n, nil
}

// remake deletes vectors and, where an embedder is set, has them made anew.
func (tx *Tx) remake(p *part, ids []string, queue bool) error {
	if err := tx.deleteFrom(p, `DELETE FROM embedding WHERE memory_id = ?`, ids); err != nil || !queue {
		return err
	}
	for _, id := range ids {
		if err := tx.Queue(id, tx.w.set.Now()); err != nil {
			return err
		}
	}
	return nil
}

// deleteFrom runs a statement in one database for each id.
func (tx *Tx) deleteFrom(p *part, query string, ids []string) (err error) {
	c := tx.conn
	if p.file != "" {
		if c, err = tx.change(p); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if _, err := c.exec(tx.ctx, query, id); err != nil {
			return fail("mend a database", err)
		}
	}
	return nil
}
