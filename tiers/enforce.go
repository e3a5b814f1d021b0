package tiers

import (
	"cmp"
	"slices"

	"memd"
	"memd/store"
)

// groomer is who archives and prunes of its own accord, for the audit.
func groomer() memd.Caller { return memd.Caller{Name: "groom"} }

// Excess is what goes for the row budgets: of each tier the least valuable rows,
// by the rules by which writes make room.
type Excess struct {
	Notes   []store.Candidate // deleted
	Archive []store.Candidate // deleted
	Doomed  []store.Candidate // short rows that find no room in the archive either, deleted
	Short   []store.Candidate // archived
}

// Moved are rows that a View shows where they were before what a dry run has
// planned so far.
type Moved map[string]Move

// Move is the way of one such row.
type Move struct {
	store.Candidate
	To memd.Tier // "" where it is deleted
}

// Excess is what is beyond a row budget, or beyond a namespace's share of one.
func (s *Service) Excess(v *store.View, now memd.Time, moved Moved) (e Excess, err error) {
	if e.Notes, err = s.excessNotes(v, now, moved); err != nil {
		return e, err
	}
	may, err := s.mayExceed(v, moved)
	if !may || err != nil {
		return e, err
	}
	short, err := standing(v, memd.Short, now, moved)
	if err != nil {
		return e, err
	}
	archive, err := standing(v, memd.Archive, now, moved)
	if err != nil {
		return e, err
	}
	coming := s.beyond(short, s.budgets.ShortRows)
	arrives := make(map[string]bool, len(coming))
	for _, c := range coming {
		arrives[c.ID] = true
	}
	for _, c := range s.beyond(append(archive, coming...), s.budgets.ArchiveRows) {
		if !arrives[c.ID] {
			e.Archive = append(e.Archive, c)
			continue
		}
		e.Doomed = append(e.Doomed, c)
		delete(arrives, c.ID)
	}
	e.Short = slices.DeleteFunc(coming, func(c store.Candidate) bool { return !arrives[c.ID] })
	return e, nil
}

// mayExceed reports whether it is worth looking at every row.
func (s *Service) mayExceed(v *store.View, moved Moved) (bool, error) {
	for t, limit := range map[memd.Tier]int{memd.Short: s.budgets.ShortRows, memd.Archive: s.budgets.ArchiveRows} {
		rows, err := v.Rows(t)
		if err != nil {
			return false, err
		}
		for _, m := range moved {
			if m.To == t {
				rows++
			}
		}
		if rows > limit || s.share(limit) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// standing are the rows of a tier once what was moved is, the least valuable
// first.
func standing(v *store.View, t memd.Tier, now memd.Time, moved Moved) ([]store.Candidate, error) {
	rows, err := v.Matching(store.Any(t, now))
	rows = slices.DeleteFunc(rows, func(c store.Candidate) bool { return moved.left(c) })
	for _, m := range moved {
		if m.To == t {
			rows = append(rows, m.Candidate)
		}
	}
	store.LeastFirst(rows)
	return rows, err
}

// left reports whether a row has left the tier where it was found.
func (m Moved) left(c store.Candidate) bool {
	was, ok := m[c.ID]
	return ok && was.Tier == c.Tier
}

// beyond chooses, from the first of rows on, those that are too many for a
// budget or for their namespace's share of it. Rows with a key are owed.
func (s *Service) beyond(rows []store.Candidate, limit int) (chosen []store.Candidate) {
	all, share := len(rows)-limit, s.share(limit)
	in := map[string]int{}
	for _, c := range rows {
		in[c.Namespace]++
	}
	taken := map[string]bool{}
	for _, c := range rows {
		if share > 0 && in[c.Namespace] > share && c.Key == "" {
			in[c.Namespace]--
			taken[c.ID] = true
			all--
		}
	}
	for _, c := range rows {
		if !taken[c.ID] && (c.Key != "" || all <= 0) {
			continue
		}
		if !taken[c.ID] {
			all--
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// excessNotes are the transient rows beyond their budget: the oldest of whichever
// session holds most.
func (s *Service) excessNotes(v *store.View, now memd.Time, moved Moved) (chosen []store.Candidate, err error) {
	if n, err := v.Rows(memd.Transient); err != nil || n <= s.budgets.TransientRows {
		return nil, err
	}
	sessions := map[string][]store.Candidate{}
	over := -s.budgets.TransientRows
	place := map[string]int{} // how early it came
	err = v.EachNote(now, func(c store.Candidate, session string) {
		if !moved.left(c) {
			place[c.ID] = over
			sessions[session] = append(sessions[session], c)
			over++
		}
	})
	for ; over > 0 && err == nil; over-- {
		var most string
		for session, rows := range sessions {
			if len(most) == 0 || cmp.Or(cmp.Compare(len(rows), len(sessions[most])),
				cmp.Compare(place[sessions[most][0].ID], place[rows[0].ID])) > 0 {
				most = session
			}
		}
		chosen = append(chosen, sessions[most][0])
		if sessions[most] = sessions[most][1:]; len(sessions[most]) == 0 {
			delete(sessions, most)
		}
	}
	return chosen, err
}

// Unchanged reports whether a row is worth what it was when it was chosen, at the
// same now. See store.Tx.At.
func Unchanged(tx *store.Tx, c store.Candidate, now memd.Time) (bool, error) {
	value, ok, err := tx.Matches(store.Any(c.Tier, now), c.ID)
	return ok && value == c.Value, err
}

// StillOver reports whether a tier is beyond its row budget, with so many rows to
// come: since a plan others may have made room. Where namespaces have shares, of
// which counting the rows takes long, what was planned stands.
func (s *Service) StillOver(tx *store.Tx, t memd.Tier, coming int) (bool, error) {
	limit := map[memd.Tier]int{
		memd.Transient: s.budgets.TransientRows, memd.Short: s.budgets.ShortRows, memd.Archive: s.budgets.ArchiveRows,
	}[t]
	if t != memd.Transient && s.share(limit) > 0 {
		return true, nil
	}
	rows, err := tx.Rows(t)
	return rows+coming > limit, err
}

// ArchiveRow moves a row to the archive as it stands, without making room there.
// One that is past its time there already is spared for a day.
func (s *Service) ArchiveRow(tx *store.Tx, c store.Candidate, now memd.Time) (bool, error) {
	m, ok, err := tx.Load(c.Tier, c.ID)
	if !ok || err != nil {
		return false, err
	}
	rehash(&m)
	if err := s.toArchive(tx, groomer(), &m, now); err != nil {
		return false, err
	}
	if m.MemoryKey == "" && now.Sub(m.WrittenAt.Time) > s.budgets.ArchiveRetention {
		err = tx.Spare(m.ID, now)
	}
	return true, err
}

// Pruned is the action of the audit entry of a row that PruneRow deleted.
const Pruned = "prune"

// PruneRow deletes a row and leaves an audit entry.
func (s *Service) PruneRow(tx *store.Tx, c store.Candidate, now memd.Time) (bool, error) {
	did, err := tx.Delete(c.Tier, c.ID)
	if !did || err != nil || c.Tier == memd.Transient {
		return did, err
	}
	m := memd.Memory{ID: c.ID, Namespace: c.Namespace, MemoryKey: c.Key}
	return true, tx.Audit(s.entry(groomer(), Pruned, &m, now))
}
