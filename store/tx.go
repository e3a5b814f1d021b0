package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"memd"
	"memd/store/terms"
)

// Tx is one write in progress, within the writer's transaction. New rows go to
// the active database; a row of a historical one that was read in the same
// write is changed where it stands. It must not outlive the function it was
// given to.
type Tx struct {
	ctx     context.Context
	w       *writer
	conn    *conn            // to the active database
	at      map[string]*part // where rows stand that were read in historical databases
	marked  []*part          // historical databases with a savepoint of this write; only where guarded
	guarded bool
	changed bool // whether a historical database was changed
}

// seg computes the index terms of a row that FTS5 cannot make by itself.
func seg(m *memd.Memory) string {
	texts := append([]string{m.Summary, m.Why, m.HowToApply, m.MemoryKey, m.Source, m.Owner}, m.Tags...)
	return terms.Segment(texts...)
}

const insertRow = `INSERT INTO {t} (id, namespace, kind, memory_key, version, importance, tags,
 source, source_status, verified_at, verified_by, stale, stale_reason, owner,
 access, session_id, agent, created_at, updated_at, written_at, last_accessed_at,
 access_count, expires_at, resolved_at, content_hash, summary, why, how_to_apply, raw_content, seg)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Insert adds m to its tier, with its index entries, and where there is an
// embedder has it wait for its vector. The id must be new.
// Where what is owed in historical databases alone exceeds their budget, it is
// refused with budget_exceeded.
func (tx *Tx) Insert(m *memd.Memory) error {
	if err := tx.w.set.refused(); err != nil {
		return err
	}
	if err := insert(tx.ctx, tx.conn, m); err != nil {
		return err
	}
	return tx.want(m)
}

func insert(ctx context.Context, c *conn, m *memd.Memory) error {
	_, err := c.exec(ctx, on(m.Tier, insertRow),
		m.ID, m.Namespace, string(m.Kind), orNull(m.MemoryKey), numberOrNull(m.Version), m.Importance, jsonList(m.Tags),
		orNull(m.Source), string(m.SourceStatus), timeOrNull(m.VerifiedAt), orNull(m.VerifiedBy),
		m.Stale, orNull(string(m.StaleReason)), orNull(m.Owner),
		jsonList(m.Access), orNull(m.SessionID), orNull(m.Agent), m.CreatedAt.String(), m.UpdatedAt.String(),
		m.WrittenAt.String(), timeOrNull(m.LastAccessedAt),
		m.AccessCount, timeOrNull(m.ExpiresAt), timeOrNull(m.ResolvedAt), m.ContentHash,
		m.Summary, orNull(m.Why), orNull(m.HowToApply), orNull(m.RawContent), seg(m))
	return fail("insert a "+string(m.Tier)+" row", err)
}

const updateLabels = `UPDATE {t} SET content_hash = ?, importance = ?, source_status = ?, verified_at = ?, verified_by = ?,
 stale = ?, stale_reason = ?, access = ?, updated_at = ?, written_at = ?, expires_at = ?, resolved_at = ?
WHERE id = ?`

const updateIndexed = `UPDATE {t} SET tags = ?, owner = ?, seg = ?, seg_rev = seg_rev + 1
WHERE id = ? AND (tags IS NOT ? OR owner IS NOT ?)`

// UpdateMeta writes all of m that may change without a new version: everything
// but content, key, kind and source. The hash is among it, since the content
// may have been edited by hand.
func (tx *Tx) UpdateMeta(m *memd.Memory) error {
	c, err := tx.home(m.ID)
	if err != nil {
		return err
	}
	_, err = c.exec(tx.ctx, on(m.Tier, updateLabels),
		m.ContentHash, m.Importance, string(m.SourceStatus), timeOrNull(m.VerifiedAt), orNull(m.VerifiedBy),
		m.Stale, orNull(string(m.StaleReason)), jsonList(m.Access), m.UpdatedAt.String(), m.WrittenAt.String(),
		timeOrNull(m.ExpiresAt), timeOrNull(m.ResolvedAt), m.ID)
	if err == nil {
		tags, owner := jsonList(m.Tags), orNull(m.Owner)
		_, err = c.exec(tx.ctx, on(m.Tier, updateIndexed), tags, owner, seg(m), m.ID, tags, owner)
	}
	if p := tx.at[m.ID]; p != nil {
		tx.w.added = append(tx.w.added, addedHash{p, m.ContentHash})
	}
	return fail("update a "+string(m.Tier)+" row", err)
}

// Delete removes the row of tier t with the given id, its index entries, its
// vector and its place in the outbox. It reports whether there was one.
func (tx *Tx) Delete(t memd.Tier, id string) (bool, error) {
	ok, err := tx.remove(t, id)
	if err == nil {
		err = tx.unqueue(id)
	}
	return ok, err
}

// unqueue takes a row of a historical database out of the active one's outbox;
// one of the active database leaves it by the delete trigger.
func (tx *Tx) unqueue(id string) error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM outbox WHERE memory_id = ?`, id)
	return fail("take a row out of the outbox", err)
}

// remove is Delete but for the outbox of the active database.
func (tx *Tx) remove(t memd.Tier, id string) (bool, error) {
	c, err := tx.home(id)
	if err != nil {
		return false, err
	}
	n, err := c.exec(tx.ctx, on(t, `DELETE FROM {t} WHERE id = ?`), id)
	if err == nil && c != tx.conn {
		err = markDue(tx.ctx, c)
	}
	return n > 0, fail("delete a "+string(t)+" row", err)
}

// Move puts m into its tier in place of its row in tier from; id, vector and
// place in the outbox stay, but for a vector of another summary. A row of a
// historical database is archived there, and else moves into the active one. But
// to the archive it is refused as a new row is, see Insert.
func (tx *Tx) Move(m *memd.Memory, from memd.Tier) error {
	if m.Tier != memd.Archive {
		if err := tx.w.set.refused(); err != nil {
			return err
		}
	}
	p, c := tx.at[m.ID], tx.conn
	var err error
	if p != nil {
		if c, err = p.own(tx.ctx); err != nil {
			return err
		}
	}
	same := true
	err = c.row(tx.ctx, on(from, `SELECT summary = ? FROM {t} WHERE id = ?`), []any{m.Summary, m.ID}, &same)
	if _, err := none(err); err != nil {
		return fail("move a row", err)
	}
	if p != nil && m.Tier != memd.Archive {
		err = tx.fetch(p, m, from)
	} else {
		err = tx.moveWithin(p, m, from)
	}
	if err != nil || same {
		return err
	}
	// The vector is of other words.
	if c, err = tx.home(m.ID); err == nil {
		_, err = c.exec(tx.ctx, `DELETE FROM embedding WHERE memory_id = ?`, m.ID)
	}
	if err != nil {
		return fail("move a row", err)
	}
	return tx.want(m)
}

// fetch moves a row from a historical database into the active one.
func (tx *Tx) fetch(p *part, m *memd.Memory, from memd.Tier) error {
	if err := tx.fetchVector(p, m.ID); err != nil {
		return err
	}
	if err := tx.leave(p, from, m.ID); err != nil {
		return err
	}
	return insert(tx.ctx, tx.conn, m)
}

// moveWithin moves a row to another tier of the database that it stands in, of
// which p is nil for the active one.
func (tx *Tx) moveWithin(p *part, m *memd.Memory, from memd.Tier) error {
	c, err := tx.home(m.ID)
	if err != nil {
		return err
	}
	// The delete trigger drops what hangs on the id, so it hangs elsewhere
	// meanwhile.
	const aside, back = `'moving:' || ?`, `?`
	for _, table := range []string{"embedding", "outbox"} {
		if _, err := c.exec(tx.ctx, `UPDATE `+table+` SET memory_id = `+aside+` WHERE memory_id = `+back, m.ID, m.ID); err != nil {
			return fail("move a row", err)
		}
	}
	if _, err := tx.remove(from, m.ID); err != nil {
		return err
	}
	if p != nil && from == memd.Long { // the trigger knows its own file's heads alone
		if _, err := tx.conn.exec(tx.ctx, `UPDATE head SET id = NULL, file = NULL
 WHERE namespace = ? AND memory_key = ? AND id = ? AND file = ?`, m.Namespace, m.MemoryKey, m.ID, p.file); err != nil {
			return fail("move a row", err)
		}
	}
	if err := insert(tx.ctx, c, m); err != nil {
		return err
	}
	for _, table := range []string{"embedding", "outbox"} {
		if _, err := c.exec(tx.ctx, `UPDATE `+table+` SET memory_id = `+back+` WHERE memory_id = `+aside, m.ID, m.ID); err != nil {
			return fail("move a row", err)
		}
	}
	return nil
}

// fetchVector copies a row's vector from a historical database into the active
// one.
func (tx *Tx) fetchVector(p *part, id string) error {
	c, err := p.own(tx.ctx)
	if err != nil {
		return err
	}
	vec, ok, err := vectorIn(tx.ctx, c, id)
	if !ok || err != nil {
		return fail("read a vector", err)
	}
	return fail("copy a vector", tx.putVector(tx.conn, id, vec))
}

// Get returns the whole row with the given id, from whichever tier and
// database holds it. Where a database cannot be read, a row that no other has
// is an error.
func (tx *Tx) Get(id string) (m memd.Memory, ok bool, err error) {
	if m, ok, err = get(tx.ctx, tx.conn, id, memd.AllTiers()); ok || err != nil {
		return m, ok, err
	}
	err = tx.eachOld(func(p *part, c *conn) error {
		if ok {
			return nil
		}
		found, has, err := get(tx.ctx, c, id, p.tiers())
		if err != nil || !has {
			return err
		}
		if ok, err = tx.found(p, id); ok {
			m = found
		}
		return err
	})
	if err == nil && !ok {
		err = tx.w.absent()
	}
	return m, ok, err
}

// tiers are those whose rows count in a database: a transient row that is left
// in a historical one is dead.
func (p *part) tiers() []memd.Tier {
	if p.file == "" {
		return memd.AllTiers()
	}
	return indexed[:]
}

// get looks an id up in the given tiers of one database.
func get(ctx context.Context, c *conn, id string, within []memd.Tier) (memd.Memory, bool, error) {
	for _, t := range within {
		m := memd.Memory{Tier: t}
		err := c.row(ctx, on(t, `SELECT `+fullColumns+` FROM {t} WHERE id = ?`), []any{id}, scanTargets(&m, true)...)
		if ok, err := none(err); ok || err != nil {
			return m, ok, fail("read a row", err)
		}
	}
	return memd.Memory{}, false, nil
}

// HasContent reports whether the long or the short tier of a namespace may hold
// content equal to hash: mostly not, and asking so costs a fraction of looking
// for the rows.
func (tx *Tx) HasContent(namespace, hash string) (bool, error) {
	for _, p := range tx.w.history() {
		if !p.hashes.loaded() && p.broken() == nil {
			tx.w.set.upkeep.hashes.Store(true)
			tx.w.set.upkeep.wake()
		}
		if p.hashes.has(hash) {
			return true, nil
		}
	}
	var has bool
	err := tx.conn.row(tx.ctx, `SELECT EXISTS (SELECT 1 FROM long INDEXED BY long_hash
 WHERE namespace = ?1 AND substr(content_hash, 8, 16) = substr(?2, 8, 16))
 OR EXISTS (SELECT 1 FROM short INDEXED BY short_hash
 WHERE namespace = ?1 AND substr(content_hash, 8, 16) = substr(?2, 8, 16))`, []any{namespace, hash}, &has)
	return has, fail("look for equal content", err)
}

// Left to itself SQLite reads the whole namespace, to save the sorting.
const findContent = `SELECT ` + fullColumns + ` FROM {t} INDEXED BY {t}_hash
 WHERE {t}.namespace = ? AND substr({t}.content_hash, 8, 16) = substr(?, 8, 16) AND {t}.content_hash = ?`

// FindContent returns the live rows of tier t, short or long, in a namespace
// whose content is equal to hash, newest first; of the long tier the heads
// alone.
func (tx *Tx) FindContent(t memd.Tier, namespace, hash string) ([]memd.Memory, error) {
	var all []memd.Memory
	err := tx.each(func(p *part, c *conn) error {
		if p.file != "" && !p.hashes.has(hash) {
			return nil
		}
		var found []memd.Memory
		err := c.each(tx.ctx, on(t, findContent+` ORDER BY {t}.id DESC`), []any{namespace, hash, hash}, collect(t, true, &found))
		if err != nil {
			return fail("look for equal content", err)
		}
		for _, m := range found {
			ok, err := tx.found(p, m.ID)
			if ok && t == memd.Long {
				var h Head
				h, _, err = tx.Head(m.Namespace, m.MemoryKey)
				ok = h.has(&m, p.file)
			}
			if err != nil {
				return err
			}
			if ok {
				all = append(all, m)
			}
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b memd.Memory) int { return strings.Compare(b.ID, a.ID) })
	return all, err
}

// valueNow is what a row is worth at the time ?1, by which budgets choose what
// goes first: recency x importance x (1 + access), where recency is 1/(1 + days
// since the content was written).
const valueNow = `{t}.importance * (1.0 + {t}.access_count) / (1.0 + max(0, julianday(?1) - julianday({t}.written_at)))`

// LeastValuable returns the ids of the n rows of tier t that a row budget lets
// go first, of one namespace or of all (""): the least valuable, the oldest of
// equals. Archived rows that carry a memory_key are owed and never among them.
func (tx *Tx) LeastValuable(t memd.Tier, namespace string, n int, now memd.Time) ([]string, error) {
	ids, err := tx.least(on(t, `SELECT {t}.id, `+valueNow+` AS value FROM {t}
 WHERE (?2 IS NULL OR {t}.namespace = ?2) AND (?3 OR {t}.memory_key IS NULL)
 ORDER BY value, {t}.id LIMIT ?4`), n, now.String(), orNull(namespace), t != memd.Archive, n)
	return ids, fail("find the least valuable rows", err)
}

// leastVectors returns the ids of the n least valuable rows of tier t that have
// a vector.
func (tx *Tx) leastVectors(t memd.Tier, n int) ([]string, error) {
	ids, err := tx.least(on(t, `SELECT {t}.id, `+valueNow+` AS value FROM embedding e JOIN {t} ON {t}.id = e.memory_id
 ORDER BY value, {t}.id LIMIT ?2`), n, tx.w.set.Now().String(), n)
	return ids, fail("find the least valuable vectors", err)
}

// least merges what a query of ids and values finds in each database, and
// returns the first n ids.
func (tx *Tx) least(query string, n int, args ...any) ([]string, error) {
	type valued struct {
		id    string
		value float64
	}
	var all []valued
	err := tx.each(func(p *part, c *conn) error {
		var here []valued
		err := c.each(tx.ctx, query, args, func(rows *sql.Rows) error {
			var v valued
			err := rows.Scan(&v.id, &v.value)
			here = append(here, v)
			return err
		})
		if err != nil {
			return err
		}
		for _, v := range here {
			ok, err := tx.found(p, v.id)
			if err != nil {
				return err
			}
			if ok {
				all = append(all, v)
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b valued) int { return cmp.Or(cmp.Compare(a.value, b.value), strings.Compare(a.id, b.id)) })
	ids := make([]string, 0, min(n, len(all)))
	for _, v := range all[:min(n, len(all))] {
		ids = append(ids, v.id)
	}
	return ids, err
}

// RowsIn returns how many rows tier t holds in a namespace.
func (tx *Tx) RowsIn(t memd.Tier, namespace string) (total int, err error) {
	err = tx.each(func(p *part, c *conn) error {
		var n int
		err := c.row(tx.ctx, on(t, `SELECT count(*) FROM {t} WHERE namespace = ?`), []any{namespace}, &n)
		total += n
		return err
	})
	return total, fail("count rows", err)
}

// Rows returns how many rows tier t holds.
func (tx *Tx) Rows(t memd.Tier) (int, error) {
	// The catalogue follows what this write does to historical databases at its
	// end alone, so that those it has changed are asked themselves.
	var n int
	query, args := `SELECT rows FROM tally WHERE tier = ?1`, []any{string(t)}
	if t != memd.Transient {
		query = on(t, `SELECT rows + (SELECT coalesce(sum({t}), 0) FROM history
 WHERE state <> 'copying' AND file NOT IN (SELECT value FROM json_each(?2)))
 - (SELECT count(*) FROM gone WHERE tier = ?1) FROM tally WHERE tier = ?1`)
		args = append(args, jsonList(tx.w.begunFiles()))
	}
	err := tx.conn.row(tx.ctx, query, args, &n)
	for _, p := range tx.w.begun {
		var here int
		if err == nil && t != memd.Transient {
			err = p.rw.row(tx.ctx, `SELECT rows FROM tally WHERE tier = ?`, []any{string(t)}, &here)
			n += here
		}
	}
	return n, fail("count rows", err)
}

// Bury deletes m and its hits, and remembers that it was forgotten, without its
// body. From a historical database it goes once that is durable.
func (tx *Tx) Bury(m *memd.Memory, at memd.Time) error {
	var err error
	if p := tx.at[m.ID]; p != nil {
		if err = tx.leave(p, m.Tier, m.ID); err == nil {
			err = tx.unqueue(m.ID)
		}
	} else {
		_, err = tx.Delete(m.Tier, m.ID)
	}
	if err != nil {
		return err
	}
	if _, err = tx.conn.exec(tx.ctx, `DELETE FROM pitfall_hit WHERE memory_id = ?`, m.ID); err != nil {
		return fail("forget hits", err)
	}
	_, err = tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO tombstone (id, namespace, memory_key, content_hash, forgotten_at)
VALUES (?, ?, ?, ?, ?)`, m.ID, m.Namespace, orNull(m.MemoryKey), m.ContentHash, at.String())
	return fail("write a tombstone", err)
}

// Hit records that a pitfall occurred.
func (tx *Tx) Hit(id string, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO pitfall_hit (memory_id, at) VALUES (?, ?)`, id, at.String())
	return fail("record a hit", err)
}
