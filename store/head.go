package store

import (
	"context"
	"database/sql"

	"memd"
)

// Head is the state of a memory_key within a namespace.
type Head struct {
	Version int    // the highest version ever given out
	ID      string // the current row, "" when it was deleted by hand
	File    string // the historical database that holds it, "" for the active one
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
	err = c.row(ctx, `SELECT version, id, file FROM head WHERE namespace = ? AND memory_key = ?`,
		[]any{namespace, key}, &h.Version, nullText{&h.ID}, nullText{&h.File})
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
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO head (namespace, memory_key, version, id) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, memory_key) DO UPDATE SET version = excluded.version, id = excluded.id, file = NULL`,
		namespace, key, h.Version, orNull(h.ID))
	return fail("move a head", err)
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
