package recall

import (
	"cmp"
	"slices"

	"memd"
	"memd/store"
)

// searched are the tiers that candidates come from, by authority. A session's
// notes are few; all of them are scored.
var searched = [...]memd.Tier{memd.Long, memd.Short, memd.Archive}

// gather returns the rows of the wanted tiers that hold the query's terms and
// pass scope and filter: of each tier the heaviest, at most maxScored.
func (p *plan) gather(v *store.View, w *weighed) ([]memd.Memory, error) {
	var all []memd.Memory
	for _, t := range searched {
		if !p.tiers[t] {
			continue
		}
		ranked, err := rank(v, w, t)
		if err != nil {
			return nil, err
		}
		rows, err := p.heaviest(v, t, ranked)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// heaviest reads the first of a tier's ranked rows that pass scope and filter,
// at most maxScored. Scope comes before the cut: what is not visible makes
// room.
func (p *plan) heaviest(v *store.View, t memd.Tier, ranked []candidate) (all []memd.Memory, err error) {
	hidden := 0
	for len(ranked) > 0 && len(all) < maxScored {
		left := maxScored - len(all)
		rows, n, err := p.load(v, t, ranked, left, min(maxScored, max(left, hidden)))
		if len(rows) > left { // the cut falls among them
			rows, n, err = p.load(v, t, ranked, left, left)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		ranked = ranked[n:]
		hidden += n - len(rows)
	}
	return all, nil
}

// load reads the visible ones of the first n of ranked, as near to batch rows
// as it can without parting rows of equal weight. Where more than that weigh
// the same, it reads the newest left of them: by id, since neither the
// database nor the place in it may tell.
func (p *plan) load(v *store.View, t memd.Tier, ranked []candidate, left, batch int) (rows []memd.Memory, n int, err error) {
	n = min(batch, len(ranked))
	for 0 < n && n < len(ranked) && ranked[n-1].weight == ranked[n].weight {
		n--
	}
	if n > 0 {
		rows, err = v.Load(t, locs(ranked[:n]), p.scope, p.filter)
		return rows, n, err
	}
	for n < len(ranked) && ranked[n].weight == ranked[0].weight {
		n++
	}
	rows, err = v.LoadNewest(t, locs(ranked[:n]), p.scope, p.filter, left)
	return rows, n, err
}

// candidate is a row with the weight of the query's terms that it holds.
type candidate struct {
	store.Loc
	weight float64
}

// rank returns where the rows of a tier are that hold any carrier, whoever may
// see them, the heaviest first.
func rank(v *store.View, w *weighed, t memd.Tier) ([]candidate, error) {
	place := map[store.Loc]int{}
	var found []candidate
	visited := 0
	for _, i := range w.carriers { // rarest first, so that what a bound leaves out weighs least
		if visited += w.corpus.DF[i]; visited > maxVisited && len(found) > 0 {
			break
		}
		err := v.Postings(t, w.terms[i].Match, func(l store.Loc) {
			n, known := place[l]
			if !known {
				n = len(found)
				place[l] = n
				found = append(found, candidate{Loc: l})
			}
			found[n].weight += w.weight[i]
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	return found, nil
}

func locs(found []candidate) []store.Loc {
	locs := make([]store.Loc, len(found))
	for i, c := range found {
		locs[i] = c.Loc
	}
	return locs
}
