package recall

import (
	"cmp"
	"maps"
	"slices"

	"memd"
	"memd/store"
	"memd/tiers"
)

// reach is how many rows on either side of a match enter with it; the nearest
// two also borrow from it.
const reach = 5

// lending is a tier's lenders, the most relevant first, and what they lend.
type lending struct {
	tier  memd.Tier
	rows  []*scored
	loans loans
}

// lend lets the rows of a session share their relevance: what was said just
// before and after a match often belongs to it. Lenders and borrowers are the
// first matches of a tier by bound, those that have a session: the bound is nearly
// the relevance, and is known before a row is read.
func (r *ranking) lend(v *store.View) ([]lending, error) {
	var all []lending
	for _, t := range searched {
		if !lends(t) {
			continue
		}
		var rows []*scored
		for _, s := range r.found {
			if s.memory.Tier == t {
				rows = append(rows, s)
				s.parts.Neighbour = 0
				s.score = s.parts.Sum()
			}
		}
		slices.SortFunc(rows, byBound)
		rows = slices.DeleteFunc(rows[:min(len(rows), maxLenders)], func(s *scored) bool { return s.memory.SessionID == "" })
		if len(rows) == 0 {
			continue
		}
		if err := r.lookBeside(v, t, rows); err != nil {
			return nil, err
		}
		l := newLoans(rows)
		for _, s := range rows {
			s.parts.Neighbour = l.to(&s.memory, r.beside[s.memory.ID])
			s.score = s.parts.Sum()
		}
		all = append(all, lending{t, rows, l})
	}
	return all, nil
}

// lookBeside looks up the rows next to those of a tier, each once.
func (r *ranking) lookBeside(v *store.View, t memd.Tier, rows []*scored) error {
	var unknown []memd.Memory
	for _, s := range rows {
		if _, known := r.beside[s.memory.ID]; !known {
			unknown = append(unknown, s.memory)
			r.beside[s.memory.ID] = store.Beside{}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := v.Beside(t, unknown, reach)
	maps.Copy(r.beside, found)
	return err
}

// enterAll returns the neighbours of the first lenders of each tier that match
// nothing themselves. They stand below all that do.
func (e *Engine) enterAll(v *store.View, p *plan, r *ranking, all []lending) ([]*scored, error) {
	matches := make(map[string]bool, len(r.found))
	for _, s := range r.found {
		matches[s.memory.ID] = true
	}
	var entered []*scored
	for _, l := range all {
		rows, err := e.enter(v, p, r, l, matches)
		if err != nil {
			return nil, err
		}
		entered = append(entered, rows...)
	}
	return entered, nil
}

// byBound sorts by bound, then by relevance of its own, then as order does.
func byBound(a, b *scored) int {
	if c := cmp.Or(cmp.Compare(b.bound, a.bound), cmp.Compare(b.own, a.own)); c != 0 {
		return c
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

// enter is enterAll for one tier.
func (e *Engine) enter(v *store.View, p *plan, r *ranking, l lending, matches map[string]bool) ([]*scored, error) {
	around := map[string]store.Beside{} // lenders, seen from each neighbour
	var ids []string
	for _, s := range l.rows[:min(len(l.rows), maxLent)] {
		id := s.memory.ID
		for i, n := range r.beside[id].Before { // which the lender comes after
			a := around[n]
			a.After = atPlace(a.After, i, id)
			around[n] = a
		}
		for i, n := range r.beside[id].After {
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
	rows, err := v.LoadIDs(l.tier, ids, p.scope, p.filter)
	if err != nil {
		return nil, err
	}
	var entered []*scored
	for i := range rows {
		m := &rows[i]
		if _, matches := r.terms.score(m, 0, e.store.Budgets(), p.hour); matches { // one that was not read
			continue
		}
		s := &scored{memory: *m, matched: []memd.Match{memd.MatchNeighbour}}
		tiers.Present(&s.memory, e.store.Budgets(), p.hour)
		s.parts = memd.Breakdown{Authority: bandNeighbour, Neighbour: l.loans.to(m, around[m.ID])}
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
