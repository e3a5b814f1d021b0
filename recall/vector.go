package recall

import (
	"context"
	"errors"
	"strings"
	"time"

	"memd"
	"memd/embedding"
	"memd/store"
)

// DefaultVectorTimeout is how long a query waits for its vector.
const DefaultVectorTimeout = 150 * time.Millisecond

// maxEmbedding is how many queries are with the embedder at a time, so that one
// that ignores its deadline cannot pile up work.
const maxEmbedding = 16

// space is an embedder with what its cosines mean.
type space struct {
	embedding.Embedder
	floor float64 // from which on a row is a match by its vector
}

// WithEmbedder adds the vector leg, with queries embedded by emb within timeout,
// 0 for the default. A nil emb means that there is none, and nothing is amiss.
// It is called before the Engine is used and returns it.
func (e *Engine) WithEmbedder(emb embedding.Embedder, timeout time.Duration) *Engine {
	if timeout <= 0 {
		timeout = DefaultVectorTimeout
	}
	e.space, e.timeout = space{emb, vectorFloor}, timeout
	e.embedding = make(chan struct{}, maxEmbedding)
	return e
}

// WithFloor sets the cosine from which on a row is a match by its vector, that of
// static tables otherwise. It is called like WithEmbedder, and after it.
func (e *Engine) WithFloor(floor float64) *Engine {
	e.space.floor = floor
	return e
}

// WithPrevious has queries embedded by the embedder of before until half of the
// rows' vectors are the present one's (store.Set.Renewed). A nil emb means that
// there is none. It is called like WithEmbedder.
func (e *Engine) WithPrevious(emb embedding.Embedder, floor float64) *Engine {
	e.previous = space{emb, floor}
	return e
}

// vectorQuery is a query's vector. A cursor carries it: an embedder may give
// another one the next time, or none.
type vectorQuery struct {
	Of    *store.Vector `json:"q,omitempty"` // nil: the query has none, or there is no embedder
	Floor float64       `json:"f,omitempty"` // of its space
	Out   bool          `json:"o,omitempty"` // whether the leg failed
}

var errUnasked = errors.New("the embedder is busy with earlier queries")

// embed asks for the vector of a plan's query. It never takes longer than the
// timeout, twice that while vectors are made anew; whatever fails leaves the leg out.
func (e *Engine) embed(ctx context.Context, p *plan) {
	if p.vector != nil { // a cursor's
		return
	}
	p.vector = &vectorQuery{}
	if e.space.Embedder == nil || strings.TrimSpace(p.query.Query) == "" {
		return
	}
	s, before := e.serving(ctx)
	v, err := e.ask(ctx, s, p.query.Query)
	if err != nil && before { // the one of before may be gone for good
		e.log.Warn("no vector for a query from the previous embedder", "error", err)
		s = e.space
		v, err = e.ask(ctx, s, p.query.Query)
	}
	if err != nil {
		e.log.Warn("no vector for a query", "error", err)
		p.vector.Out = true
		return
	}
	if v != nil {
		p.vector.Of, p.vector.Floor = &store.Vector{Model: s.Model(), Int8: embedding.Int8(v)}, s.floor
	}
}

// serving is the space that queries are embedded in: one for each query, since
// cosines of two say nothing beside each other; and whether it is the one of
// before.
func (e *Engine) serving(ctx context.Context) (s space, before bool) {
	if e.previous.Embedder == nil {
		return e.space, false
	}
	if renewed, err := e.store.Renewed(ctx); renewed || err != nil {
		return e.space, false
	}
	return e.previous, true
}

// ask calls an embedder and waits no longer than the timeout, even where it does
// not heed that.
func (e *Engine) ask(ctx context.Context, s space, text string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	select {
	case e.embedding <- struct{}{}:
	case <-ctx.Done():
		return nil, errUnasked
	}
	type answer struct {
		v   []float32
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		defer func() { <-e.embedding }()
		vectors, err := s.Embed(ctx, []string{text})
		if err == nil && len(vectors) != 1 {
			err = embedding.ErrLength
		}
		if err != nil {
			answered <- answer{err: err}
			return
		}
		if vectors[0] != nil {
			err = embedding.Check(vectors[0], s.Dim())
		}
		answered <- answer{vectors[0], err}
	}()
	select {
	case a := <-answered:
		return a.v, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// vectorFault is a failure of the vector leg.
type vectorFault struct{ err error }

func (f *vectorFault) Error() string { return "vector leg: " + f.err.Error() }

// addNear finds the rows that are a match by the query's vector.
func (e *Engine) addNear(v *store.View, p *plan, r *ranking) error {
	q := p.vector.Of
	if q == nil {
		return nil
	}
	for _, t := range searched {
		if !p.tiers[t] {
			continue
		}
		found, err := v.Nearest(t, *q, p.scope, p.filter, maxNear)
		if err != nil {
			return &vectorFault{err}
		}
		for _, n := range found {
			if n.Cosine < p.vector.Floor {
				continue
			}
			r.known[n.ID] = true
			if s, ok := r.terms.score(&n.Memory, n.Cosine, e.store.Budgets(), p.hour); ok {
				s.bound = s.own
				r.found = append(r.found, s)
			}
		}
	}
	return nil
}

// cosines measures rows, however far they are; by id, of those that have a
// vector.
func (p *plan) cosines(v *store.View, rows []memd.Memory) (map[string]float64, error) {
	q := p.vector.Of
	if q == nil {
		return nil, nil
	}
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	cosines, err := v.Cosines(*q, ids)
	if err != nil {
		return nil, &vectorFault{err}
	}
	return cosines, nil
}
