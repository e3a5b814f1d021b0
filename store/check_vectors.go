package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// space is a model with a dimension: only vectors of one are compared.
type space struct {
	model string
	dim   int
}

// embedder is the space that the store's embedder makes, none where it has none.
func embedder(ctx context.Context, active *conn) (s space, set bool, err error) {
	for key, to := range map[string]any{"embedder": &s.model, "embedder_dim": &s.dim} {
		_, err := none(active.row(ctx, `SELECT value FROM meta WHERE key = ?`, []any{key}, to))
		if err != nil {
			return s, false, fail("read the embedder", err)
		}
	}
	return s, s.model != "" && s.model != "none", nil
}

func checkVectors(found *findings, c *census) error {
	vectors, err := c.vectors()
	if err != nil {
		return err
	}
	for _, p := range c.parts {
		bad := vectors.bad[p]
		for _, f := range bad[:min(told, len(bad))] {
			found.in(p)("bad_vector", mendable, "the vector of %s %s", f.id, f.why)
		}
	}
	for _, p := range c.parts {
		ids := vectors.strange[p]
		if len(ids) == 0 {
			continue
		}
		found.in(p)("mixed_models", mendable, "%d vectors of the embedder's model have another dimension", len(ids))
	}
	if !vectors.set && len(vectors.spaces) > 1 {
		found.all(c)("mixed_models", mendable+", once an embedder is set", "vectors are of %d models or dimensions", len(vectors.spaces))
	}
	return nil
}

// vectorFaults are the vectors that cannot be compared.
type vectorFaults struct {
	bad     map[*part][]badVector
	strange map[*part][]string // ids; of the embedder's model, of another dimension and not waiting for a new vector
	spaces  map[space]int
	set     bool // whether an embedder is set
}

type badVector struct{ id, why string }

// vectors reads the vector of every row. One of another model than the
// embedder's is no fault: the worker replaces it in time.
func (c *census) vectors() (*vectorFaults, error) {
	f := &vectorFaults{bad: map[*part][]badVector{}, strange: map[*part][]string{}, spaces: map[space]int{}}
	want, set, err := embedder(c.ctx, c.active)
	if err != nil {
		return nil, err
	}
	f.set = set
	waits := map[string]bool{}
	read := func(in *conn) error {
		return in.each(c.ctx, outboxIDs, nil, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			waits[id] = true
			return err
		})
	}
	if err := c.each(func(_ *part, in *conn) error { return fail("read the outbox", read(in)) }); err != nil {
		return nil, err
	}
	err = c.each(func(p *part, in *conn) error {
		return fail("read vectors", in.each(c.ctx, `SELECT memory_id, model, dim, vec, bits FROM embedding`, nil, func(rows *sql.Rows) error {
			var id string
			var s space
			var vec, bits sql.RawBytes
			if err := rows.Scan(&id, &s.model, &s.dim, &vec, &bits); err != nil {
				return err
			}
			if _, stands := c.at[id]; !stands {
				return nil
			}
			f.spaces[s]++
			if why := badness(vec, bits, s.dim); why != "" {
				f.bad[p] = append(f.bad[p], badVector{id, why})
			} else if set && s.model == want.model && s.dim != want.dim && !waits[id] {
				f.strange[p] = append(f.strange[p], id)
			}
			return nil
		}))
	})
	return f, err
}

// badness says what is wrong with the two forms of a vector of dim numbers, ""
// for nothing.
func badness(vec, bits []byte, dim int) string {
	switch {
	case len(vec) == 0:
		return "is empty"
	case len(vec) != dim:
		return fmt.Sprintf("has %d bytes, not %d", len(vec), dim)
	case len(bits) != (dim+7)/8:
		return fmt.Sprintf("has %d bytes of bits, not %d", len(bits), (dim+7)/8)
	case !slices.ContainsFunc(vec, func(b byte) bool { return b != 0 }):
		return "is zero"
	}
	for i, b := range vec {
		// A number that is small beside the largest is rounded to 0, and its
		// sign is then in the bits alone.
		if set := bits[i/8]>>(i%8)&1 == 1; int8(b) > 0 && !set || int8(b) < 0 && set {
			return "has bits that are not its signs"
		}
	}
	return ""
}
