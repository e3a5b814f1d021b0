package recall

import (
	"container/heap"

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

// byBound is a heap of candidates, the most promising on top.
type byBound []candidate

func (h byBound) Len() int           { return len(h) }
func (h byBound) Less(i, j int) bool { return h[i].bound > h[j].bound }
func (h byBound) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byBound) Push(c any)        { *h = append(*h, c.(candidate)) }
func (h *byBound) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// source yields the rows of a tier that hold a query's terms and pass scope and
// filter, roughly the most relevant first, at most maxScored.
type source struct {
	tier memd.Tier
	rest byBound // candidates that were not read
	read int     // rows that were, and are visible
	step int     // how many to read next

	lends bool      // whether rows may lend each other relevance
	most  float64   // what no row's relevance exceeds
	own   []float64 // the relevance of those that were read
}

// newSource looks up where the rows of a tier are that hold any carrier.
func (p *plan) newSource(v *store.View, w *weighed, t memd.Tier) (*source, error) {
	s := &source{tier: t, step: firstRead}
	b := &bounds{w: w}
	if p.vector.Of != nil {
		b.vector = weightVector
	}
	if len(w.carriers) == 0 {
		return s, nil
	}
	rest, err := v.Shards(t, func(shard *store.Shard) error {
		s.lends = s.lends || lends(t) && shard.Grouped()
		b.of(shard, shard.Within(p.scope), func(row int, bound float64) {
			s.rest = append(s.rest, candidate{shard.Loc(row), bound})
		})
		return nil
	})
	if err == nil && len(rest) > 0 {
		s.lends = lends(t)
		err = s.ask(v, w, b, rest)
	}
	if s.lends {
		s.step += maxLenders
	}
	heap.Init(&s.rest)
	if len(s.rest) > 0 {
		s.most = s.rest[0].bound
	}
	return s, err
}

// ask looks in SQLite's own index of some databases, which says that a row
// holds a term and not how often.
func (s *source) ask(v *store.View, w *weighed, b *bounds, in []int) error {
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
		s.rest = append(s.rest, candidate{l, b.loose(held + missed)})
	}
	return nil
}

// ended reports whether no row is left, or as many were read as are to be.
func (s *source) ended() bool { return len(s.rest) == 0 || s.read >= maxScored }

// next is the most that the relevance of an unread row can be.
func (s *source) next() float64 { return s.rest[0].bound }

// more reads the visible ones among the next candidates. What is not visible
// makes room. Rows of equal bounds are not parted: where more are left than may
// be read, the newest are, by id, since neither the database nor the place in it
// may tell.
func (s *source) more(v *store.View, p *plan) ([]memd.Memory, error) {
	left := maxScored - s.read
	var taken []store.Loc
	equal := 0 // how many of the last taken have one bound
	for last := -1.0; len(s.rest) > 0 && (len(taken) < min(s.step, left) || s.rest[0].bound == last); {
		c := heap.Pop(&s.rest).(candidate)
		if c.bound != last {
			equal = 0
		}
		equal++
		last = c.bound
		taken = append(taken, c.Loc)
	}
	s.step = min(s.step+firstRead, maxScored)
	if len(taken) <= left {
		rows, err := v.Load(s.tier, taken, p.scope, p.filter)
		s.read += len(rows)
		return rows, err
	}
	rows, err := v.Load(s.tier, taken[:len(taken)-equal], p.scope, p.filter)
	if err != nil {
		return nil, err
	}
	newest, err := v.LoadNewest(s.tier, taken[len(taken)-equal:], p.scope, p.filter, left-len(rows))
	s.read += len(rows) + len(newest)
	return append(rows, newest...), err
}
