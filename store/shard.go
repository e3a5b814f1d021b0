package store

import (
	"math"
	"slices"

	"memd"
	"memd/store/segment"
)

// maxCatchUp is how many rows a View looks at to have an index cover what it
// reads; where more are missing, SQLite's own index answers meanwhile.
const maxCatchUp = 256

// Shard is a part of the keyword index in memory: rows of one tier of one
// database, by number. It is good only within the call that it was given to.
type Shard struct {
	part  int
	layer *layer
	rows  *segment.Rows
	last  int64 // rows of a higher rid came after what the View reads
}

// Len is above the number of every row.
func (s *Shard) Len() int { return s.rows.Len() }

// Postings are the rows that hold a term, as terms.Term.Text has it. Not all of
// them need be Live.
func (s *Shard) Postings(term string) segment.Postings { return s.layer.Postings(term) }

// Live reports whether the View reads a row.
func (s *Shard) Live(row int) bool {
	return !s.layer.isGone(row) && s.rows.RID(row) <= s.last
}

// Loc is where a row is.
func (s *Shard) Loc(row int) Loc { return Loc{Part: s.part, RID: s.rows.RID(row)} }

// Chars are the code points of a row's summary.
func (s *Shard) Chars(row int) int { return s.rows.Chars(row) }

// Unspaced reports whether a row's summary is mostly of a script without spaces.
func (s *Shard) Unspaced(row int) bool { return s.rows.Unspaced(row) }

// Grouped reports whether any row belongs to a session.
func (s *Shard) Grouped() bool { return s.rows.Grouped() }

// Within returns a check of whether the View reads a row and its namespace is in
// scope; nil where that is so of all.
func (s *Shard) Within(scope Scope) func(row int) bool {
	names := s.rows.Namespaces()
	in := make([]bool, len(names))
	all := s.whole()
	for i, name := range names {
		in[i] = scope.All || slices.Contains(scope.Namespaces, name)
		all = all && in[i]
	}
	if all {
		return nil
	}
	return func(row int) bool { return in[s.rows.NamespaceOf(row)] && s.Live(row) }
}

// whole reports whether every row is Live.
func (s *Shard) whole() bool { return s.layer.moved == 0 && s.last == math.MaxInt64 }

// docFreq is how many of the rows that the View reads hold a term.
func (s *Shard) docFreq(term string) int {
	if s.whole() {
		return s.layer.DF(term)
	}
	n := 0
	for p := s.Postings(term); ; {
		row, _, _, ok := p.Next()
		if !ok {
			return n
		}
		if s.Live(row) {
			n++
		}
	}
}

// Shards calls fn with the shards of tier t of every database whose index in
// memory covers what the View reads. The others it returns, for Postings.
func (v *View) Shards(t memd.Tier, fn func(*Shard) error) (rest []int, err error) {
	n := slices.Index(indexed[:], t)
	err = v.each(func(i int, c *conn) error {
		e, err := v.extent(i, c)
		if err != nil || !e.has(t) {
			return err
		}
		ok, err := v.within(i, c, func(x *index) error { return x.tiers[n].shards(i, e.last[n], fn) })
		if !ok && err == nil {
			rest = append(rest, i)
		}
		return err
	})
	return rest, err
}

// shards calls fn with each layer that has rows.
func (x *tierIndex) shards(part int, last int64, fn func(*Shard) error) error {
	if x.last <= last {
		last = math.MaxInt64
	}
	for n := range x.layers {
		l := &x.layers[n]
		if l.Rows().Len() == 0 {
			continue
		}
		if err := fn(&Shard{part, l, l.Rows(), last}); err != nil {
			return err
		}
	}
	return nil
}

// within calls fn with the index of a database, held so that it stays as it is,
// if it covers what the View reads or can be brought to in little time.
func (v *View) within(i int, c *conn, fn func(*index) error) (ok bool, err error) {
	if v.indexer == nil || v.parts[i].unready.Load() {
		return false, nil
	}
	x := v.parts[i].index.Load()
	if x == nil {
		v.indexer.wake()
		return false, nil
	}
	e, err := v.extent(i, c)
	if err != nil {
		return false, err
	}
	x.mu.RLock()
	if !x.covers(e) {
		behind := x.behind(e)
		x.mu.RUnlock()
		if behind > maxCatchUp {
			v.indexer.wake()
			return false, nil
		}
		if err := x.catchUp(v.ctx, c, e); err != nil {
			return false, err
		}
		if x.overgrown() {
			v.indexer.wake()
		}
		x.mu.RLock()
	}
	defer x.mu.RUnlock()
	if !x.covers(e) { // another View was quicker, and reads later
		return false, nil
	}
	return true, fn(x)
}
