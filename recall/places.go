package recall

import (
	"slices"

	"memd"
)

// A query of several sentences asks several things. One of them often has
// rarer words, and rows that hold a little of its words then outweigh the very
// rows that answer the others. So a row also counts by its place among those
// that answer a sentence: the best of each stand level.

// sentences is how much of each sentence of a query of several a text of so many
// code points answers, as answers tells it of the whole.
func (w *weighed) sentences(tf []int, chars int, mass float64) []float64 {
	if len(w.clauses) == 0 {
		return nil
	}
	shares := make([]float64, len(w.clauses))
	norm := w.norm(chars)
	for c, clause := range w.clauses {
		for _, i := range clause {
			shares[c] += w.weight[i] * saturated(tf[i], norm)
		}
		shares[c] /= max(w.clauseMass[c], clauseLeast*mass)
	}
	return shares
}

// stand makes the rows of a query of several sentences count by their places. A
// session's notes have one among those of the other rows, and lead nobody.
func (r *ranking) stand(p *plan) {
	if len(p.clauses) == 0 {
		return
	}
	p.lead(r.found)
	for _, s := range r.found {
		s.stand(p, r.terms)
	}
}

// lead takes down how well the first rows answer each sentence. A cursor
// carries it, so that what is written between two pages moves nothing.
func (p *plan) lead(rows []*scored) {
	if p.leads != nil {
		return
	}
	p.leads = make([][]float64, len(p.clauses))
	for c := range p.leads {
		var shares []float64
		for _, s := range rows {
			if s.memory.Tier != memd.Transient && s.answers != nil && s.answers[c] > 0 {
				shares = append(shares, s.answers[c])
			}
		}
		slices.Sort(shares)
		slices.Reverse(shares)
		p.leads[c] = shares[:min(len(shares), places)]
	}
}

// stand makes a row count by its place for the sentence that it answers best.
func (s *scored) stand(p *plan, w *weighed) {
	if s.answers == nil {
		return
	}
	best := 0.0
	for c, share := range s.answers {
		best = max(best, standing(p.leads[c], share)*min(1, w.clauseMass[c]/(clauseLeast*(w.mass+w.stopMass))))
	}
	s.parts.Keyword = (1-placeWeighs)*s.parts.Keyword + placeWeighs*weightKeyword*best
	s.total(p.hour)
}

// standing is what a place counts: 1 for the first, then 2/3, 1/2, 2/5. Equal
// shares stand level.
func standing(leads []float64, share float64) float64 {
	ahead := 0
	for ahead < len(leads) && leads[ahead] > share {
		ahead++
	}
	if share == 0 || ahead == places {
		return 0
	}
	return 2 / float64(2+ahead)
}
