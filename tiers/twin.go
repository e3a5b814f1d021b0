package tiers

import (
	"slices"
	"strings"

	"memd"
	"memd/store"
)

// knownAlready answers the write of m, in out, if its content stands: in the
// long tier, which is left alone, or in the short tier, which then says it
// again. What m is refused for must stand in that row.
func (s *Service) knownAlready(tx *store.Tx, c memd.Caller, m *memd.Memory, in *inspected, req memd.Remember, out *memd.Written, now memd.Time) (bool, error) {
	if has, err := tx.HasContent(m.Namespace, m.ContentHash); !has || err != nil {
		return false, err
	}
	twin, found, err := twinOf(tx, c, m, memd.Long, now, func(row *memd.Memory) bool { return standsFor(row, m) && in.heldBy(row) })
	if err != nil {
		return false, err
	}
	if found {
		*out = s.shown(twin, now)
		out.Deduplicated, out.DuplicateOf = true, twin.ID
		out.Warnings = notKept(req, m, &twin)
		return true, nil
	}
	twin, found, err = twinOf(tx, c, m, memd.Short, now, func(row *memd.Memory) bool { return sameSet(row.Access, m.Access) && in.heldBy(row) })
	if err != nil || !found {
		return false, err
	}
	warnings := refresh(&twin, m, now)
	*out = s.shown(twin, now)
	out.Deduplicated = true
	out.Warnings = append(notKept(req, m, &twin), warnings...)
	if err := tx.UpdateMeta(&twin); err != nil {
		return false, err
	}
	return true, tx.Audit(s.entry(c, "remember_again", &twin, now))
}

// twinOf finds a live row of tier t with m's content that the caller may see
// and that will do.
func twinOf(tx *store.Tx, c memd.Caller, m *memd.Memory, t memd.Tier, now memd.Time, will func(row *memd.Memory) bool) (memd.Memory, bool, error) {
	rows, err := tx.FindContent(t, m.Namespace, m.ContentHash)
	for _, row := range rows {
		rehash(&row)
		if row.ID != m.ID && row.ContentHash == m.ContentHash && maySee(c, &row, now) && will(&row) {
			return row, true, err
		}
	}
	return memd.Memory{}, false, err
}

// standsFor reports whether the write of a short row m may be answered with a long
// row, which it does not change: whoever would find m must find that row, for as
// long: a resolved pitfall leaves for the archive. A stale one is found all the same, and
// says so. A short row, which the write
// changes, need only show to the same callers, for it must show to no more either.
func standsFor(row, m *memd.Memory) bool {
	lasts := row.ExpiresAt.IsZero() || !m.ExpiresAt.IsZero() && !row.ExpiresAt.Before(m.ExpiresAt.Time)
	hidden := slices.ContainsFunc(row.Access, func(tag string) bool { return !slices.Contains(m.Access, tag) })
	leaves := row.Kind == memd.Pitfall && !row.ResolvedAt.IsZero()
	return lasts && !hidden && !leaves
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// refresh says again what twin says. It expires no sooner than either write
// asked for, and is not over.
func refresh(twin, again *memd.Memory, now memd.Time) (warnings []string) {
	twin.WrittenAt, twin.UpdatedAt = now, now
	if again.ExpiresAt.IsZero() || !twin.ExpiresAt.IsZero() && again.ExpiresAt.After(twin.ExpiresAt.Time) {
		twin.ExpiresAt = again.ExpiresAt
	}
	return lift("resolved_at", &twin.ResolvedAt)
}

// lift clears a time that would hide what is written again, and says so.
func lift(field string, at *memd.Time) []string {
	if at.IsZero() {
		return nil
	}
	*at = memd.Time{}
	return []string{field + " is cleared, for the memory is written again; patch it to set it anew"}
}

// notKept warns of what a request states and the row that answers it says otherwise.
// m is the row that it asked for.
func notKept(req memd.Remember, m, row *memd.Memory) []string {
	var kept []string
	for _, f := range []struct {
		name          string
		stated, agree bool
	}{
		{"kind", req.Kind != "", m.Kind == row.Kind},
		{"importance", req.Importance != nil, m.Importance == row.Importance},
		{"tags", req.Tags != nil, sameSet(m.Tags, row.Tags)},
		{"source", m.Source != "", m.Source == row.Source},
		{"access", req.Access != nil, sameSet(m.Access, row.Access)},
		{"session_id", m.SessionID != "", m.SessionID == row.SessionID},
		{"agent", m.Agent != "", m.Agent == row.Agent},
		{"expires_at", !m.ExpiresAt.IsZero(), m.ExpiresAt.Equal(row.ExpiresAt.Time)},
	} {
		if f.stated && !f.agree {
			kept = append(kept, f.name)
		}
	}
	last := len(kept) - 1
	switch {
	case last < 0:
		return nil
	case last > 0:
		kept = []string{strings.Join(kept[:last], ", ") + " and " + kept[last]}
	}
	return []string{"the row that stands keeps its " + kept[0] + "; a patch changes importance, tags, access and expires_at alone"}
}
