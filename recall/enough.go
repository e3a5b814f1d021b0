package recall

import (
	"math"

	"memd"
	"memd/store"
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

// pageOf are the first want of rows behind the plan's position, in order, and
// whether there are as many.
func (p *plan) pageOf(rows []*scored, want int) (page []*scored, full bool) {
	for _, s := range rows {
		if p.after == nil || p.after.before(s) {
			page = append(page, s)
		}
	}
	sortScored(page)
	return page[:min(len(page), want)], len(page) >= want
}

// demandOf is what an unread row must not score, for the first want of rows
// behind the plan's position to be right: with fewer it is all that there is.
func (p *plan) demandOf(rows []*scored, want int) float64 {
	page, full := p.pageOf(rows, want)
	if !full {
		return math.Inf(-1)
	}
	return page[want-1].score
}

// meets reports whether no unread row can score demand, nor change the score of
// a row that does.
func (s *source) meets(demand float64) bool {
	if s.ended() || demand > highest(s.tier, s.most)+s.borrowed() {
		return true
	}
	return demand > highest(s.tier, s.next()) && (!s.lends || s.matches >= maxLenders)
}

// meets reports whether all sources do.
func (r *ranking) meets(demand float64) bool {
	for _, s := range r.sources {
		if !s.meets(demand) {
			return false
		}
	}
	return true
}

// addTwins adds the rows of a page's contents in the namespaces of the request,
// and reports whether there are any that were not read. The one in a namespace
// named earlier takes the place of a row, however it scores. What is read to the
// end needs no look.
func (e *Engine) addTwins(v *store.View, p *plan, r *ranking, want int) (more bool, err error) {
	if len(p.scope.Namespaces) < 2 || want == everything {
		return false, nil
	}
	hashes := map[memd.Tier][]string{}
	page, _ := p.pageOf(r.rows, want)
	for _, s := range page {
		m := &s.memory
		if m.ContentHash != "" && p.place(m) > 0 && !r.twinned[m.ContentHash] {
			r.twinned[m.ContentHash] = true
			hashes[m.Tier] = append(hashes[m.Tier], m.ContentHash)
		}
	}
	for _, t := range searched {
		if len(hashes[t]) == 0 {
			continue
		}
		rows, err := v.Twins(t, hashes[t], p.scope, p.filter)
		if err != nil {
			return false, err
		}
		bounds := make([]float64, len(rows))
		for i := range rows {
			bounds[i] = r.boundOf(&rows[i])
		}
		added, err := e.score(v, p, r, rows, bounds)
		if err != nil {
			return false, err
		}
		more = more || len(added) > 0
	}
	return more, nil
}

// boundOf is the bound by which a source would yield a row.
func (r *ranking) boundOf(m *memd.Memory) float64 {
	for _, s := range r.sources {
		if s.tier == m.Tier {
			bound, _ := s.bounds.ofText(m)
			return bound
		}
	}
	return 0
}
