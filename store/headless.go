package store

import (
	"context"
	"database/sql"

	"memd"
)

// A key is headless whose current version was deleted or archived. Where nothing
// newer of it stands, the newest version that is left is its last word: it is owed.

// succeeded reports whether a newer version of a row's key stands. What nothing
// can be told of, as it is in a database that cannot be read, does not.
func (v *View) succeeded(m *memd.Memory) (bool, error) {
	h, known, err := v.Head(m.Namespace, m.MemoryKey)
	if !known || err != nil || h.ID == m.ID {
		return false, err
	}
	ok := false
	if m.Version < h.Version && h.ID != "" {
		err = v.each(func(i int, c *conn) error {
			if v.parts[i].file != h.File {
				return nil
			}
			return fail("look for a head", c.row(v.ctx, `SELECT EXISTS (SELECT 1 FROM long WHERE id = ?)`, []any{h.ID}, &ok))
		})
	}
	if ok || err != nil {
		return ok, err
	}
	found, err := v.Versions(m.Namespace, m.MemoryKey)
	return len(found) > 0 && found[0].Version > m.Version, err
}

// version is a row of a key.
type version struct {
	headKey
	id     string
	number int
}

// headless are the rows in the long tier of a historical database that are owed
// without being heads.
func (w *writer) headless(ctx context.Context, p *part, own *conn) (owed []string, err error) {
	var rows []version
	err = own.each(ctx, `SELECT namespace, memory_key, version, id FROM long ORDER BY namespace, memory_key, version DESC`, nil,
		func(found *sql.Rows) error {
			var r version
			err := found.Scan(&r.namespace, &r.key, &r.number, &r.id)
			rows = append(rows, r)
			return err
		})
	if err != nil {
		return nil, fail("look for what is owed", err)
	}
	var last headKey // the newest version of which was looked at
	for _, r := range rows {
		if r.headKey == last {
			continue
		}
		ok, err := stands(ctx, w.conn, w.set.ghosts, r.id, p.file)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		last = r.headKey
		if ok, err = w.lastWord(ctx, r); err != nil {
			return nil, err
		}
		if ok {
			owed = append(owed, r.id)
		}
	}
	return owed, nil
}

// lastWord reports whether a row that is no head is the newest that stands of its
// key.
func (w *writer) lastWord(ctx context.Context, r version) (bool, error) {
	h, _, err := headOf(ctx, w.conn, r.namespace, r.key)
	if h.ID == r.id || err != nil {
		return false, err
	}
	if h.ID != "" {
		there, err := w.holds(ctx, h)
		if there || err != nil {
			return false, err
		}
	}
	newest := true
	for _, p := range append([]*part{w.set.active}, w.history()...) {
		if !newest || p.broken() != nil {
			continue
		}
		c, err := w.reader(ctx, p)
		if err == nil {
			newest, err = w.noneNewer(ctx, p, c, r)
		}
		if err = p.failed(err); err != nil && p.broken() == nil {
			return false, err
		}
	}
	return newest, nil
}

// holds reports whether the row that a head names is where it names it.
func (w *writer) holds(ctx context.Context, h Head) (there bool, err error) {
	p := w.set.active
	if h.File != "" {
		p = w.part(h.File)
	}
	if p == nil || p.broken() != nil {
		return false, nil
	}
	c, err := w.reader(ctx, p)
	if err == nil {
		err = c.row(ctx, `SELECT EXISTS (SELECT 1 FROM long WHERE id = ?)`, []any{h.ID}, &there)
	}
	if err = p.failed(err); err != nil && p.broken() != nil {
		return false, nil
	}
	return there, fail("look for a head", err)
}

// reader is the connection on which the writer reads a database.
func (w *writer) reader(ctx context.Context, p *part) (*conn, error) {
	if p.file == "" {
		return w.conn, nil
	}
	return p.own(ctx)
}

// noneNewer reports whether no other row of a key, as new or newer, stands in a
// database.
func (w *writer) noneNewer(ctx context.Context, p *part, c *conn, r version) (bool, error) {
	var ids []string
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		err := c.each(ctx, on(t, `SELECT id FROM {t} WHERE namespace = ? AND memory_key = ? AND version >= ? AND id <> ?`),
			[]any{r.namespace, r.key, r.number, r.id}, func(found *sql.Rows) error {
				var id string
				err := found.Scan(&id)
				ids = append(ids, id)
				return err
			})
		if err != nil {
			return false, fail("look for newer versions", err)
		}
	}
	for _, id := range ids {
		if p.file == "" {
			return false, nil
		}
		if ok, err := stands(ctx, w.conn, w.set.ghosts, id, p.file); ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
