package recall

import (
	"cmp"
	"context"
	"slices"

	"memd"
	"memd/store"
	"memd/tiers"
)

// Gates of a context (contract section 6.7).
const (
	valuedImportance = 7   // a short row this important enters unasked
	valuedAccess     = 3   // or this often accessed
	latestShort      = 10  // short rows that enter when nothing is asked
	maxValued        = 200 // such rows that are considered
	maxSuperseded    = 200 // old versions that are listed as left out
	maxBelowFloor    = 200 // rows under the floor that are
	shortenedChars   = 800 // of a long row that does not fit whole
	maxContextChars  = 1e6 // bound of max_chars
	pinnedShare      = 0.5 // of max_chars for the long rows that enter unasked
)

var pinnedKinds = []memd.Kind{memd.Rule, memd.Preference, memd.User, memd.Feedback}

// Context assembles the memories a session should start from, within
// MaxChars code points: rules and preferences first whether or not the query
// matches them, then what is known on the query, then recent events of
// weight, then the session's own notes. What did not enter is named with its
// reason, and so is a database that could not be read: a rule may be missing.
func (e *Engine) Context(ctx context.Context, c memd.Caller, req memd.ContextRequest) (memd.Context, error) {
	max := memd.DefaultContextChars
	if req.MaxChars != nil {
		if max = *req.MaxChars; max < 1 || max > maxContextChars {
			return memd.Context{}, memd.FieldErrorf(memd.CodeInvalidRequest, "max_chars", "max_chars must be 1 to %d", int(maxContextChars))
		}
	}
	p, err := e.plan(c, memd.Query{Query: req.Query, Namespaces: req.Namespaces, Access: req.Access, SessionID: req.SessionID, Tools: req.Tools})
	if err != nil {
		return memd.Context{}, err
	}
	e.embed(ctx, p)
	if err := e.choose(ctx, p); err != nil {
		return memd.Context{}, err
	}
	a := newAssembly(max, e.fence, p.now)
	var unread []string
	err = e.store.View(ctx, func(v *store.View) error {
		if err := e.assemble(v, p, a); err != nil {
			return err
		}
		unread, err = v.Unavailable()
		return err
	})
	if err != nil {
		return memd.Context{}, err
	}
	out := a.finish()
	if p.vector.Out {
		out.Degraded = append(out.Degraded, string(memd.MatchVector))
	}
	if p.chosen.out() {
		out.Degraded = append(out.Degraded, memd.DegradedSelector)
	}
	out.Degraded = append(out.Degraded, unread...)
	ids := make([]string, len(out.Included))
	for i, ref := range out.Included {
		ids[i] = ref.ID
	}
	e.touch(p, ids)
	return out, nil
}

// assemble fills the sections in their order. A context cannot say that a leg
// failed, so it fails with it.
func (e *Engine) assemble(v *store.View, p *plan, a *assembly) error {
	r, err := e.search(v, p, everything)
	if err == nil {
		err = r.failed
	}
	if err != nil {
		return err
	}
	return e.fill(v, p, a, r)
}

// fill is assemble with what the search found.
func (e *Engine) fill(v *store.View, p *plan, a *assembly, r *ranking) error {
	pinned, err := v.Pinned(p.scope, pinnedKinds)
	if err != nil {
		return err
	}
	if err := e.pin(v, p, a, pinned); err != nil {
		return err
	}
	a.section("Known")
	for _, s := range r.rows {
		switch {
		case s.memory.Tier != memd.Long:
		case s.over:
			a.add(&s.memory)
		default:
			a.leave(&s.memory, memd.LeftBelowFloor)
		}
	}
	if err := e.recent(v, p, a, r); err != nil {
		return err
	}
	a.section("This session")
	notes, err := e.notes(v, p)
	if err != nil {
		return err
	}
	slices.Reverse(notes) // the newest first: it is the likeliest to matter
	for i := range notes {
		a.add(&notes[i])
	}
	return leaveOut(v, p, a, r)
}

// pin puts the long rows that enter unasked under their share of the budget.
// A stale one may still enter for the query; else it is left out as stale.
func (e *Engine) pin(v *store.View, p *plan, a *assembly, pinned []memd.Memory) error {
	slices.SortFunc(pinned, func(x, y memd.Memory) int {
		return cmp.Or(cmp.Compare(y.Importance, x.Importance), y.UpdatedAt.Compare(x.UpdatedAt.Time), cmp.Compare(x.ID, y.ID))
	})
	a.section("Rules and preferences")
	whole := a.limit
	share := min(whole, a.used+int(float64(whole)*pinnedShare))
	a.limit = share
	for i := range pinned {
		m := &pinned[i]
		lost, err := overridden(v, p, m)
		if err != nil {
			return err
		}
		tiers.Present(m, e.store.Budgets(), p.hour)
		switch {
		case lost:
			a.leave(m, memd.LeftOverridden)
		case m.Stale:
			a.leave(m, memd.LeftStale)
		default:
			a.add(m)
			if len(a.included) == 0 { // a rule longer than the share enters shortened, if at all it can
				a.limit = whole
				a.addShortened(m)
				a.limit = share
			}
		}
	}
	a.limit = whole
	return nil
}

// recent adds short rows: those over the floor by their rank, then those of
// weight; with nothing asked the latest.
func (e *Engine) recent(v *store.View, p *plan, a *assembly, r *ranking) error {
	a.section("Recent")
	valued, err := v.Valued(p.scope, valuedImportance, valuedAccess, maxValued)
	if err != nil {
		return err
	}
	for _, s := range r.rows {
		if s.memory.Tier == memd.Short && s.over {
			a.add(&s.memory)
		}
	}
	if len(r.terms.terms) == 0 {
		latest, err := v.Latest(p.scope, latestShort)
		if err != nil {
			return err
		}
		slices.SortFunc(latest, func(x, y memd.Memory) int {
			return cmp.Or(y.WrittenAt.Compare(x.WrittenAt.Time), cmp.Compare(x.ID, y.ID))
		})
		valued = append(valued, latest[:min(len(latest), latestShort)]...)
	}
	for i := range valued {
		tiers.Present(&valued[i], e.store.Budgets(), p.hour)
		a.add(&valued[i])
	}
	for _, s := range r.rows {
		if s.memory.Tier == memd.Short && !s.over {
			a.leave(&s.memory, memd.LeftBelowFloor)
		}
	}
	return nil
}

// leaveOut names what the order itself set aside.
func leaveOut(v *store.View, p *plan, a *assembly, r *ranking) error {
	for i := range r.overridden {
		a.leave(&r.overridden[i], memd.LeftOverridden)
	}
	for i := range r.duplicates {
		a.leave(&r.duplicates[i], memd.LeftDuplicate)
	}
	match := r.terms.any()
	if match == "" {
		return nil
	}
	old, err := v.Superseded(match, p.scope, maxSuperseded)
	for i := range old {
		a.leave(&old[i], memd.LeftSuperseded)
	}
	return err
}
