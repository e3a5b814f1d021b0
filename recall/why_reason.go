package recall

import (
	"fmt"
	"slices"
	"strings"

	"memd"
	"memd/store"
)

// barred says what keeps a row out of every recall of the request, whatever it
// asks; "" for nothing.
func (w *inquiry) barred(v *store.View) (memd.WhyReason, string, error) {
	m, scope := w.m, w.p.scope
	unnamed := slices.DeleteFunc(slices.Clone(m.Access), func(tag string) bool { return slices.Contains(scope.Access, tag) })
	switch {
	case w.superseded():
		return w.bySuccessor(v)
	case m.Tier != memd.Transient && !slices.Contains(scope.Namespaces, m.Namespace):
		return memd.WhyNamespace, fmt.Sprintf("it stands in the namespace %s, which the request does not name", m.Namespace), nil
	case !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(scope.Now.Time):
		return memd.WhyExpired, "it expired on " + date(m.ExpiresAt), nil
	case len(unnamed) > 0:
		return memd.WhyAccess, "the request does not name its access tags " + strings.Join(unnamed, ", "), nil
	case m.Tier == memd.Archive:
		return memd.WhyTierClosed, "it stands in the archive, which only include_archive searches", nil
	case m.Tier == memd.Transient && w.req.SessionID == "":
		return memd.WhyTierClosed, "it is a note of a session, and the request names none", nil
	case m.Tier == memd.Transient && w.req.SessionID != m.SessionID:
		return memd.WhyTierClosed, "it is a note of another session than the request names", nil
	}
	first, err := w.winner(v)
	if err != nil || first == "" {
		return "", "", err
	}
	return memd.WhyOverridden, fmt.Sprintf("the key of the namespace %s, which is named before %s, wins", first, m.Namespace), nil
}

// superseded reports whether the row is not its key's current version.
func (w *inquiry) superseded() bool {
	switch {
	case w.m.MemoryKey == "":
		return false
	case w.m.Tier == memd.Long:
		return w.head.ID != w.m.ID
	}
	return w.m.Tier == memd.Archive && w.head.Version > w.m.Version
}

// bySuccessor names the version that took a row's place.
func (w *inquiry) bySuccessor(v *store.View) (memd.WhyReason, string, error) {
	said := fmt.Sprintf("version %d is superseded by version %d", w.m.Version, w.head.Version)
	next, ok, err := v.Row(w.head)
	switch {
	case unread(v, err):
		return memd.WhySuperseded, said + ", which cannot be read", nil
	case err != nil:
		return "", "", err
	case ok && w.p.caller.Holds(next.Access):
		said += " (" + next.ID + ")"
	case !ok:
		said += ", which left the long tier: it was archived or deleted by hand"
	}
	return memd.WhySuperseded, said, nil
}

// winner is the namespace, named before the row's, whose head has its key; ""
// for none.
func (w *inquiry) winner(v *store.View) (string, error) {
	if w.m.MemoryKey == "" {
		return "", nil
	}
	for _, ns := range w.p.scope.Namespaces {
		if ns == w.m.Namespace {
			break
		}
		if live, err := v.HasHead(w.p.scope, ns, w.m.MemoryKey); live || err != nil {
			return ns, err
		}
	}
	return "", nil
}

// ranked says what the order made of a row that nothing bars.
func (w *inquiry) ranked() (memd.WhyReason, string) {
	r, m := w.ranking, w.m
	if r == nil {
		return memd.WhyNotAsked, "nothing bars it; whether a query recalls it was not asked"
	}
	if w.place >= 0 && w.place < w.p.limit {
		return memd.WhyReturned, fmt.Sprintf("it comes back at place %d of %d", w.place+1, len(r.rows))
	}
	if r.failed != nil && w.place < 0 {
		return memd.WhyUnavailable, "the keyword index cannot be read"
	}
	if w.place >= 0 {
		return w.behind()
	}
	for i := range r.duplicates {
		if r.duplicates[i].ID == m.ID {
			return memd.WhyDuplicate, "the same content stands higher up, as " + w.twin()
		}
	}
	if w.own != nil {
		return memd.WhyOutranked, fmt.Sprintf("it matches, and so do more than %d rows of its tier that may matter more; its place is beyond the rows read", maxScored)
	}
	if len(r.terms.terms) == 0 {
		return memd.WhyNoMatch, "the query has no terms to look for"
	}
	return memd.WhyNoMatch, fmt.Sprintf("it holds none of the %d terms of the query that say anything, and is not near it", sayers(r.terms))
}

// behind says why a row is in the order and not on its first page: the least
// that would have brought it there.
func (w *inquiry) behind() (memd.WhyReason, string) {
	rows, s := w.ranking.rows, w.ranking.rows[w.place]
	last := rows[w.p.limit-1].score
	place := fmt.Sprintf("it stands at place %d of %d, and a page has %d", w.place+1, len(rows), w.p.limit)
	under := s.memory.Tier == memd.Long && !s.over
	switch fresh, over := s.score-s.parts.Stale, s.score+bandLong-bandShort; {
	case s.memory.Stale && fresh > last:
		return memd.WhyStale, place + "; fresh, it would be on the first"
	case under && over > last, under && over-s.parts.Stale > last:
		return memd.WhyBelowFloor, place + "; over the match floor, it would be on the first"
	}
	return memd.WhyOutranked, place
}

// twin names the row that stands for a duplicate.
func (w *inquiry) twin() string {
	for i, s := range w.ranking.rows {
		if s.memory.ContentHash == w.m.ContentHash {
			return fmt.Sprintf("%s at place %d", nameOf(&s.memory), i+1)
		}
	}
	return "another row"
}

// sayers counts the terms of a query that can make a match.
func sayers(t *weighed) (n int) {
	for _, says := range t.says {
		if says {
			n++
		}
	}
	return n
}

// nameOf names a row, without a text of it.
func nameOf(m *memd.Memory) string {
	name := m.ID + " (" + string(m.Tier)
	if m.MemoryKey != "" {
		name += ", key " + m.MemoryKey
	}
	return name + ")"
}
