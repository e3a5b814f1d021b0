package recall

import (
	"math"

	"memd"
)

// The rows of a tier are read by what their relevance can be at most, and no
// further than the page that is asked for needs: an unread row must not be able
// to score as much as the last row of it. What is lent and what is set aside
// depends on rows further down; the rules here say how far.

// lends are the tiers whose rows lend each other relevance.
func lends(t memd.Tier) bool { return t == memd.Short || t == memd.Archive }

// borrowed is the most that a row borrows.
func (s *source) borrowed() float64 {
	if !s.lends {
		return 0
	}
	return (lendNext + lendSession) * s.most
}

// demand is what an unread row must not reach, for a page to be right.
type demand struct {
	score float64 // of the last row of the page
	text  float64 // relevance by text of a row of the page, the least, where twins matter
}

// demandOf is that of the first want of rows behind the plan's position; with
// fewer it is all that there is.
func (p *plan) demandOf(rows []*scored, want int) demand {
	all := demand{score: math.Inf(-1), text: math.Inf(1)}
	behind := make([]*scored, 0, len(rows))
	for _, s := range rows {
		if p.after == nil || p.after.before(s) {
			behind = append(behind, s)
		}
	}
	if want > len(behind) {
		return all
	}
	sortScored(behind)
	d := demand{score: behind[want-1].score, text: math.Inf(1)}
	// Over several namespaces the twin of a row, of the same content in one named
	// earlier, takes its place, however it scores. By its text it is as relevant.
	if len(p.scope.Namespaces) > 1 {
		for _, s := range behind[:want] {
			if s.memory.Tier != memd.Transient {
				d.text = min(d.text, s.parts.Keyword)
			}
		}
	}
	return d
}

// meets reports whether no unread row can reach d, nor change the score of a
// row that does.
func (s *source) meets(d demand) bool {
	if s.ended() || d.score > highest(s.tier, s.most)+s.borrowed() {
		return true
	}
	next := s.next()
	return d.score > highest(s.tier, next) && next < d.text && (!s.lends || s.lenders() >= maxLenders)
}

// lenders is how many rows were read that are more relevant than any unread.
func (s *source) lenders() (n int) {
	next := s.next()
	for _, own := range s.own {
		if own > next {
			n++
		}
	}
	return n
}

// meets reports whether all sources do.
func (r *ranking) meets(d demand) bool {
	for _, s := range r.sources {
		if !s.meets(d) {
			return false
		}
	}
	return true
}
