package store

import (
	"context"
	"database/sql"
	"maps"
	"sync"

	"memd"
)

// fillRows bounds how many rows one Fill looks at.
const fillRows = 256

// vectorRowBytes is what a vector takes in a file beside its numbers, roughly.
const vectorRowBytes = 128

// maxID is above every id.
const maxID = "\U0010FFFF"

// filling is how far the databases have been looked through for rows without a
// vector of the embedder's model: each once, those that come later as well.
// Rows whose vectors a budget drops after that are so left alone.
type filling struct {
	mu sync.Mutex
	scan
}

// scan is a place in the databases.
type scan struct {
	done  map[string]bool // files, "" for the active database
	file  string          // under way
	tier  int             // of indexed
	below string          // ids, newest first
}

// lacking is a row without a vector of the embedder's model.
type lacking struct {
	id, namespace, key string
	version            int
	created            string
	other              bool // it has one of another model, no shorter, which stays until it is replaced
}

// Fill queues some of the rows that have no vector of the embedder's model:
// those that were written without an embedder, under another one, or whose
// place in the outbox was lost. It goes from the newest database to the oldest,
// and stops short of the budgets, so that no memory goes for a vector and none
// is made only to be dropped.
func (s *Set) Fill(ctx context.Context) (more bool, err error) {
	if !s.outbox.set {
		return false, nil
	}
	f := &s.outbox.fill
	f.mu.Lock()
	defer f.mu.Unlock()
	var rows []lacking
	next := f.scan
	next.done = maps.Clone(next.done)
	err = s.View(ctx, func(v *View) error {
		i := next.next(v)
		if i < 0 {
			return nil
		}
		more = true
		next.advance(v.parts[i].file)
		if rows, err = next.look(v, i, s.outbox.space, s.Now()); err != nil || len(rows) == 0 {
			return err
		}
		left, err := s.vectorRoom(v, i)
		if err != nil {
			return err
		}
		fits := rows[:0]
		for _, r := range rows {
			if !r.other {
				if left <= 0 {
					continue
				}
				left--
			}
			fits = append(fits, r)
		}
		rows = fits
		return nil
	})
	if err != nil || !more {
		return false, err
	}
	if len(rows) > 0 {
		err = s.Update(ctx, func(tx *Tx) error {
			for _, r := range rows {
				// By their age, so that what is written now goes first.
				if _, err := tx.conn.exec(tx.ctx, `INSERT OR IGNORE INTO outbox (memory_id, queued_at) VALUES (?, ?)`, r.id, r.created); err != nil {
					return fail("queue a row for its vector", err)
				}
			}
			return nil
		})
	}
	if err == nil {
		f.scan = next
	}
	return more, err
}

// next is the newest database that is not done, -1 for none.
func (f *scan) next(v *View) int {
	for i, p := range v.parts {
		if !f.done[p.file] {
			return i
		}
	}
	return -1
}

// advance goes on with a file, from its start if it is another than before.
func (f *scan) advance(file string) {
	if f.done == nil {
		f.done = map[string]bool{}
	}
	if file != f.file || f.below == "" {
		f.file, f.tier, f.below = file, 0, maxID
	}
}

// look returns the rows that lack a vector among the next of one database.
func (f *scan) look(v *View, i int, want space, now memd.Time) (found []lacking, err error) {
	c, t := v.conn(i), indexed[f.tier]
	if c == nil { // another start finds it
		f.done[f.file] = true
		return nil, nil
	}
	seen := 0
	var all []lacking
	err = c.each(v.ctx, on(t, `SELECT r.id, r.namespace, r.memory_key, r.version, r.created_at, coalesce(e.dim >= ?2, 0),
 coalesce(e.model = ?1 AND e.dim = ?2, 0), r.memory_key IS NOT NULL AND coalesce(r.expires_at <= ?5, 0)
 FROM (SELECT id, namespace, memory_key, version, created_at, expires_at FROM {t} WHERE id < ?3 ORDER BY id DESC LIMIT ?4) r
 LEFT JOIN embedding e ON e.memory_id = r.id`), []any{want.model, want.dim, f.below, fillRows, now.String()}, func(rows *sql.Rows) error {
		var r lacking
		var has, over bool
		err := rows.Scan(&r.id, &r.namespace, nullText{&r.key}, number{&r.version}, &r.created, &r.other, &has, &over)
		if seen++; seen == 1 || r.id < f.below {
			f.below = r.id
		}
		if !has && !over { // nor is one that has expired and is kept
			all = append(all, r)
		}
		return err
	})
	if err != nil {
		return nil, fail("look for rows without a vector", v.parts[i].failed(err))
	}
	if seen < fillRows {
		f.below = maxID
		if f.tier++; f.tier == len(indexed) {
			f.tier, f.done[f.file] = 0, true
		}
	}
	for _, r := range all {
		ok, err := v.stands(i, r.id)
		if ok && r.key != "" { // a superseded version is found by nobody
			ok, err = Candidate{ID: r.id, File: v.parts[i].file, Tier: t, Namespace: r.namespace, Key: r.key, Version: r.version}.current(v)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, r)
		}
	}
	return found, nil
}

// vectorRoom is how many more vectors a database may get: within their own
// budgets, and in a historical one without pressing rows out. What waits counts
// as if it were there.
func (s *Set) vectorRoom(v *View, i int) (int64, error) {
	var rows, bytes, waits, stored int64
	if err := v.active().row(v.ctx, countVectors, nil, &rows, &bytes); err != nil {
		return 0, fail("count vectors", err)
	}
	if err := v.active().row(v.ctx, `SELECT (SELECT count(*) FROM outbox), (SELECT coalesce(sum(bytes), 0) FROM history)`, nil, &waits, &stored); err != nil {
		return 0, fail("count vectors", err)
	}
	dim := int64(s.outbox.space.dim)
	left := min(int64(s.budgets.EmbeddingRows)-rows, (s.budgets.EmbeddingBytes-bytes)/dim) - waits
	if v.parts[i].file != "" {
		// The next rollover adds a file.
		left = min(left, (s.budgets.StoreBytes-stored-s.budgets.ActiveBytes)/(dim+dim/8+vectorRowBytes)-waits)
	}
	return left, nil
}
