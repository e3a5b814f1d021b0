package store

import (
	"context"
	"errors"
)

// indexStep is how many rows are looked at in one View, so that no commit to a
// historical database waits long for it.
const indexStep = 250

// indexer is the goroutine that makes the keyword indexes in memory, and those
// anew that lost their place.
type indexer struct{ loop }

func (x *indexer) begin(ctx context.Context, s *Set) {
	ctx, x.stop = context.WithCancel(context.WithoutCancel(ctx))
	x.done = make(chan struct{})
	go func() {
		defer close(x.done)
		for {
			select {
			case <-x.calls:
			case <-ctx.Done():
				return
			}
			if err := s.Index(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errClosing) {
				s.log.Error("keyword index not made; sqlite's answers", "error", err)
			}
		}
	}()
}

// Index makes the keyword index in memory of every database that has none that
// covers it, the active one first, and returns when all have. Recall needs none:
// without it SQLite's own index answers, at several times the cost. The first
// search has it called, beside requests; who expects many may call it at once.
func (s *Set) Index(ctx context.Context) error {
	if s.noIndex {
		return nil
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	tried := map[*part]bool{}
	for {
		p, err := s.unindexed(ctx, tried)
		if err != nil || p == nil {
			return err
		}
		tried[p] = true
		if err := s.makeIndex(ctx, p); err != nil {
			return err
		}
	}
}

// unindexed is a database whose index does not cover it or is better made anew,
// nil if there is none but those tried.
func (s *Set) unindexed(ctx context.Context, tried map[*part]bool) (found *part, err error) {
	err = s.View(ctx, func(v *View) error {
		return v.each(func(i int, c *conn) error {
			p := v.parts[i]
			if found != nil || tried[p] || p.unready.Load() {
				return nil
			}
			e, err := v.extent(i, c)
			if err != nil {
				return err
			}
			if x := p.index.Load(); x == nil || x.stands(e) > 0 || x.overgrown() {
				found = p
			}
			return nil
		})
	})
	return found, err
}

// stands is behind, for one that does not hold the index.
func (x *index) stands(e *extent) int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.behind(e)
}

// makeIndex has the index of a database cover it: the one that it has goes on,
// where it can. It ends early if the database leaves the Set or cannot be read.
func (s *Set) makeIndex(ctx context.Context, p *part) error {
	x := p.index.Load()
	if x != nil && x.overgrown() {
		x = nil
	}
	for {
		state := indexHalted
		from := x.heeds() // before the View: what it reads is no older
		err := s.View(ctx, func(v *View) error {
			return v.only(p, func(i int, c *conn) error {
				e, err := v.extent(i, c)
				if err != nil {
					return err
				}
				if x == nil {
					x = newIndex(e)
				}
				state, err = x.step(v.ctx, c, e, from)
				return err
			})
		})
		switch {
		case err != nil || state == indexHalted:
			return err
		case state == indexLost:
			p.index.CompareAndSwap(x, nil)
			x = nil
		case state == indexMade:
			if p.index.Load() != x {
				if p.file != "" {
					x.freeze()
				}
				p.index.Store(x)
			}
			return nil
		}
	}
}

// indexState is how far a step has brought an index.
type indexState int

const (
	indexHalted indexState = iota // not at all: the database is not there
	indexBegun
	indexMade
	indexLost
)

// heeds is the last entry of moved that the index heeds; 0 for none.
func (x *index) heeds() int64 {
	if x == nil {
		return 0
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.seq
}

// step looks at some rows more, with a connection whose reading has the extent
// e. What the index heeded before that reading began, from, stands in it unless
// moved was emptied by hand; what it heeds since, a later View has seen.
func (x *index) step(ctx context.Context, c *conn, e *extent, from int64) (indexState, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if from > e.seq {
		x.lost = true
	}
	switch {
	case x.lost:
		return indexLost, nil
	case x.seq > e.seq:
		return indexBegun, nil
	}
	err := x.advance(ctx, c, e, indexStep)
	switch {
	case err != nil:
		return indexHalted, err
	case x.lost:
		return indexLost, nil
	case x.covers(e):
		return indexMade, nil
	}
	return indexBegun, nil
}

// overgrown reports whether so much moved that the index is better made anew.
func (x *index) overgrown() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.lost {
		return true
	}
	gone, rows := 0, 0
	for n := range x.tiers {
		for _, l := range x.tiers[n].layers {
			gone += l.moved
			rows += l.Rows().Len()
		}
	}
	return gone > 1000 && gone > rows/2
}

// IndexBytes is about how much memory the keyword indexes take.
func (s *Set) IndexBytes() (n int64) {
	s.views.RLock()
	defer s.views.RUnlock()
	for _, p := range s.parts() {
		if x := p.index.Load(); x != nil {
			n += x.bytes()
		}
	}
	return n
}

func (x *index) bytes() (n int64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, t := range x.tiers {
		for _, l := range t.layers {
			n += int64(l.Bytes())
		}
	}
	return n
}
