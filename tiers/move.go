package tiers

import (
	"context"
	"slices"

	"memd"
	"memd/store"
)

// Promote moves a short or archived row to the long tier, where it becomes the
// head of its key, or an archived one back to short. Its id and its age stay.
func (s *Service) Promote(ctx context.Context, c memd.Caller, id string, req memd.Promote) (memd.Written, error) {
	switch req.To {
	case "", memd.Long, memd.Short:
	default:
		return memd.Written{}, memd.FieldErrorf(memd.CodeInvalidRequest, "to", "to must be long or short")
	}
	var out memd.Written
	var did *inspected
	err := s.changeSeen(ctx, c, id, &out, func(row memd.Memory) changing {
		switch {
		case row.Tier != memd.Short && row.Tier != memd.Archive:
			return failing(memd.Errorf(memd.CodeInvalidRequest, "only a short or archived memory is promoted; this one is %s", row.Tier))
		case req.To != memd.Short:
			return s.promoteToLong(c, row, req, &out, &did)
		case row.Tier == memd.Short:
			return failing(memd.FieldErrorf(memd.CodeInvalidRequest, "to", "this memory is short already"))
		case row.MemoryKey != "":
			return failing(memd.FieldErrorf(memd.CodeInvalidRequest, "to", "an archived memory with a key is promoted to long alone"))
		}
		return s.promoteToShort(c, row, &out, &did)
	})
	return out, s.settle(c, did, err)
}

// promoteToLong is the promotion of a row to long, looked at before the write.
func (s *Service) promoteToLong(c memd.Caller, row memd.Memory, req memd.Promote, out *memd.Written, did **inspected) changing {
	up := promoted(&row, req)
	if err := s.longFields(up); err != nil {
		return failing(err)
	}
	w, seen := s.inspectLong(up, &row, s.store.Now()), s.look(row.Namespace, up.Source)
	return func(tx *store.Tx, m *memd.Memory, now memd.Time) (err error) {
		if *out, *did, err = s.upsert(tx, c, m.Namespace, w, m, seen, now); err != nil {
			return err
		}
		if out.Unchanged { // the head says the same already
			if _, err := tx.Delete(m.Tier, m.ID); err != nil {
				return err
			}
		}
		out.Created = false
		out.Warnings = append(out.Warnings, (*did).warnings()...)
		return (*did).log(tx, s.entry(c, "", &out.Memory, now))
	}
}

// promoted is what a promotion of m asks for.
func promoted(m *memd.Memory, req memd.Promote) memd.RememberLongTerm {
	up := memd.RememberLongTerm{
		MemoryKey: first(req.MemoryKey, m.MemoryKey), Summary: m.Summary, Source: first(req.Source, m.Source),
		RawContent: m.RawContent, Why: first(req.Why, m.Why), HowToApply: first(req.HowToApply, m.HowToApply),
		Kind: req.Kind, Importance: req.Importance, Tags: req.Tags, VerifiedAt: req.VerifiedAt,
		Owner: first(req.Owner, m.Owner), Access: m.Access, Namespace: m.Namespace,
	}
	if up.Kind == "" && m.Kind.Durable() {
		up.Kind = m.Kind
	}
	if up.Importance == nil {
		up.Importance = &m.Importance
	}
	if up.Tags == nil {
		up.Tags = m.Tags
	}
	if up.VerifiedAt.IsZero() { // a promotion makes nothing younger
		if up.VerifiedAt = m.VerifiedAt; up.VerifiedAt.IsZero() {
			up.VerifiedAt = m.WrittenAt
		}
	}
	return up
}

// promoteToShort is the return of a row from the archive, looked at before the write.
func (s *Service) promoteToShort(c memd.Caller, row memd.Memory, out *memd.Written, did **inspected) changing {
	from := row.Tier
	row.Tier, row.Tags = memd.Short, slices.Clone(row.Tags)
	in := s.inspectShort(&row)
	return func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
		if *did = in; in.refused != nil {
			return in.refused
		}
		m.Tier, m.UpdatedAt = memd.Short, now
		m.Summary, m.RawContent, m.Why, m.HowToApply = row.Summary, row.RawContent, row.Why, row.HowToApply
		m.Source, m.Tags, m.ContentHash = row.Source, row.Tags, row.ContentHash
		if err := s.roomInShort(tx, c, m.Namespace, now); err != nil {
			return err
		}
		if err := tx.Move(m, from); err != nil {
			return err
		}
		*out = s.shown(*m, now)
		out.Warnings = in.warnings()
		if err := tx.Audit(s.entry(c, "promote", m, now)); err != nil {
			return err
		}
		return in.log(tx, s.entry(c, "", m, now))
	}
}

// Archive moves a short row, or a resolved pitfall, to the archive. A key's
// version counter stays, so that no older version revives.
func (s *Service) Archive(ctx context.Context, c memd.Caller, id string) (memd.Written, error) {
	var out memd.Written
	err := s.change(ctx, c, id, &out, func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
		switch {
		case m.Tier == memd.Short:
		case m.Tier == memd.Long && m.Kind == memd.Pitfall && !m.ResolvedAt.IsZero():
		case m.Tier == memd.Archive:
			out = s.shown(*m, now)
			out.Unchanged = true
			return nil
		default:
			return memd.Errorf(memd.CodeInvalidRequest, "only a short memory or a resolved pitfall is archived").
				WithHint("a pitfall is resolved by setting resolved_at")
		}
		if err := s.moveToArchive(tx, c, now, m); err != nil {
			return err
		}
		out = s.shown(*m, now)
		return nil
	})
	return out, err
}

// moveToArchive moves rows to the archive, where it first makes room for them:
// at once for no more than the budget, or a namespace's share of it, can hold.
func (s *Service) moveToArchive(tx *store.Tx, c memd.Caller, now memd.Time, rows ...*memd.Memory) error {
	limit := s.budgets.ArchiveRows
	if share := s.share(limit); share > 0 {
		limit = share
	}
	for part := range slices.Chunk(rows, max(1, limit)) {
		if err := s.roomInArchive(tx, part, now); err != nil {
			return err
		}
		for _, m := range part {
			if err := s.toArchive(tx, c, m, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// toArchive moves a row to the archive.
func (s *Service) toArchive(tx *store.Tx, c memd.Caller, m *memd.Memory, now memd.Time) error {
	from := m.Tier
	if from == memd.Long { // an archived row's age counts from WrittenAt
		m.WrittenAt = m.VerifiedAt
	}
	m.Tier, m.UpdatedAt = memd.Archive, now
	if err := tx.Move(m, from); err != nil {
		return err
	}
	return tx.Audit(s.entry(c, "archive", m, now))
}

// roomInArchive deletes the least valuable archived rows without a key until
// the given rows fit the row budget, and each namespace's share of it.
func (s *Service) roomInArchive(tx *store.Tx, coming []*memd.Memory, now memd.Time) error {
	held, err := tx.Rows(memd.Archive)
	if err != nil {
		return err
	}
	if err := dropLeast(tx, "", held+len(coming)-s.budgets.ArchiveRows, now); err != nil {
		return err
	}
	share := s.share(s.budgets.ArchiveRows)
	if share == 0 {
		return nil
	}
	per := map[string]int{}
	for _, m := range coming {
		per[m.Namespace]++
	}
	for namespace, n := range per {
		if held, err = tx.RowsIn(memd.Archive, namespace); err != nil {
			return err
		}
		if err := dropLeast(tx, namespace, held+n-share, now); err != nil {
			return err
		}
	}
	return nil
}

// dropLeast deletes the n least valuable archived rows without a key, of one
// namespace or of all (""), at most maxMoved of them.
func dropLeast(tx *store.Tx, namespace string, n int, now memd.Time) error {
	if n <= 0 {
		return nil
	}
	least, err := tx.LeastValuable(memd.Archive, namespace, min(n, maxMoved), now)
	if err != nil {
		return err
	}
	for _, id := range least {
		if _, err := tx.Delete(memd.Archive, id); err != nil {
			return err
		}
	}
	return nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
