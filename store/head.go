package store

import (
	"context"
	"database/sql"
	"slices"

	"memd"
)

// Head is the state of a memory_key within a namespace.
type Head struct {
	Version int    // the highest version ever given out
	ID      string // the current row, "" when it was deleted by hand
	File    string // the historical database that holds it, "" for the active one

	// SourceHash is that of what the row's source cites, as it was read when the
	// row was last verified; "" where it was not read then.
	SourceHash string
}

// headKey names a key.
type headKey struct{ namespace, key string }

// has reports whether a row with a key, found in a database, is its current
// version: in the long tier the row that the head names, in the archive any
// that no later version was written after.
func (h Head) has(m *memd.Memory, file string) bool {
	if m.Tier == memd.Long {
		return h.ID == m.ID && h.File == file
	}
	return h.Version <= m.Version
}

// Head returns the state of a key; ok is false for a key never written or
// wholly forgotten.
func (tx *Tx) Head(namespace, key string) (h Head, ok bool, err error) {
	return headOf(tx.ctx, tx.conn, namespace, key)
}

func headOf(ctx context.Context, c *conn, namespace, key string) (h Head, ok bool, err error) {
	err = c.row(ctx, `SELECT version, id, file, source_hash FROM head WHERE namespace = ? AND memory_key = ?`,
		[]any{namespace, key}, &h.Version, nullText{&h.ID}, nullText{&h.File}, nullText{&h.SourceHash})
	ok, err = none(err)
	return h, ok, fail("read a head", err)
}

// Row returns the whole row that a head names; not ok where it was deleted by
// hand.
func (tx *Tx) Row(h Head) (m memd.Memory, ok bool, err error) {
	if h.ID == "" {
		return m, false, nil
	}
	if h.File == "" {
		return get(tx.ctx, tx.conn, h.ID, []memd.Tier{memd.Long})
	}
	p := tx.w.part(h.File)
	if p == nil {
		return m, false, nil
	}
	c, err := p.own(tx.ctx)
	if err != nil {
		return m, false, err
	}
	if m, ok, err = get(tx.ctx, c, h.ID, []memd.Tier{memd.Long}); ok {
		tx.at[m.ID] = p
	}
	return m, ok, p.failed(err)
}

// SetHead makes id, a row of the active database, the current version of a key.
func (tx *Tx) SetHead(namespace, key string, h Head) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO head (namespace, memory_key, version, id, source_hash) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (namespace, memory_key) DO UPDATE SET version = excluded.version, id = excluded.id, file = NULL, source_hash = excluded.source_hash`,
		namespace, key, h.Version, orNull(h.ID), orNull(h.SourceHash))
	return fail("move a head", err)
}

// KeepSourceHash keeps, for the head that is row id, the hash of what its source
// cites, "" for none.
func (tx *Tx) KeepSourceHash(namespace, key, id, hash string) error {
	_, err := tx.conn.exec(tx.ctx, `UPDATE head SET source_hash = ?4 WHERE namespace = ?1 AND memory_key = ?2 AND id = ?3`,
		namespace, key, id, orNull(hash))
	return fail("keep the hash of a source", err)
}

// DropHead forgets that a key ever existed.
func (tx *Tx) DropHead(namespace, key string) error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM head WHERE namespace = ? AND memory_key = ?`, namespace, key)
	return fail("drop a head", err)
}

// Heads returns how many keys of a namespace, or of all (""), have a current
// version.
func (tx *Tx) Heads(namespace string) (int, error) {
	var n int
	err := tx.conn.row(tx.ctx, `SELECT count(*) FROM head WHERE id IS NOT NULL AND (?1 IS NULL OR namespace = ?1)`,
		[]any{orNull(namespace)}, &n)
	return n, fail("count heads", err)
}

// headsAtOnce is how many rows EachHead holds at a time.
const headsAtOnce = 100

// EachHead calls fn with the row of every head, without raw_content, and the
// head itself, in the order of namespaces and keys. Rows of databases that cannot
// be read are left out; see Unavailable.
func (v *View) EachHead(fn func(m memd.Memory, h Head) error) error {
	var heads []Head
	err := v.active().each(v.ctx, `SELECT version, id, file, source_hash FROM head WHERE id IS NOT NULL ORDER BY namespace, memory_key`, nil,
		func(rows *sql.Rows) error {
			var h Head
			err := rows.Scan(&h.Version, &h.ID, nullText{&h.File}, nullText{&h.SourceHash})
			heads = append(heads, h)
			return err
		})
	if err != nil {
		return fail("read the heads", err)
	}
	for some := range slices.Chunk(heads, headsAtOnce) {
		rows, err := v.rowsOf(some)
		if err != nil {
			return err
		}
		for _, h := range some {
			if m, ok := rows[h.ID]; ok {
				if err := fn(m, h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// EachHead is View.EachHead with some heads to a reading, and fn outside of it: what
// fn does holds nobody up, and however long it takes. Each head comes as it stands
// when it is its turn.
func (s *Set) EachHead(ctx context.Context, fn func(m memd.Memory, h Head) error) error {
	var after headKey
	for {
		var some []Head
		var rows map[string]memd.Memory
		err := s.View(ctx, func(v *View) (err error) {
			if some, err = v.headsAfter(&after); err == nil {
				rows, err = v.rowsOf(some)
			}
			return err
		})
		if err != nil || len(some) == 0 {
			return err
		}
		for _, h := range some {
			if err := ctx.Err(); err != nil {
				return err
			}
			if m, ok := rows[h.ID]; ok {
				if err := fn(m, h); err != nil {
					return err
				}
			}
		}
	}
}

// headsAfter reads the next heads with a row, and moves after to the last.
func (v *View) headsAfter(after *headKey) (some []Head, err error) {
	err = v.active().each(v.ctx, `SELECT namespace, memory_key, version, id, file, source_hash FROM head
 WHERE id IS NOT NULL AND (namespace, memory_key) > (?, ?) ORDER BY namespace, memory_key LIMIT ?`,
		[]any{after.namespace, after.key, headsAtOnce}, func(rows *sql.Rows) error {
			var h Head
			err := rows.Scan(&after.namespace, &after.key, &h.Version, &h.ID, nullText{&h.File}, nullText{&h.SourceHash})
			some = append(some, h)
			return err
		})
	return some, fail("read the heads", err)
}

// rowsOf reads the rows that heads name, by their ids.
func (v *View) rowsOf(heads []Head) (map[string]memd.Memory, error) {
	rows := map[string]memd.Memory{}
	err := v.each(func(i int, c *conn) error {
		var ids []string
		for _, h := range heads {
			if h.File == v.parts[i].file {
				ids = append(ids, h.ID)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		var found []memd.Memory
		err := c.each(v.ctx, on(memd.Long, `SELECT `+columns+` FROM json_each(?) w CROSS JOIN {t} ON {t}.id = w.value`),
			[]any{jsonList(ids)}, collect(memd.Long, false, &found))
		for _, m := range found {
			rows[m.ID] = m
		}
		return fail("read the heads", err)
	})
	return rows, err
}

// Versions returns every row of a key, newest version first: those of the
// long tier and those that were archived. Where a database cannot be read that
// is an error: nobody can tell which are missing.
func (tx *Tx) Versions(namespace, key string) ([]memd.Memory, error) {
	var all []memd.Memory
	err := tx.each(func(p *part, c *conn) error {
		return versionsOf(tx.ctx, c, namespace, key, true, func(m memd.Memory) error {
			ok, err := tx.found(p, m.ID)
			if ok {
				all = append(all, m)
			}
			return err
		})
	})
	if err == nil {
		err = tx.w.absent()
	}
	return sortVersions(all), err
}

// versionsOf calls yield with every row of a key in one database.
func versionsOf(ctx context.Context, c *conn, namespace, key string, raw bool, yield func(memd.Memory) error) error {
	cols := columns
	if raw {
		cols = fullColumns
	}
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		var found []memd.Memory
		err := c.each(ctx, on(t, `SELECT `+cols+` FROM {t}
 WHERE {t}.namespace = ? AND {t}.memory_key = ? ORDER BY {t}.version DESC, {t}.id DESC`),
			[]any{namespace, key}, collect(t, raw, &found))
		if err != nil {
			return fail("read the versions of a key", err)
		}
		for _, m := range found {
			if err := yield(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect is a scan function that appends the rows of tier t to found.
func collect(t memd.Tier, raw bool, found *[]memd.Memory) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		m, err := scanMemory(rows, t, raw)
		if err == nil {
			*found = append(*found, m)
		}
		return err
	}
}
