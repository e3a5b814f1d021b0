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
		// Scope comes before the cut: what is not visible makes room.
		for left := maxScored; left > 0 && len(ranked) > 0; {
			n := min(len(ranked), maxScored)
			rows, err := v.Load(t, ranked[:n], p.scope, p.filter)
			if err != nil {
				return nil, err
			}
			ranked = ranked[n:]
			rows = rows[:min(len(rows), left)]
			left -= len(rows)
			all = append(all, rows...)
		}
	}
	return all, nil
}

// candidate is a row with the weight of the query's terms that it holds.
type candidate struct {
	store.Loc
	weight float64
}

// rank returns where the rows of a tier are that hold any carrier, whoever may
// see them, the heaviest first.
func rank(v *store.View, w *weighed, t memd.Tier) ([]store.Loc, error) {
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
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.Part, b.Part), cmp.Compare(b.RID, a.RID))
	})
	locs := make([]store.Loc, len(found))
	for i, c := range found {
		locs[i] = c.Loc
	}
	return locs, nil
}
