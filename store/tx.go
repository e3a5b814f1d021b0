package store

import (
	"context"
	"database/sql"

	"memd"
	"memd/store/terms"
)

// Tx is one write in progress, within the writer's transaction. Its methods
// change the active database only. It must not outlive the function it was
// given to.
type Tx struct {
	ctx  context.Context
	conn *conn
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

// Insert adds m to its tier, with its index entries. The id must be new.
func (tx *Tx) Insert(m *memd.Memory) error {
	_, err := tx.conn.exec(tx.ctx, on(m.Tier, insertRow),
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
	_, err := tx.conn.exec(tx.ctx, on(m.Tier, updateLabels),
		m.ContentHash, m.Importance, string(m.SourceStatus), timeOrNull(m.VerifiedAt), orNull(m.VerifiedBy),
		m.Stale, orNull(string(m.StaleReason)), jsonList(m.Access), m.UpdatedAt.String(), m.WrittenAt.String(),
		timeOrNull(m.ExpiresAt), timeOrNull(m.ResolvedAt), m.ID)
	if err == nil {
		tags, owner := jsonList(m.Tags), orNull(m.Owner)
		_, err = tx.conn.exec(tx.ctx, on(m.Tier, updateIndexed), tags, owner, seg(m), m.ID, tags, owner)
	}
	return fail("update a "+string(m.Tier)+" row", err)
}

// Delete removes the row of tier t with the given id, its index entries and
// its vector. It reports whether there was one.
func (tx *Tx) Delete(t memd.Tier, id string) (bool, error) {
	n, err := tx.conn.exec(tx.ctx, on(t, `DELETE FROM {t} WHERE id = ?`), id)
	return n > 0, fail("delete a "+string(t)+" row", err)
}

// Move puts m into its tier in place of its row in tier from; id, vector and
// place in the outbox stay.
func (tx *Tx) Move(m *memd.Memory, from memd.Tier) error {
	// The delete trigger drops what hangs on the id, so it hangs elsewhere
	// meanwhile.
	const aside, back = `'moving:' || ?`, `?`
	for _, table := range []string{"embedding", "outbox"} {
		if _, err := tx.conn.exec(tx.ctx, `UPDATE `+table+` SET memory_id = `+aside+` WHERE memory_id = `+back, m.ID, m.ID); err != nil {
			return fail("move a row", err)
		}
	}
	if _, err := tx.Delete(from, m.ID); err != nil {
		return err
	}
	if err := tx.Insert(m); err != nil {
		return err
	}
	for _, table := range []string{"embedding", "outbox"} {
		if _, err := tx.conn.exec(tx.ctx, `UPDATE `+table+` SET memory_id = `+back+` WHERE memory_id = `+aside, m.ID, m.ID); err != nil {
			return fail("move a row", err)
		}
	}
	return nil
}

// Get returns the whole row with the given id, from whichever tier holds it.
func (tx *Tx) Get(id string) (memd.Memory, bool, error) { return get(tx.ctx, tx.conn, id) }

// get looks an id up in all four tiers.
func get(ctx context.Context, c *conn, id string) (memd.Memory, bool, error) {
	for _, t := range memd.AllTiers() {
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
	var has bool
	err := tx.conn.row(tx.ctx, `SELECT EXISTS (SELECT 1 FROM long INDEXED BY long_hash
 WHERE namespace = ?1 AND substr(content_hash, 8, 16) = substr(?2, 8, 16))
 OR EXISTS (SELECT 1 FROM short INDEXED BY short_hash
 WHERE namespace = ?1 AND substr(content_hash, 8, 16) = substr(?2, 8, 16))`, []any{namespace, hash}, &has)
	return has, fail("look for equal content", err)
}

// FindContent returns the live rows of tier t in a namespace whose content is
// equal to hash, newest first; of the long tier the heads alone.
func (tx *Tx) FindContent(t memd.Tier, namespace, hash string) ([]memd.Memory, error) {
	// Left to itself SQLite reads the whole namespace, to save the sorting.
	query := `SELECT ` + fullColumns + ` FROM {t} INDEXED BY {t}_hash
 WHERE {t}.namespace = ? AND substr({t}.content_hash, 8, 16) = substr(?, 8, 16) AND {t}.content_hash = ?`
	if t == memd.Long {
		query += ` AND EXISTS (SELECT 1 FROM head h
 WHERE h.namespace = long.namespace AND h.memory_key = long.memory_key AND h.id = long.id)`
	}
	var found []memd.Memory
	err := tx.conn.each(tx.ctx, on(t, query+` ORDER BY {t}.id DESC`), []any{namespace, hash, hash}, collect(t, true, &found))
	return found, fail("look for equal content", err)
}

// LeastValuable returns the ids of the n rows of tier t that a row budget lets
// go first, of one namespace or of all (""): the lowest recency x importance x
// (1 + access), the oldest of equals. Recency is 1/(1 + days since the content
// was written). Archived rows that carry a memory_key are owed and never among
// them.
func (tx *Tx) LeastValuable(t memd.Tier, namespace string, n int, now memd.Time) ([]string, error) {
	var ids []string
	err := tx.conn.each(tx.ctx, on(t, `SELECT id FROM {t}
 WHERE (?1 IS NULL OR {t}.namespace = ?1) AND (?2 OR {t}.memory_key IS NULL)
 ORDER BY {t}.importance * (1.0 + {t}.access_count) / (1.0 + max(0, julianday(?3) - julianday({t}.written_at))), {t}.id
 LIMIT ?4`), []any{orNull(namespace), t != memd.Archive, now.String(), n}, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, fail("find the least valuable rows", err)
}

// RowsIn returns how many rows tier t holds in a namespace.
func (tx *Tx) RowsIn(t memd.Tier, namespace string) (int, error) {
	var n int
	err := tx.conn.row(tx.ctx, on(t, `SELECT count(*) FROM {t} WHERE namespace = ?`), []any{namespace}, &n)
	return n, fail("count rows", err)
}

// Rows returns how many rows tier t holds.
func (tx *Tx) Rows(t memd.Tier) (int, error) {
	var n int
	err := tx.conn.row(tx.ctx, `SELECT rows FROM tally WHERE tier = ?`, []any{string(t)}, &n)
	return n, fail("count rows", err)
}

// Entry is one line of the audit table. It names a memory, never its body.
type Entry struct {
	At        memd.Time
	Caller    string
	Action    string
	ID        string
	Namespace string
	MemoryKey string
}

// Audit appends an entry.
func (tx *Tx) Audit(e Entry) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO audit (at, caller, action, memory_id, namespace, memory_key)
VALUES (?, ?, ?, ?, ?, ?)`, e.At.String(), e.Caller, e.Action, orNull(e.ID), orNull(e.Namespace), orNull(e.MemoryKey))
	return fail("write an audit entry", err)
}

// Bury remembers that m was forgotten, without its body.
func (tx *Tx) Bury(m *memd.Memory, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO tombstone (id, namespace, memory_key, content_hash, forgotten_at)
VALUES (?, ?, ?, ?, ?)`, m.ID, m.Namespace, orNull(m.MemoryKey), m.ContentHash, at.String())
	return fail("write a tombstone", err)
}

// Hit records that a pitfall occurred.
func (tx *Tx) Hit(id string, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO pitfall_hit (memory_id, at) VALUES (?, ?)`, id, at.String())
	return fail("record a hit", err)
}

// Queue puts a row into the outbox of those that wait for a vector.
func (tx *Tx) Queue(id string, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO outbox (memory_id, queued_at) VALUES (?, ?)`, id, at.String())
	return fail("queue a row for its vector", err)
}
