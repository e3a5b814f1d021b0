package recall

import (
	"math"
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
// filter, roughly the most relevant first, at most maxScored.
type source struct {
	tier memd.Tier
	rest []candidate        // that were not read, the most promising first
	cut  float64            // more are left, whose bounds are no higher; 0: none
	seen map[store.Loc]bool // those that were read, visible or not
	read int                // rows that were, and are visible
	want int                // rows of a page

	lends bool      // whether rows may lend each other relevance
	most  float64   // what no row's relevance exceeds
	own   []float64 // the relevance of those that were read
}

// newSource looks up where the rows of a tier are that hold any carrier.
func (p *plan) newSource(v *store.View, w *weighed, t memd.Tier, want int) (*source, error) {
	s := &source{tier: t, want: want, seen: map[store.Loc]bool{}}
	if err := s.fill(v, p, w, keptFirst); err != nil {
		return nil, err
	}
	if len(s.rest) > 0 {
		s.most = s.rest[0].bound
	}
	return s, nil
}

// fill looks up the candidates that were not read: about the first of them, as
// many as are to be kept.
func (s *source) fill(v *store.View, p *plan, w *weighed, keep int) error {
	best := &shortlist{keep: keep}
	if len(w.carriers) == 0 {
		return nil
	}
	b := &bounds{w: w}
	if p.vector.Of != nil {
		b.vector = weightVector
	}
	rest, err := v.Shards(s.tier, func(shard *store.Shard) error {
		s.lends = s.lends || lends(s.tier) && shard.Grouped()
		b.of(shard, shard.Within(p.scope), func(row int, bound float64) {
			if best.wants(bound) {
				s.offer(best, candidate{shard.Loc(row), bound})
			}
		})
		return nil
	})
	if err == nil && len(rest) > 0 {
		s.lends = lends(s.tier)
		err = s.ask(v, w, b, rest, best)
	}
	s.rest, s.cut = best.sorted()
	return err
}

// ask looks in SQLite's own index of some databases, which says that a row
// holds a term and not how often.
func (s *source) ask(v *store.View, w *weighed, b *bounds, in []int, best *shortlist) error {
	weight := map[store.Loc]float64{}
	visited, missed := 0, 0.0
	for _, i := range w.carriers { // rarest first, so that what the limit leaves out weighs least
		if visited > maxVisited {
			missed += w.weight[i]
			continue
		}
		err := v.Postings(s.tier, in, w.terms[i].Match, func(l store.Loc) {
			visited++
			weight[l] += w.weight[i]
		})
		if err != nil {
			return err
		}
	}
	for l, held := range weight {
		if bound := b.loose(held + missed); best.wants(bound) {
			s.offer(best, candidate{l, bound})
		}
	}
	return nil
}

func (s *source) offer(best *shortlist, c candidate) {
	if !s.seen[c.Loc] {
		best.add(c)
	}
}

// ended reports whether no row is left, or as many were read as are to be.
func (s *source) ended() bool { return len(s.rest) == 0 && s.cut == 0 || s.read >= maxScored }

// next is the most that the relevance of an unread row can be.
func (s *source) next() float64 {
	if len(s.rest) == 0 {
		return s.cut
	}
	return s.rest[0].bound
}

// likely is how many of the next candidates a page may need, if most of them are
// visible: those that can score as much as the last row of it, and what lends.
func (s *source) likely() int {
	last := s.rest[min(s.want, len(s.rest))-1].bound / (1 + tiltMax)
	n := sort.Search(len(s.rest), func(i int) bool { return s.rest[i].bound < last })
	if s.lends {
		n = max(n, maxLenders-len(s.own)+1)
	}
	return min(max(n, leastRead), mostRead)
}

// more reads the visible ones among the next candidates. What is not visible
// makes room. Rows of equal bounds are not parted: where more are left than may
// be read, the newest are, by id, since neither the database nor the place in it
// may tell.
func (s *source) more(v *store.View, p *plan, w *weighed) ([]memd.Memory, error) {
	if len(s.rest) == 0 {
		if err := s.fill(v, p, w, math.MaxInt); err != nil {
			return nil, err
		}
	}
	left := maxScored - s.read
	n := min(s.likely(), left, len(s.rest))
	first := n // of those with the bound of the last
	for 0 < first && s.rest[first-1].bound == s.rest[n-1].bound {
		first--
	}
	for n < len(s.rest) && s.rest[n].bound == s.rest[n-1].bound {
		n++
	}
	taken := make([]store.Loc, n)
	for i, c := range s.rest[:n] {
		taken[i] = c.Loc
		s.seen[c.Loc] = true
	}
	s.rest = s.rest[n:]
	if n <= left {
		rows, err := v.Load(s.tier, taken, p.scope, p.filter)
		s.read += len(rows)
		return rows, err
	}
	rows, err := v.Load(s.tier, taken[:first], p.scope, p.filter)
	if err != nil {
		return nil, err
	}
	newest, err := v.LoadNewest(s.tier, taken[first:], p.scope, p.filter, left-len(rows))
	s.read += len(rows) + len(newest)
	return append(rows, newest...), err
}
