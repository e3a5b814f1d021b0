package store

import (
	"context"
	"database/sql"

	"memd"
)

// census is where every row stands, over the databases that could be read. Rows
// that have left a historical database count no more.
type census struct {
	ctx    context.Context
	active *conn
	parts  []*part
	each   func(func(*part, *conn) error) error // over what can be read

	whole bool                // whether every database could be read
	read  map[string]bool     // by file, "" for the active database
	named map[string]bool     // by file: in use, readable or not
	gone  map[[2]string]bool  // id and file
	at    map[string]place    // by id
	twice map[string][]place  // further places of an id
	long  map[string][]longAt // by id
	heads map[headKey]Head
}

// place is where a row stands.
type place struct {
	part *part
	tier memd.Tier
}

// longAt is a long row.
type longAt struct {
	headKey
	version int
	id      string
	part    *part
}

// takeCensus reads the ids of all rows, and the heads.
func takeCensus(ctx context.Context, active *conn, parts []*part, each func(func(*part, *conn) error) error) (*census, error) {
	c := &census{ctx: ctx, active: active, parts: parts, each: each, read: map[string]bool{}, named: map[string]bool{}, gone: map[[2]string]bool{},
		at: map[string]place{}, twice: map[string][]place{}, long: map[string][]longAt{}, heads: map[headKey]Head{}}
	for _, p := range parts {
		c.named[p.file] = true
	}
	err := active.each(ctx, `SELECT memory_id, file FROM gone`, nil, func(rows *sql.Rows) error {
		var g [2]string
		err := rows.Scan(&g[0], &g[1])
		c.gone[g] = true
		return err
	})
	if err != nil {
		return nil, fail("read what has left a historical database", err)
	}
	err = active.each(ctx, `SELECT namespace, memory_key, version, id, file FROM head`, nil, func(rows *sql.Rows) error {
		var k headKey
		var h Head
		err := rows.Scan(&k.namespace, &k.key, &h.Version, nullText{&h.ID}, nullText{&h.File})
		c.heads[k] = h
		return err
	})
	if err != nil {
		return nil, fail("read the heads", err)
	}
	err = each(func(p *part, in *conn) error {
		c.read[p.file] = true
		return c.count(p, in)
	})
	c.whole = len(c.read) == len(parts)
	return c, err
}

// count enters the rows of one database.
func (c *census) count(p *part, in *conn) error {
	for _, t := range p.tiers() {
		err := in.each(c.ctx, on(t, `SELECT id FROM {t}`), nil, func(rows *sql.Rows) error {
			var id string
			if err := rows.Scan(&id); err != nil || c.gone[[2]string{id, p.file}] {
				return err
			}
			if _, known := c.at[id]; known {
				c.twice[id] = append(c.twice[id], place{p, t})
			} else {
				c.at[id] = place{p, t}
			}
			return nil
		})
		if err != nil {
			return fail("read the ids of rows", err)
		}
	}
	return fail("read the versions of keys", in.each(c.ctx, `SELECT id, namespace, memory_key, version FROM long`, nil, func(rows *sql.Rows) error {
		l := longAt{part: p}
		err := rows.Scan(&l.id, &l.namespace, &l.key, &l.version)
		if err == nil && !c.gone[[2]string{l.id, p.file}] {
			c.long[l.id] = append(c.long[l.id], l)
		}
		return err
	}))
}

// lost reports whether a head names no row, as far as can be told.
func (c *census) lost(k headKey, h Head) bool {
	if h.ID == "" || c.named[h.File] && !c.read[h.File] {
		return false
	}
	for _, l := range c.long[h.ID] {
		if l.part.file == h.File && l.headKey == k && l.version == h.Version {
			return false
		}
	}
	return true
}

// headless are the newest long rows of keys without any head, and behind those
// of keys whose head counts an earlier version.
func (c *census) headless() (none, behind map[headKey]longAt) {
	none, behind = map[headKey]longAt{}, map[headKey]longAt{}
	for _, rows := range c.long {
		for _, l := range rows {
			h, known := c.heads[l.headKey]
			if known && h.Version >= l.version {
				continue
			}
			into := none
			if known {
				into = behind
			}
			if best, has := into[l.headKey]; !has || l.version > best.version || l.version == best.version && l.id > best.id {
				into[l.headKey] = l
			}
		}
	}
	return none, behind
}

// revivable are those of rows without a head that may become it: nothing says
// that their key was forgotten, or went on in the archive.
func (c *census) revivable(rows map[headKey]longAt) (map[headKey]longAt, error) {
	left := map[headKey]longAt{}
	for k, l := range rows {
		left[k] = l
	}
	err := c.each(func(p *part, in *conn) error {
		for k, l := range left {
			var dead bool
			err := in.row(c.ctx, `SELECT EXISTS (SELECT 1 FROM tombstone WHERE id = ?1 OR namespace = ?2 AND memory_key = ?3)
 OR EXISTS (SELECT 1 FROM archive WHERE namespace = ?2 AND memory_key = ?3 AND version >= ?4)`,
				[]any{l.id, k.namespace, k.key, l.version}, &dead)
			if err != nil {
				return fail("look for what was forgotten", err)
			}
			if dead {
				delete(left, k)
			}
		}
		return nil
	})
	return left, err
}

// idle are the ids that a query names in each database and that no row has.
func (c *census) idle(query string) (map[*part][]string, error) {
	found := map[*part][]string{}
	err := c.each(func(p *part, in *conn) error {
		return fail("read what belongs to rows", in.each(c.ctx, query, nil, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			if _, stands := c.at[id]; err == nil && !stands {
				found[p] = append(found[p], id)
			}
			return err
		}))
	})
	return found, err
}
