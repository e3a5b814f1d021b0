package store

import (
	"cmp"
	"database/sql"
	"slices"

	"memd"
)

// exportedAtOnce is how many rows of a database an export holds at a time.
const exportedAtOnce = 16

// Wanted chooses what of a Snapshot is exported.
type Wanted struct {
	Namespace func(string) bool       // whose keys and tombstones are
	Memory    func(*memd.Memory) bool // of rows in such a namespace
}

// Export calls fn with everything that is wanted: keys in order with their versions, the
// current one first and then the newest, rows without a key by tier and id, counters of
// keys that no row tells of, what was forgotten. The order says nothing of which
// database a row stands in.
func (x *Snapshot) Export(w Wanted, fn func(*memd.Record) error) error {
	e := &exporting{View: x.view, want: w, fn: fn, owners: map[string]string{}}
	if err := e.keyed(); err != nil {
		return err
	}
	for _, t := range []memd.Tier{memd.Short, memd.Archive, memd.Transient} {
		if err := e.keyless(t); err != nil {
			return err
		}
	}
	for _, k := range e.counters {
		if err := fn(&memd.Record{Type: memd.KeyRecord, Namespace: k.namespace, MemoryKey: k.key, Version: k.version}); err != nil {
			return err
		}
	}
	return e.forgotten()
}

type exporting struct {
	*View
	want     Wanted
	fn       func(*memd.Record) error
	counters []counter
	owners   map[string]string // of sessions
}

// counter is a key of which no row stands that has the highest version given out.
type counter struct {
	headKey
	version int
}

// keyed exports the rows of every key.
func (e *exporting) keyed() error {
	at, err := e.keys()
	if err != nil {
		return err
	}
	for _, k := range sortedKeys(at) {
		if !e.want.Namespace(k.namespace) {
			continue
		}
		if err := e.versions(k, at[k]); err != nil {
			return err
		}
	}
	return nil
}

// keys are those that have rows or a counter, and the databases in which their rows are.
func (e *exporting) keys() (map[headKey][]int, error) {
	at := map[headKey][]int{}
	scan := func(i int, rows bool) func(*sql.Rows) error {
		return func(found *sql.Rows) error {
			var k headKey
			err := found.Scan(&k.namespace, &k.key)
			if in := at[k]; !rows {
				at[k] = in
			} else if len(in) == 0 || in[len(in)-1] != i {
				at[k] = append(in, i)
			}
			return err
		}
	}
	err := e.active().each(e.ctx, `SELECT namespace, memory_key FROM head`, nil, scan(0, false))
	if err != nil {
		return nil, fail("read the heads", err)
	}
	return at, e.each(func(i int, c *conn) error {
		return fail("read the keys", c.each(e.ctx, `SELECT namespace, memory_key FROM long
UNION SELECT namespace, memory_key FROM archive WHERE memory_key IS NOT NULL`, nil, scan(i, true)))
	})
}

// versions exports the rows of a key.
func (e *exporting) versions(k headKey, in []int) error {
	h, known, err := e.Head(k.namespace, k.key)
	if err != nil {
		return err
	}
	var all []memd.Memory
	var head string // its id, where its row was read
	for _, i := range in {
		err := e.bear(i, versionsOf(e.ctx, e.conns[i], k.namespace, k.key, true, func(m memd.Memory) error {
			ok, err := e.stands(i, m.ID)
			if ok {
				all = append(all, m)
			}
			if ok && m.Tier == memd.Long && h.has(&m, e.parts[i].file) {
				head = m.ID
			}
			return err
		}))
		if err != nil {
			return err
		}
	}
	slices.SortFunc(all, func(a, b memd.Memory) int {
		switch head {
		case a.ID:
			return -1
		case b.ID:
			return 1
		}
		return cmp.Or(b.Version-a.Version, cmp.Compare(b.ID, a.ID))
	})
	if head == "" && known && !e.unread(h) && (len(all) == 0 || all[0].Version < h.Version) {
		e.counters = append(e.counters, counter{k, h.Version})
	}
	var older []string
	for i := range all { // the newest first
		if all[i].ID != head && len(older) < memd.MaxSupersedes {
			older = append(older, all[i].ID)
		}
	}
	for i := range all {
		rec := memd.RecordOf(&all[i])
		if all[i].ID == head {
			rec.IsHead, rec.Supersedes, rec.SourceHash = true, older, h.SourceHash
		} else {
			rec.SupersededBy = head
		}
		if err := e.row(&rec, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// unread reports whether a head may well have a row, in a database that cannot be read.
func (e *exporting) unread(h Head) bool {
	return h.ID != "" && slices.ContainsFunc(e.parts, func(p *part) bool {
		return p.file == h.File && e.missed[slices.Index(e.parts, p)] != nil
	})
}

// keyless exports the rows of a tier without a key.
func (e *exporting) keyless(t memd.Tier) error {
	read := func(i int, after string) (some []memd.Memory, err error) {
		if i > 0 && t == memd.Transient {
			return nil, nil
		}
		err = e.conns[i].each(e.ctx, on(t, `SELECT `+fullColumns+` FROM {t} WHERE {t}.id > ? AND {t}.memory_key IS NULL
 ORDER BY {t}.id LIMIT ?`), []any{after, exportedAtOnce}, collect(t, true, &some))
		return some, fail("read rows", err)
	}
	return merge(e, read, func(m *memd.Memory) string { return m.ID }, func(i int, m *memd.Memory) error {
		if ok, err := e.stands(i, m.ID); !ok || err != nil || !e.want.Namespace(m.Namespace) {
			return err
		}
		rec := memd.RecordOf(m)
		if t == memd.Transient {
			owner, known := e.owners[m.SessionID]
			if !known {
				var err error
				if owner, err = e.SessionOwner(m.SessionID); err != nil {
					return err
				}
				e.owners[m.SessionID] = owner
			}
			rec.SessionOwner = owner
		}
		return e.row(&rec, m)
	})
}

// row exports a row with what hangs on it.
func (e *exporting) row(rec *memd.Record, m *memd.Memory) error {
	if !e.want.Memory(m) {
		return nil
	}
	rec.ContentHash = m.ContentHash
	if m.Kind == memd.Pitfall {
		err := e.active().each(e.ctx, `SELECT at FROM
 (SELECT seq, at FROM pitfall_hit WHERE memory_id = ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`, []any{m.ID, memd.MaxHits}, func(rows *sql.Rows) error {
			var at memd.Time
			err := rows.Scan(nullTime{&at})
			if !at.IsZero() {
				rec.Hits = append(rec.Hits, at)
			}
			return err
		})
		if err != nil {
			return fail("read hits", err)
		}
	}
	return e.fn(rec)
}

// forgotten exports what was forgotten. A tombstone that a rollover handed on stands in
// two databases.
func (e *exporting) forgotten() error {
	read := func(i int, after string) (some []Tombstone, err error) {
		err = e.conns[i].each(e.ctx, `SELECT `+tombstoneColumns+` FROM tombstone t WHERE t.id > ? ORDER BY t.id LIMIT ?`,
			[]any{after, exportedAtOnce}, func(rows *sql.Rows) error {
				var g Tombstone
				err := rows.Scan(g.targets()...)
				some = append(some, g)
				return err
			})
		return some, fail("read what was forgotten", err)
	}
	last := ""
	return merge(e, read, func(g *Tombstone) string { return g.ID }, func(_ int, g *Tombstone) error {
		if g.ID == last || !e.want.Namespace(g.Namespace) {
			return nil
		}
		last = g.ID
		return e.fn(&memd.Record{Type: memd.TombstoneRecord, ID: g.ID, Namespace: g.Namespace, MemoryKey: g.MemoryKey,
			ContentHash: g.ContentHash, ForgottenAt: g.ForgottenAt})
	})
}

// merge calls fn with what read finds in each database, page by page, in the order of
// their ids.
func merge[T any](e *exporting, read func(i int, after string) ([]T, error), id func(*T) string, fn func(i int, item *T) error) error {
	pages := make([][]T, len(e.parts))
	after := make([]string, len(e.parts))
	done := make([]bool, len(e.parts))
	for {
		least := -1
		for i := range e.parts {
			if len(pages[i]) == 0 && !done[i] && e.conn(i) != nil {
				some, err := read(i, after[i])
				if err = e.bear(i, err); err != nil {
					return err
				}
				if done[i] = len(some) < exportedAtOnce; len(some) > 0 {
					after[i] = id(&some[len(some)-1])
				}
				pages[i] = some
			}
			if len(pages[i]) > 0 && (least < 0 || id(&pages[i][0]) < id(&pages[least][0])) {
				least = i
			}
		}
		if least < 0 {
			return nil
		}
		if err := e.ctx.Err(); err != nil {
			return err
		}
		if err := fn(least, &pages[least][0]); err != nil {
			return err
		}
		pages[least] = pages[least][1:]
	}
}
