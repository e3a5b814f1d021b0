package recall

import (
	"slices"

	"memd"
	"memd/store"
	"memd/tiers"
)

// reach is how many rows on either side of a match enter with it; the nearest
// two also borrow from it.
const reach = 5

// lend lets the rows of a session share their relevance: what was said just
// before and after a match often belongs to it. Lenders and borrowers are the
// most relevant matches of a tier; the neighbours of the first of them enter
// without a match of their own, below all that have one.
func (e *Engine) lend(v *store.View, p *plan, r *ranking) error {
	for _, t := range []memd.Tier{memd.Short, memd.Archive} {
		var lenders []*scored
		matches := map[string]bool{}
		for _, s := range r.rows {
			matches[s.memory.ID] = true
			if s.memory.Tier == t && s.memory.SessionID != "" {
				lenders = append(lenders, s)
			}
		}
		if len(lenders) == 0 {
			continue
		}
		slices.SortFunc(lenders, byOwn)
		lenders = lenders[:min(len(lenders), maxLenders)]
		rows := make([]memd.Memory, len(lenders))
		for i, s := range lenders {
			rows[i] = s.memory
		}
		beside, err := v.Beside(t, rows, reach)
		if err != nil {
			return err
		}
		l := newLoans(lenders)
		for _, s := range lenders {
			s.parts.Neighbour = l.to(&s.memory, beside[s.memory.ID])
			s.score = s.parts.Sum()
		}
		entered, err := e.enter(v, p, t, lenders[:min(len(lenders), maxLent)], beside, l, matches)
		if err != nil {
			return err
		}
		r.rows = append(r.rows, entered...)
	}
	return nil
}

// byOwn sorts by relevance of its own, then as order does.
func byOwn(a, b *scored) int {
	switch {
	case a.own > b.own:
		return -1
	case a.own < b.own:
		return 1
	}
	return order(&scored{memory: a.memory}, &scored{memory: b.memory})
}

// loans is what the rows of a tier have to lend.
type loans struct {
	own  map[string]float64     // by id
	best map[sessionKey]float64 // of each session
}

type sessionKey struct{ namespace, session string }

func sessionOf(m *memd.Memory) sessionKey { return sessionKey{m.Namespace, m.SessionID} }

func newLoans(lenders []*scored) loans {
	l := loans{own: make(map[string]float64, len(lenders)), best: map[sessionKey]float64{}}
	for _, s := range lenders {
		l.own[s.memory.ID] = s.own
		l.best[sessionOf(&s.memory)] = max(l.best[sessionOf(&s.memory)], s.own)
	}
	return l
}

// to is what a row borrows.
func (l loans) to(m *memd.Memory, b store.Beside) float64 {
	lent := 0.0
	for _, side := range [][]string{b.Before, b.After} {
		for i, id := range side {
			switch i {
			case 0:
				lent = max(lent, lendNext*l.own[id])
			case 1:
				lent = max(lent, lendBeyond*l.own[id])
			}
		}
	}
	return lent + lendSession*l.best[sessionOf(m)]
}

// enter returns the neighbours of lenders that hold no term of the query
// themselves.
func (e *Engine) enter(v *store.View, p *plan, t memd.Tier, lenders []*scored, beside map[string]store.Beside, l loans, matches map[string]bool) ([]*scored, error) {
	around := map[string]store.Beside{} // lenders, seen from each neighbour
	var ids []string
	for _, s := range lenders {
		id := s.memory.ID
		for i, n := range beside[id].Before { // which the lender comes after
			a := around[n]
			a.After = atPlace(a.After, i, id)
			around[n] = a
		}
		for i, n := range beside[id].After {
			a := around[n]
			a.Before = atPlace(a.Before, i, id)
			around[n] = a
		}
	}
	for id := range around {
		if !matches[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	rows, err := v.LoadIDs(t, ids, p.scope, p.filter)
	if err != nil {
		return nil, err
	}
	var entered []*scored
	for i := range rows {
		m := &rows[i]
		s := &scored{memory: *m, matched: []memd.Match{memd.MatchNeighbour}}
		tiers.Present(&s.memory, e.store.Budgets(), p.hour)
		s.parts = memd.Breakdown{Authority: bandNeighbour, Neighbour: l.to(m, around[m.ID])}
		s.score = s.parts.Sum()
		entered = append(entered, s)
	}
	return entered, nil
}

// atPlace puts id at a place of a list of the rows on one side; "" lends
// nothing.
func atPlace(ids []string, place int, id string) []string {
	for len(ids) <= place {
		ids = append(ids, "")
	}
	ids[place] = id
	return ids
}
