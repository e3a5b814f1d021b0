package recall

import (
	"context"

	"memd"
	"memd/store"
)

// Read limits, for tests that count.
const (
	MaxTerms  = maxTerms
	MaxScored = maxScored
)

// Bounds calls yield with each candidate of a query that is visible to c: the
// most that its relevance can be, and what it is with a vector of that cosine, 0
// for a query that has none.
func (e *Engine) Bounds(ctx context.Context, c memd.Caller, q memd.Query, cosine float64, yield func(m *memd.Memory, bound, own float64)) error {
	p, err := e.plan(c, q)
	if err != nil {
		return err
	}
	p.vector = &vectorQuery{}
	if cosine != 0 {
		p.vector.Of = &store.Vector{}
	}
	return e.store.View(ctx, func(v *store.View) error {
		r := &ranking{}
		if err := p.find(v, r, everything); err != nil {
			return err
		}
		for _, s := range r.sources {
			for _, candidate := range append(s.rest, s.loose...) {
				rows, err := v.Load(s.tier, []store.Loc{candidate.Loc}, p.scope, p.filter)
				if err != nil {
					return err
				}
				for i := range rows {
					if one, ok := r.terms.score(&rows[i], cosine, e.store.Budgets(), p.hour); ok {
						yield(&rows[i], candidate.bound, one.own)
					}
				}
			}
		}
		return nil
	})
}

// Read is how many rows of each tier a query read for its first page.
func (e *Engine) Read(ctx context.Context, c memd.Caller, q memd.Query) (read map[memd.Tier]int, terms int, err error) {
	p, err := e.plan(c, q)
	if err != nil {
		return nil, 0, err
	}
	e.embed(ctx, p)
	read = map[memd.Tier]int{}
	err = e.store.View(ctx, func(v *store.View) error {
		r, err := e.search(v, p, p.limit+1)
		if err != nil {
			return err
		}
		for _, s := range r.sources {
			read[s.tier] = s.read
		}
		return nil
	})
	return read, len(p.terms), err
}
