package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"memd"
	"memd/embedding"
)

// How long rows stay away from whoever asks for rows that wait.
const (
	leaseTime   = 5 * time.Minute  // under way; also where a historical database is held by another program
	deferTime   = 15 * time.Minute // after an attempt that tells nothing of the text
	refusedTime = time.Minute      // after a vector was refused, doubled with each
	longestTime = time.Hour
)

// parkedAfter is how many refused attempts park a row: it keeps its place in
// the outbox, and nobody asks for it until its text or the model changes.
const parkedAfter = 5

// outbox tells the worker of rows that wait.
type outbox struct {
	space  space         // that the embedder makes
	set    bool          // whether there is an embedder, and a budget for vectors
	queued chan struct{} // holds one
	fill   filling

	before  space   // whose vectors were the most when the embedder changed, until most are its own
	renewal renewal // from the one to the other
}

func newOutbox(opts *Options) *outbox {
	o := &outbox{space: space{model: "none"}, queued: make(chan struct{}, 1)}
	if e := opts.Embedder; e != nil {
		o.space = space{e.Model(), e.Dim()}
		o.set = opts.Budgets.EmbeddingRows > 0 && opts.Budgets.EmbeddingBytes >= int64(e.Dim())
	}
	return o
}

// wake tells the worker. It never waits.
func (o *outbox) wake() {
	select {
	case o.queued <- struct{}{}:
	default:
	}
}

var _ embedding.Outbox = (*Set)(nil)

// Queued holds a value after a commit that had rows wait.
func (s *Set) Queued() <-chan struct{} { return s.outbox.queued }

// Queue puts a row into the outbox of those that wait for a vector.
func (tx *Tx) Queue(id string, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO outbox (memory_id, queued_at) VALUES (?, ?)`, id, at.String())
	tx.w.queued = true
	return fail("queue a row for its vector", err)
}

// want queues a row that was written, where there is an embedder.
func (tx *Tx) want(m *memd.Memory) error {
	if !tx.w.set.outbox.set || m.Tier == memd.Transient {
		return nil
	}
	return tx.Queue(m.ID, tx.w.set.Now())
}

// takeQueued has a row wait that the triggers of a historical database queued
// there, where nobody asks.
func (tx *Tx) takeQueued(c *conn, m *memd.Memory) error {
	n, err := c.exec(tx.ctx, `DELETE FROM outbox WHERE memory_id = ?`, m.ID)
	if n == 0 || err != nil {
		return fail("queue a row for its vector", err)
	}
	return tx.want(m)
}

// endLeases has rows that a process had leased wait again: this one owns the
// folder now. Another model than before takes up what the old one refused.
func (tx *Tx) endLeases(renew bool) error {
	_, err := tx.conn.exec(tx.ctx, `UPDATE outbox SET leased_until = NULL, attempts = CASE WHEN ?1 THEN 0 ELSE attempts END
 WHERE leased_until IS NOT NULL OR ?1 AND attempts > 0`, renew)
	return fail("end the leases of rows that wait for a vector", err)
}

// Lease takes up to n rows out of those that wait, the newest first, for
// whoever embeds them.
func (s *Set) Lease(ctx context.Context, n int) ([]embedding.Waiting, error) {
	if !s.outbox.set {
		return nil, nil
	}
	for {
		var ids []string
		var at map[string]spot
		var whole bool
		err := s.View(ctx, func(v *View) (err error) {
			ids, err = v.waiting(n, s.Now())
			if err == nil && len(ids) > 0 {
				at, whole, err = v.spots(ids)
			}
			return err
		})
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		until := memd.At(s.now().Add(leaseTime)).String()
		err = s.Update(ctx, func(tx *Tx) error {
			for _, id := range ids {
				query, args := `UPDATE outbox SET leased_until = ?2 WHERE memory_id = ?1`, []any{id, until}
				if _, ok := at[id]; !ok && whole { // a relic
					query, args = `DELETE FROM outbox WHERE memory_id = ?1`, []any{id}
				}
				if _, err := tx.conn.exec(tx.ctx, query, args...); err != nil {
					return fail("lease rows that wait for a vector", err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		var rows []embedding.Waiting
		for _, id := range ids {
			if p, ok := at[id]; ok {
				rows = append(rows, embedding.Waiting{ID: id, Text: p.text})
			}
		}
		if len(rows) > 0 {
			return rows, nil
		}
	}
}

// waiting are the ids of up to n rows that may be leased.
func (v *View) waiting(n int, now memd.Time) (ids []string, err error) {
	err = v.active().each(v.ctx, `SELECT memory_id FROM outbox WHERE attempts < ? AND (leased_until IS NULL OR leased_until <= ?)
 ORDER BY queued_at DESC, memory_id DESC LIMIT ?`, []any{parkedAfter, now.String(), n}, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, fail("read rows that wait for a vector", err)
}

// spot is where a row stands, and the text that its vector is of.
type spot struct {
	file string // "" for the active database
	tier memd.Tier
	text string
}

// spots looks rows up, and reports whether every database could be asked.
func (v *View) spots(ids []string) (at map[string]spot, whole bool, err error) {
	at = map[string]spot{}
	err = v.each(func(i int, c *conn) error {
		missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := at[id]; return ok })
		if len(missing) == 0 {
			return nil
		}
		for _, t := range indexed {
			var here []string
			err := c.each(v.ctx, on(t, `SELECT {t}.id, {t}.summary FROM json_each(?) w CROSS JOIN {t} ON {t}.id = w.value`),
				[]any{jsonList(missing)}, func(rows *sql.Rows) error {
					var id string
					p := spot{file: v.parts[i].file, tier: t}
					if err := rows.Scan(&id, &p.text); err != nil {
						return err
					}
					at[id] = p
					here = append(here, id)
					return nil
				})
			if err != nil {
				return fail("look for rows that wait for a vector", err)
			}
			for _, id := range here {
				ok, err := v.stands(i, id)
				if err != nil {
					return err
				}
				if !ok {
					delete(at, id)
				}
			}
		}
		return nil
	})
	return at, v.absent() == nil, err
}

// Deliver ends the lease of rows, and stores the vectors of those whose text is
// still the one that was leased: each where its row stands. Rows of a
// historical database that another program holds wait for the lease to end.
func (s *Set) Deliver(ctx context.Context, rows []embedding.Settled) error {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	var at map[string]spot
	err := s.View(ctx, func(v *View) (err error) {
		at, _, err = v.spots(ids)
		return err
	})
	if err != nil {
		return err
	}
	byFile := map[string][]embedding.Settled{}
	for _, r := range rows {
		file := ""
		if r.Outcome == embedding.Embedded {
			file = at[r.ID].file
		}
		byFile[file] = append(byFile[file], r)
	}
	for file, rows := range byFile {
		failed := s.Update(ctx, func(tx *Tx) error {
			for _, r := range rows {
				if err := tx.deliver(at[r.ID], r); err != nil {
					return err
				}
			}
			return nil
		})
		if failed != nil && (file == "" || memd.CodeOf(failed) != memd.CodeStoreBusy) {
			err = errors.Join(err, failed)
		}
	}
	if err == nil {
		err = s.trimIfOver(ctx)
	}
	return err
}

// deliver ends the lease of one row, that stood at p.
func (tx *Tx) deliver(p spot, r embedding.Settled) error {
	now := tx.w.set.now()
	until := func(d time.Duration) string { return memd.At(now.Add(d)).String() }
	query, args := `UPDATE outbox SET leased_until = NULL WHERE memory_id = ?`, []any{r.ID}
	switch r.Outcome {
	case embedding.Deferred:
		query, args = `UPDATE outbox SET leased_until = ?2 WHERE memory_id = ?1`, []any{r.ID, until(deferTime)}
	case embedding.Rejected:
		var attempts int
		err := tx.conn.row(tx.ctx, `SELECT attempts FROM outbox WHERE memory_id = ?`, []any{r.ID}, &attempts)
		if ok, err := none(err); !ok {
			return fail("read a row that waits for a vector", err)
		}
		query = `UPDATE outbox SET leased_until = ?2, attempts = attempts + 1 WHERE memory_id = ?1`
		args = []any{r.ID, until(min(refusedTime<<min(attempts, 10), longestTime))}
	case embedding.Wordless, embedding.Embedded:
		if same, err := tx.embedded(p, r); err != nil {
			return err
		} else if same {
			query = `DELETE FROM outbox WHERE memory_id = ?`
		}
	}
	_, err := tx.conn.exec(tx.ctx, query, args...)
	return fail("end the lease of a row that waits for a vector", err)
}

// embedded stores the vector of a row, if it has one and the row's text is the
// one that was embedded, which it reports.
func (tx *Tx) embedded(p spot, r embedding.Settled) (same bool, err error) {
	c, old := tx.conn, (*part)(nil)
	if p.tier == "" {
		return false, nil
	}
	if p.file != "" {
		if old = tx.w.part(p.file); old == nil {
			return false, nil
		}
		if c, err = old.own(tx.ctx); err != nil {
			return false, err
		}
	}
	err = c.row(tx.ctx, on(p.tier, `SELECT summary = ? FROM {t} WHERE id = ?`), []any{r.Text, r.ID}, &same)
	if ok, err := none(err); !ok || !same {
		return false, fail("read a row that waits for a vector", err)
	}
	if old != nil {
		if same, err = tx.found(old, r.ID); !same || err != nil {
			return false, err
		}
	}
	if r.Outcome == embedding.Wordless {
		return true, nil
	}
	if c, err = tx.home(r.ID); err != nil {
		return false, err
	}
	tx.w.set.outbox.renewal.stored.Add(1)
	v := vector{tx.w.set.outbox.space, embedding.Int8(r.Vector), embedding.Bits(r.Vector)}
	return true, fail("store a vector", tx.putVector(c, r.ID, v))
}

// trimIfOver has vectors beyond the budgets dropped once there are more of them
// than a batch or two.
func (s *Set) trimIfOver(ctx context.Context) error {
	const slack = 256
	var over int64
	err := s.View(ctx, func(v *View) (err error) {
		over, err = s.surplusVectors(ctx, v.active())
		return err
	})
	if over > slack {
		s.upkeep.makeRoom()
	}
	return err
}
