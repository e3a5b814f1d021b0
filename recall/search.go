package recall

import (
	"errors"
	"slices"

	"memd"
	"memd/store"
	"memd/tiers"
)

// ranking is what a search found, in order, and what it set aside.
type ranking struct {
	rows       []*scored
	terms      *weighed
	failed     error          // the keyword leg's, nil if it answered
	overridden []memd.Memory  // a namespace named earlier has the key
	duplicates []memd.Memory  // the content stands higher up
	notesOut   map[string]int // matching notes that a filter removed, by filter

	sources []*source
	found   []*scored               // all rows that were read
	known   map[string]bool         // their ids
	twinned map[string]bool         // contents of which all rows were looked for
	beside  map[string]store.Beside // of those that lend, by id
}

// everything asks a search for the whole order.
const everything = 1 << 30

// search finds, scores and orders the rows that bear on a plan's query. The
// first want of those behind the plan's position are sure to be the right ones;
// what follows them may lack rows. It does not page.
func (e *Engine) search(v *store.View, p *plan, want int) (*ranking, error) {
	if p.chosen != nil || len(p.clauses) > 0 || p.vector.Of != nil { // what rises may stand anywhere
		want = everything
	}
	r, err := e.searchWith(v, p, want)
	if failed, ok := errors.AsType[*vectorFault](err); ok { // the whole order is another without the leg
		p.vector = &vectorQuery{Out: true}
		if err := e.legFailure(v, memd.MatchVector, failed.err); err != nil {
			return nil, err
		}
		return e.searchWith(v, p, want)
	}
	return r, err
}

func (e *Engine) searchWith(v *store.View, p *plan, want int) (*ranking, error) {
	r := &ranking{notesOut: map[string]int{}, beside: map[string]store.Beside{}, known: map[string]bool{}, twinned: map[string]bool{}}
	if err := p.find(v, r, want); err != nil {
		if err := e.loseKeyword(v, r, err); err != nil {
			return nil, err
		}
	}
	r.terms.floor = p.vector.Floor
	if err := e.addNear(v, p, r); err != nil {
		return nil, err
	}
	if err := e.addNotes(v, p, r); err != nil {
		return nil, err
	}
	if err := e.readFor(v, p, r, func() float64 { return p.demandOf(r.found, want) }); err != nil {
		if err := e.loseKeyword(v, r, err); err != nil {
			return nil, err
		}
	}
	r.stand(p)
	for {
		if err := e.arrange(v, p, r, want); err != nil {
			return nil, err
		}
		demand := p.demandOf(r.rows, want)
		if !r.meets(demand) { // what was set aside left room
			if err := e.readFor(v, p, r, func() float64 { return demand }); err != nil {
				return nil, err
			}
			continue
		}
		more, err := e.addTwins(v, p, r, want)
		if err != nil {
			return nil, err
		}
		if !more {
			r.raise(p.chosen)
			return r, nil
		}
	}
}

// loseKeyword goes on without the keyword leg after its failure, if that only
// degrades the answer: the session's notes can still answer.
func (e *Engine) loseKeyword(v *store.View, r *ranking, err error) error {
	if _, vector := errors.AsType[*vectorFault](err); vector {
		return err
	}
	r.failed, r.sources = err, nil
	r.found = slices.DeleteFunc(r.found, func(s *scored) bool { return s.memory.Tier != memd.Transient })
	return e.legFailure(v, memd.MatchKeyword, err)
}

// find weighs the query's terms and looks up where candidates are.
func (p *plan) find(v *store.View, r *ranking, want int) error {
	if p.corpus == nil {
		var err error
		if p.corpus, err = survey(v, p.terms); err != nil {
			p.corpus = &corpus{DF: make([]int, len(p.terms))}
			r.terms = weigh(p.terms, p.clauses, p.corpus)
			return err
		}
	}
	r.terms = weigh(p.terms, p.clauses, p.corpus)
	for _, t := range searched {
		if !p.tiers[t] {
			continue
		}
		s, err := p.newSource(v, r.terms, t, want)
		if err != nil {
			return err
		}
		r.sources = append(r.sources, s)
	}
	return nil
}

// readFor reads rows until all sources meet the demand.
func (e *Engine) readFor(v *store.View, p *plan, r *ranking, demand func() float64) error {
	for _, s := range r.sources {
		for !s.meets(demand()) {
			rows, bounds, err := s.more(v, p)
			if err != nil {
				return err
			}
			found, err := e.score(v, p, r, rows, bounds)
			if err != nil {
				return err
			}
			s.matches += len(found)
		}
	}
	return nil
}

// score scores rows of some bounds, and adds those that match and were not known.
func (e *Engine) score(v *store.View, p *plan, r *ranking, rows []memd.Memory, bounds []float64) (added []*scored, err error) {
	cosines, err := p.cosines(v, rows)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if r.known[rows[i].ID] {
			continue
		}
		r.known[rows[i].ID] = true
		if one, ok := r.terms.score(&rows[i], cosines[rows[i].ID], e.store.Budgets(), p.hour); ok {
			if one.bound = bounds[i]; p.vector.Of != nil { // all are read, and the index knows of no vector
				one.bound = one.own
			}
			added = append(added, one)
		}
	}
	r.found = append(r.found, added...)
	return added, nil
}

// arrange orders what was found, as far as it was read.
func (e *Engine) arrange(v *store.View, p *plan, r *ranking, want int) error {
	lenders, err := r.lend(v)
	if err != nil {
		return err
	}
	if p.vector.Of != nil { // once: everything was read
		p.lift(r.found)
	}
	if err := r.settle(v, p, r.found); err != nil {
		return err
	}
	if p.demandOf(r.rows, want) >= leastMatch {
		return nil
	}
	entered, err := e.enterAll(v, p, r, lenders)
	if err != nil || len(entered) == 0 {
		return err
	}
	return r.settle(v, p, append(entered, r.found...))
}

// legFailure logs the failure of a leg and returns nil if it only degrades the
// answer; the whole request fails when it is at its end or the store is busy.
func (e *Engine) legFailure(v *store.View, leg memd.Match, err error) error {
	if v.Err() != nil || memd.CodeOf(err) != memd.CodeStoreFailed {
		return err
	}
	e.log.Error("recall leg failed", "leg", string(leg), "error", err)
	return nil
}

// addNotes scores the session's own notes and adds those that pass the
// filters.
func (e *Engine) addNotes(v *store.View, p *plan, r *ranking) error {
	notes, err := e.notes(v, p)
	for i := range notes {
		m := &notes[i]
		s, ok := r.terms.score(m, 0, e.store.Budgets(), p.hour)
		if !ok {
			continue
		}
		if reason := p.removes(m); reason != "" {
			r.notesOut[reason]++
			continue
		}
		r.found = append(r.found, s)
	}
	return err
}

// notes returns the live notes of the session that the request names, those under
// access tags that it does not name, and in namespaces that the caller does not
// see, left out; none where the caller did not open it.
func (e *Engine) notes(v *store.View, p *plan) ([]memd.Memory, error) {
	session := p.query.SessionID
	if session == "" {
		return nil, nil
	}
	owner, err := v.SessionOwner(session)
	if err != nil || !tiers.Owns(p.caller, owner) {
		return nil, err
	}
	notes, err := v.Notes(session, p.now)
	return slices.DeleteFunc(notes, func(m memd.Memory) bool {
		return !p.caller.Sees(m.Namespace) || slices.ContainsFunc(m.Access, func(tag string) bool { return !slices.Contains(p.scope.Access, tag) })
	}), err
}

// removes names the filter that keeps a note out, "" if none does.
func (p *plan) removes(m *memd.Memory) string {
	switch {
	case !p.tiers[m.Tier]:
		return "tier"
	case !store.Filter{Kinds: p.filter.Kinds}.Keeps(m):
		return "kind"
	case !p.filter.Keeps(m):
		return "tag"
	}
	return ""
}

// settle orders what was found and leaves one row per key over the namespaces, that of the namespace
// named first, and one per content: the one that stands highest, but within a
// tier that of the namespace named first. One that matches nothing itself takes
// the place of none that does. A row edited by hand has no hash
// until groom has made it, and is nobody's duplicate.
func (r *ranking) settle(v *store.View, p *plan, found []*scored) error {
	found = slices.Clone(found)
	sortScored(found)
	r.rows, r.overridden, r.duplicates = nil, nil, nil
	stands := map[string]*scored{} // by content
	live := make([]*scored, 0, len(found))
	for _, s := range found {
		m := &s.memory
		lost, err := overridden(v, p, m)
		if err != nil {
			return err
		}
		if lost {
			r.overridden = append(r.overridden, *m)
			continue
		}
		live = append(live, s)
		other := stands[m.ContentHash]
		if other == nil || other.memory.Tier == m.Tier && other.matches() == s.matches() && p.place(m) < p.place(&other.memory) {
			stands[m.ContentHash] = s
		}
	}
	r.rows = live[:0]
	for _, s := range live {
		if s.memory.ContentHash != "" && stands[s.memory.ContentHash] != s {
			r.duplicates = append(r.duplicates, s.memory)
			continue
		}
		r.rows = append(r.rows, s)
	}
	return nil
}

// place is where the request names a row's namespace.
func (p *plan) place(m *memd.Memory) int { return slices.Index(p.scope.Namespaces, m.Namespace) }

// overridden reports whether a namespace named before m's has a live head
// under m's key, one that the caller may see, whether or not the query
// matches it.
func overridden(v *store.View, p *plan, m *memd.Memory) (bool, error) {
	if m.MemoryKey == "" {
		return false, nil
	}
	for _, ns := range p.scope.Namespaces {
		if ns == m.Namespace {
			break
		}
		if live, err := v.HasHead(p.scope, ns, m.MemoryKey); live || err != nil {
			return live, err
		}
	}
	return false, nil
}
