package store

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"memd"
)

// What an audit asks of the databases beside the heads.

// Named is a row by its identity, without a body.
type Named struct {
	ID, Namespace, MemoryKey string
	Access                   []string
}

// StrayKeys returns the long rows that no head accounts for, in the order of
// namespaces, keys and ids: their key has no head, or they claim a version that is
// the head's or a later one. Those of a head whose row was deleted by hand are
// older, and accounted for.
func (v *View) StrayKeys() ([]Named, error) {
	heads := map[headKey]Head{}
	err := v.active().each(v.ctx, `SELECT namespace, memory_key, version, id, file FROM head`, nil, func(rows *sql.Rows) error {
		var k headKey
		var h Head
		err := rows.Scan(&k.namespace, &k.key, &h.Version, nullText{&h.ID}, nullText{&h.File})
		heads[k] = h
		return err
	})
	if err != nil {
		return nil, fail("read the heads", err)
	}
	var stray []Named
	err = v.each(func(i int, c *conn) error {
		var here []Named
		err := c.each(v.ctx, `SELECT id, namespace, memory_key, version FROM long ORDER BY namespace, memory_key, id`, nil, func(rows *sql.Rows) error {
			var n Named
			var version int
			err := rows.Scan(&n.ID, &n.Namespace, &n.MemoryKey, &version)
			h, known := heads[headKey{n.Namespace, n.MemoryKey}]
			isHead := h.ID == n.ID && h.File == v.parts[i].file
			if !known || !isHead && (version > h.Version || version == h.Version && h.ID != "") {
				here = append(here, n)
			}
			return err
		})
		for _, n := range here {
			ok, failed := v.stands(i, n.ID)
			if failed != nil {
				return failed
			}
			if ok {
				stray = append(stray, n)
			}
		}
		return fail("read the keys", err)
	})
	return stray, err
}

// longAtOnce is how many rows EachLong holds at a time.
const longAtOnce = 50

// EachLong calls fn with every row of the long tier, older versions included,
// whole. A reading holds a few of them, and fn runs outside of it: what fn does
// holds nobody up. A row that moves meanwhile may come twice, and not at all only
// where its database leaves.
func (s *Set) EachLong(ctx context.Context, fn func(memd.Memory) error) error {
	done := map[string]bool{}
	file, after := "", int64(math.MinInt64)
	for {
		var some []memd.Memory
		var more, end bool
		err := s.View(ctx, func(v *View) error {
			// Rows move to the active database, or stay where they are when that
			// becomes a historical one: so that comes last.
			i := len(v.parts) - 1
			for i >= 0 && (done[v.parts[i].file] || v.conn(i) == nil) {
				i--
			}
			if i < 0 {
				return nil
			}
			more = true
			if v.parts[i].file != file {
				file, after = v.parts[i].file, math.MinInt64
			}
			err := v.only(v.parts[i], func(i int, c *conn) (err error) {
				some, end, err = v.longAfter(i, c, &after)
				return err
			})
			end = end || v.missed[i] != nil
			return err
		})
		if err != nil || !more {
			return err
		}
		for _, m := range some {
			if err := fn(m); err != nil {
				return err
			}
		}
		if end {
			done[file] = true
		}
	}
}

// longAfter reads the next long rows of a database, and moves after to the last; at
// the end there is none.
func (v *View) longAfter(i int, c *conn, after *int64) (some []memd.Memory, end bool, err error) {
	var all []memd.Memory
	err = c.each(v.ctx, on(memd.Long, `SELECT {t}.rid, `+fullColumns+` FROM {t} WHERE {t}.rid > ? ORDER BY {t}.rid LIMIT ?`),
		[]any{*after, longAtOnce}, func(rows *sql.Rows) error {
			m, err := scanMemory(rows, memd.Long, true, after)
			all = append(all, m)
			return err
		})
	if err != nil {
		return nil, false, fail("read the long rows", err)
	}
	for _, m := range all {
		ok, err := v.stands(i, m.ID)
		if err != nil {
			return nil, false, err
		}
		if ok {
			some = append(some, m)
		}
	}
	return some, len(all) < longAtOnce, nil
}

// Overdue are the short rows that groom should have archived by a time.
type Overdue struct {
	At         memd.Time     // the time
	Retention  time.Duration // after which rows go that are neither important nor read
	ByValue    time.Duration // after which those go that are little important and never read
	Importance int           // the most that counts as little
}

// OverdueShort returns the short rows that were due at a time and stand still.
// Rows that an import brought in the last day are left out.
func (v *View) OverdueShort(o Overdue) ([]Named, error) {
	return v.named(memd.Short, `NOT EXISTS (SELECT 1 FROM imported i WHERE i.memory_id = {t}.id)
 AND ({t}.written_at <= ?1 AND NOT ({t}.importance >= 7 OR {t}.access_count >= 3)
  OR {t}.written_at <= ?2 AND {t}.importance <= ?3 AND {t}.access_count = 0)`,
		memd.At(o.At.Add(-o.Retention)).String(), memd.At(o.At.Add(-o.ByValue)).String(), o.Importance)
}

// Tagged returns the rows of a tier that carry one of the tags, which are in lower
// case; of the long tier the heads alone.
func (v *View) Tagged(t memd.Tier, tags []string) ([]Named, error) {
	return v.named(t, `EXISTS (SELECT 1 FROM json_each({t}.tags) g WHERE lower(g.value) IN (SELECT value FROM json_each(?1)))`, jsonList(tags))
}

// Lapsed returns the rows of a tier whose time had come by a time and that should
// be gone: a row that carries a key only vanishes from reads.
func (v *View) Lapsed(t memd.Tier, by memd.Time) ([]Named, error) {
	return v.named(t, `{t}.expires_at IS NOT NULL AND {t}.expires_at <= ?1 AND {t}.memory_key IS NULL`, by.String())
}

// named returns the rows of a tier under a condition, in the order of their ids
// within each database.
func (v *View) named(t memd.Tier, where string, args ...any) ([]Named, error) {
	var all []Named
	err := v.each(func(i int, c *conn) error {
		if t == memd.Transient && i > 0 || !v.ready(i) {
			return nil
		}
		var here []memd.Memory
		err := c.each(v.ctx, on(t, `SELECT `+columns+` FROM {t} WHERE `+where+` ORDER BY {t}.id`), args, collect(t, false, &here))
		for _, m := range here {
			ok, failed := v.stands(i, m.ID)
			if ok && t == memd.Long {
				var h Head
				h, _, failed = v.Head(m.Namespace, m.MemoryKey)
				ok = h.has(&m, v.parts[i].file)
			}
			if failed != nil {
				return failed
			}
			if ok {
				all = append(all, Named{m.ID, m.Namespace, m.MemoryKey, m.Access})
			}
		}
		return fail("look for "+string(t)+" rows", err)
	})
	return all, err
}

// Namespaces returns how many rows of a tier each namespace holds.
func (v *View) Namespaces(t memd.Tier) (map[string]int, error) {
	held := map[string]int{}
	err := v.each(func(i int, c *conn) error {
		if t == memd.Transient && i > 0 {
			return nil
		}
		err := c.each(v.ctx, on(t, `SELECT namespace, count(*) FROM {t} GROUP BY namespace`), nil, func(rows *sql.Rows) error {
			var namespace string
			var n int
			err := rows.Scan(&namespace, &n)
			held[namespace] += n
			return err
		})
		return fail("count rows", err)
	})
	return held, err
}

// Hits returns how often each pitfall was hit after a time.
func (v *View) Hits(since memd.Time) (map[string]int, error) {
	hits := map[string]int{}
	err := v.active().each(v.ctx, `SELECT memory_id, count(*) FROM pitfall_hit WHERE at > ? GROUP BY memory_id`, []any{since.String()},
		func(rows *sql.Rows) error {
			var id string
			var n int
			err := rows.Scan(&id, &n)
			hits[id] = n
			return err
		})
	return hits, fail("count the hits of pitfalls", err)
}

// Metas returns the values of the meta table whose keys begin with prefix.
func (v *View) Metas(prefix string) (map[string]string, error) {
	values := map[string]string{}
	err := v.active().each(v.ctx, `SELECT key, value FROM meta`, nil, func(rows *sql.Rows) error {
		var key, value string
		err := rows.Scan(&key, &value)
		if strings.HasPrefix(key, prefix) {
			values[key] = value
		}
		return err
	})
	return values, fail("read meta", err)
}

// EachRecord calls fn with every text that memd keeps about memories beside the
// rows themselves: the values of meta and the details of what was done, and where
// it stands. None of them should hold a body.
func (v *View) EachRecord(fn func(place, text string) error) error {
	return v.each(func(i int, c *conn) error {
		err := c.each(v.ctx, `SELECT 'meta ' || key, value FROM meta
UNION ALL SELECT 'audit ' || seq, detail FROM audit WHERE detail IS NOT NULL`, nil, func(rows *sql.Rows) error {
			var place, text string
			if err := rows.Scan(&place, &text); err != nil {
				return err
			}
			return fn(v.parts[i].name()+": "+place, text)
		})
		return fail("read what was noted", err)
	})
}
