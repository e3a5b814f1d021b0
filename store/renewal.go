package store

import (
	"context"
	"database/sql"
	"strconv"
	"sync"
	"sync/atomic"
)

// Where meta has the model, and its dimension, whose vectors were the most when
// the embedder changed; the model is empty once most are the embedder's.
const (
	beforeName = "embedder_before"
	beforeDim  = "embedder_before_dim"
)

// renewal is how far the embedder's vectors have taken the place of others.
type renewal struct {
	done   atomic.Bool
	stored atomic.Int64 // vectors, since the store was opened

	mu   sync.Mutex
	next int64 // of stored, at which it is worth counting again
}

// Before is the model whose vectors were the most when the embedder changed, and
// its dimension; "" where most are the embedder's.
func (s *Set) Before() (model string, dim int) { return s.outbox.before.model, s.outbox.before.dim }

// Renewed reports whether at least half of all vectors are the embedder's. Once
// they are it stays so.
func (s *Set) Renewed(ctx context.Context) (bool, error) {
	r := &s.outbox.renewal
	if r.done.Load() || s.outbox.before.model == "" {
		return true, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	stored := r.stored.Load()
	if r.done.Load() || stored < r.next {
		return r.done.Load(), nil
	}
	counts, err := s.countSpaces(ctx)
	if err != nil {
		return false, err
	}
	// Each vector that is stored brings it nearer by one at most.
	left := lacks(counts, s.outbox.space)
	r.next = stored + left
	r.done.Store(left <= 0)
	return left <= 0, nil
}

// lacks is how many more vectors a space needs to have half of all.
func lacks(counts map[space]int64, own space) int64 {
	var all int64
	for _, n := range counts {
		all += n
	}
	return (all+1)/2 - counts[own]
}

// countSpaces counts the vectors of each space. It reads them all.
func (s *Set) countSpaces(ctx context.Context) (map[space]int64, error) {
	counts := map[space]int64{}
	err := s.View(ctx, func(v *View) error {
		return v.each(func(_ int, c *conn) error {
			return c.each(ctx, `SELECT model, dim, count(*) FROM embedding GROUP BY model, dim`, nil, func(rows *sql.Rows) error {
				var at space
				var n int64
				err := rows.Scan(&at.model, &at.dim, &n)
				counts[at] += n
				return err
			})
		})
	})
	return counts, fail("count vectors", err)
}

// findBefore finds, where the embedder changed, the space whose vectors are the
// most, and where it had changed before, whether it still serves. What is to be
// noted in meta it adds to changed.
func (s *Set) findBefore(ctx context.Context, isNew bool, have, changed map[string]string) error {
	if !s.outbox.set || !isNew && have[beforeName] == "" {
		return nil
	}
	counts, err := s.countSpaces(ctx)
	if err != nil {
		return err
	}
	var most space
	if lacks(counts, s.outbox.space) > 0 {
		for at, n := range counts {
			if m := counts[most]; at != s.outbox.space && (n > m || n == m && at.model < most.model) {
				most = at
			}
		}
	}
	s.outbox.before = most
	for key, value := range map[string]string{beforeName: most.model, beforeDim: strconv.Itoa(most.dim)} {
		if have[key] != value && (have[key] != "" || most.model != "") {
			changed[key] = value
		}
	}
	return nil
}
