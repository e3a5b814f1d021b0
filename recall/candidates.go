package recall

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"memd"
	"memd/store"
)

// searched are the tiers that candidates come from, by authority. A session's
// notes are few; all of them are scored.
var searched = [...]memd.Tier{memd.Long, memd.Short, memd.Archive}

// candidate is a row that holds a term of the query, with the most that its own
// relevance can be.
type candidate struct {
	store.Loc
	bound float64
}

// source yields the rows of a tier that hold a query's terms and pass scope and
// filter, the most promising first, at most maxScored.
type source struct {
	tier   memd.Tier
	bounds *bounds

	rest  []candidate        // that were not read, by bound
	cut   float64            // more are left in the indexes, whose bounds are no higher; 0: none
	loose []candidate        // that SQLite's index gave, by what they can be at most
	seen  map[store.Loc]bool // those that were read, visible or not
	read  int                // rows that were, and are visible
	want  int                // rows of a page

	lends   bool    // whether rows may lend each other relevance
	most    float64 // what no row's relevance exceeds
	matches int     // rows that were read and hold what they were found by
}

// newSource looks up where the rows of a tier are that hold any carrier.
func (p *plan) newSource(v *store.View, w *weighed, t memd.Tier, want int) (*source, error) {
	s := &source{tier: t, bounds: &bounds{w: w}, want: want, seen: map[store.Loc]bool{}}
	if p.vector.Of != nil {
		s.bounds.vector = weightVector
	}
	keep := keptFirst
	if want == everything {
		keep = math.MaxInt
	}
	err := s.fill(v, p, keep)
	s.most = s.next()
	return s, err
}

// fill looks up the candidates that were not read: of the indexes in memory about
// the first of them, as many as are to be kept.
func (s *source) fill(v *store.View, p *plan, keep int) error {
	if len(s.bounds.w.carriers) == 0 {
		return nil
	}
	best := &shortlist{keep: keep}
	rest, err := v.Shards(s.tier, func(shard *store.Shard) error {
		s.lends = s.lends || lends(s.tier) && shard.Grouped()
		s.bounds.of(shard, shard.Within(p.scope), best, func(row int, bound float64) {
			if l := shard.Loc(row); !s.seen[l] {
				best.add(candidate{l, bound})
			}
		})
		return nil
	})
	s.rest, s.cut = best.sorted()
	if err != nil || len(rest) == 0 {
		return err
	}
	s.lends = lends(s.tier)
	return s.ask(v, rest)
}

// ask looks in SQLite's own index of some databases, which says that a row
// holds a term and not how often.
func (s *source) ask(v *store.View, in []int) error {
	w := s.bounds.w
	weight := map[store.Loc]float64{}
	for _, i := range w.carriers {
		err := v.Postings(s.tier, in, w.terms[i].Match, func(l store.Loc) { weight[l] += w.weight[i] })
		if err != nil {
			return err
		}
	}
	s.loose = s.loose[:0]
	for l, held := range weight {
		if !s.seen[l] {
			s.loose = append(s.loose, candidate{l, s.bounds.loose(held)})
		}
	}
	slices.SortFunc(s.loose, candidate.compare)
	return nil
}

// compare puts the higher bound first.
func (c candidate) compare(other candidate) int { return cmp.Compare(other.bound, c.bound) }

// hidden is the highest bound of what is not in rest.
func (s *source) hidden() float64 {
	if len(s.loose) > 0 {
		return max(s.cut, s.loose[0].bound)
	}
	return s.cut
}

// ended reports whether no row is left, or as many were read as are to be.
func (s *source) ended() bool { return s.next() == 0 || s.read >= maxScored }

// next is the most that the relevance of an unread row can be, 0 for none left.
func (s *source) next() float64 {
	if len(s.rest) == 0 {
		return s.hidden()
	}
	return max(s.rest[0].bound, s.hidden())
}

// uncover brings what is hidden into rest, until the first of it has the highest
// bound of all. By their texts rows get the bounds that an index in memory gives
// them, so that neither which has been made nor when shows in the order.
func (s *source) uncover(v *store.View, p *plan) error {
	for {
		hidden := s.hidden()
		switch {
		case hidden == 0, len(s.rest) > 0 && s.rest[0].bound > hidden:
			return nil
		case hidden == s.cut:
			if err := s.fill(v, p, math.MaxInt); err != nil {
				return err
			}
			continue
		}
		n := min(looked, len(s.loose))
		at := make([]store.Loc, n)
		for i, c := range s.loose[:n] {
			at[i] = c.Loc
		}
		s.loose = s.loose[n:]
		err := v.Texts(s.tier, at, p.scope, func(l store.Loc, m *memd.Memory) {
			if bound, ok := s.bounds.ofText(m); ok {
				s.rest = append(s.rest, candidate{l, bound})
			}
		})
		if err != nil {
			return err
		}
		slices.SortFunc(s.rest, candidate.compare)
	}
}

// likely is how many of the next candidates a page may need, if most of them are
// visible: those that can score as much as the last row of it, and what lends.
func (s *source) likely() int {
	last := s.rest[min(s.want, len(s.rest))-1].bound / (1 + tiltMax)
	n := sort.Search(len(s.rest), func(i int) bool { return s.rest[i].bound < last })
	if s.lends {
		n = max(n, maxLenders-s.matches)
	}
	return min(max(n, leastRead), mostRead)
}

// more reads the visible ones among the next candidates, with their bounds. What
// is not visible makes room. Rows of equal bounds are not parted: where more are
// left than may be read, the newest are, by id, since neither the database nor
// the place in it may tell.
func (s *source) more(v *store.View, p *plan) (rows []memd.Memory, bounds []float64, err error) {
	if err := s.uncover(v, p); err != nil || len(s.rest) == 0 {
		return nil, nil, err
	}
	left := maxScored - s.read
	hidden := s.hidden()
	n := min(s.likely(), left, sort.Search(len(s.rest), func(i int) bool { return s.rest[i].bound <= hidden }))
	first, last := n, s.rest[n-1].bound
	for 0 < first && s.rest[first-1].bound == last {
		first--
	}
	for n < len(s.rest) && s.rest[n].bound == last {
		n++
	}
	taken := make([]store.Loc, n)
	for i, c := range s.rest[:n] {
		taken[i] = c.Loc
		s.seen[c.Loc] = true
	}
	whole := n
	if n > left {
		whole = first
	}
	rows, at, err := v.LoadAt(s.tier, taken[:whole], p.scope, p.filter)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range at {
		bounds = append(bounds, s.rest[i].bound)
	}
	s.rest = s.rest[n:]
	if whole < n {
		newest, err := v.LoadNewest(s.tier, taken[whole:], p.scope, p.filter, left-len(rows))
		if err != nil {
			return nil, nil, err
		}
		for range newest {
			bounds = append(bounds, last)
		}
		rows = append(rows, newest...)
	}
	s.read += len(rows)
	return rows, bounds, nil
}
