package recall

import (
	"memd"
	"memd/store"
)

// degrade names the databases that could not be read. That nothing was found
// then says nothing of what they hold.
func (e *Engine) degrade(v *store.View, answer *memd.Answer) error {
	names, err := v.Unavailable()
	answer.Degraded = append(answer.Degraded, names...)
	if len(names) > 0 && answer.EmptyReason != "" {
		answer.EmptyReason = memd.EmptyLegFailed
	}
	return err
}

// explain says why nothing was found, and with explain how many matching rows
// each filter removed.
func (e *Engine) explain(v *store.View, p *plan, r *ranking, answer *memd.Answer) error {
	if p.vector.Out {
		answer.Degraded = append(answer.Degraded, string(memd.MatchVector))
	}
	if p.chosen.out() {
		answer.Degraded = append(answer.Degraded, memd.DegradedSelector)
	}
	if r.failed != nil {
		answer.Degraded = append(answer.Degraded, string(memd.MatchKeyword))
		if len(answer.Results) == 0 {
			answer.EmptyReason = memd.EmptyLegFailed
		}
		return nil
	}
	if len(answer.Results) > 0 && !p.query.Explain {
		return nil
	}
	removed, err := removed(v, p, r)
	if err != nil {
		return err
	}
	if p.query.Explain {
		answer.Filtered = removed
	}
	switch {
	case len(answer.Results) > 0, p.after != nil:
	case len(removed) > 0:
		answer.EmptyReason = memd.EmptyAllFiltered
	default:
		answer.EmptyReason = memd.EmptyNoMatch
	}
	return nil
}

// removed counts the rows that hold the query's terms, or are near to it, and
// are not among the results, by what kept them out. Rows that the caller may not see under any
// request do not count.
func removed(v *store.View, p *plan, r *ranking) (map[string]int, error) {
	counts := map[string]int{}
	for reason, n := range r.notesOut {
		counts[reason] += n
	}
	if n := len(r.overridden); n > 0 {
		counts["overridden"] = n
	}
	if n := len(r.duplicates); n > 0 {
		counts["duplicate"] = n
	}
	counted := map[string]bool{} // ids: what holds a term may be near as well
	count := func(t memd.Tier, id, reason string) {
		if reason == "" && !p.tiers[t] {
			reason = "tier"
		}
		if reason != "" && !counted[id] {
			counts[reason]++
		}
		counted[id] = true
	}
	if match := r.terms.any(); match != "" {
		for _, t := range searched {
			err := v.Removed(t, match, p.scope, p.filter, p.caller, maxExamined, func(id, reason string) { count(t, id, reason) })
			if err != nil {
				return nil, err
			}
		}
	}
	if q := p.vector.Of; q != nil {
		if err := v.RemovedNear(*q, p.vector.Floor, p.scope, p.filter, p.caller, maxExamined, count); err != nil {
			return nil, err
		}
	}
	return counts, nil
}
