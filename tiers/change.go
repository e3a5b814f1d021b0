package tiers

import (
	"context"
	"slices"

	"memd"
	"memd/guard/sources"
	"memd/store"
)

// change runs fn on the row with the given id, if the caller may see it, in
// one write; fn sets out.
func (s *Service) change(ctx context.Context, c memd.Caller, id string, out *memd.Written, fn func(tx *store.Tx, m *memd.Memory, now memd.Time) error) error {
	return s.changeAny(ctx, c, id, out, func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
		if expired(m, now) {
			return notFound()
		}
		return fn(tx, m, now)
	})
}

// changeAny is change for rows that have expired too.
func (s *Service) changeAny(ctx context.Context, c memd.Caller, id string, out *memd.Written, fn func(tx *store.Tx, m *memd.Memory, now memd.Time) error) error {
	if err := need(c, memd.RoleWrite); err != nil {
		return err
	}
	now := s.store.Now()
	return s.once(ctx, c, out, func(tx *store.Tx) error {
		m, ok, err := tx.Get(id)
		if err != nil {
			return err
		}
		if !ok || !mayKnow(c, &m) {
			return notFound()
		}
		if m.Tier == memd.Transient {
			owner, err := tx.SessionOwner(m.SessionID)
			if err != nil {
				return err
			}
			if !Owns(c, owner) {
				return notFound()
			}
		}
		rehash(&m)
		return fn(tx, &m, now)
	})
}

// Patch changes a row's metadata in place. It does not touch its age. A pitfall
// that it resolves goes to the archive, its key kept.
func (s *Service) Patch(ctx context.Context, c memd.Caller, id string, p memd.Patch) (memd.Written, error) {
	if isEmpty(p) {
		return memd.Written{}, memd.Errorf(memd.CodeInvalidRequest, "the patch changes nothing").
			WithHint("give importance, tags, owner, access, expires_at or resolved_at")
	}
	var out memd.Written
	var did *inspected
	err := s.changeSeen(ctx, c, id, &out, func(row memd.Memory) changing {
		in, err := s.inspectPatch(c, p, &row)
		if err != nil {
			return failing(err)
		}
		return func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
			if did = in; in.refused != nil {
				return in.refused
			}
			if err := apply(c, p, m, now); err != nil {
				return err
			}
			if p.Tags.Set {
				m.Tags = row.Tags
			}
			return s.patch(tx, c, p, m, in, &out, now)
		}
	})
	return out, s.settle(c, did, err)
}

// inspectPatch applies a patch to m, and has the guards look at what it has set.
func (s *Service) inspectPatch(c memd.Caller, p memd.Patch, m *memd.Memory) (*inspected, error) {
	if err := apply(c, p, m, s.store.Now()); err != nil {
		return nil, err
	}
	m.Tags, m.Access = slices.Clone(m.Tags), slices.Clone(m.Access)
	set := map[string]bool{"tags": p.Tags.Set, "owner": p.Owner.Set, "access": p.Access.Set}
	in := s.inspectFields(m, slices.DeleteFunc(labelsOf(m), func(f field) bool { return !set[f.name] }))
	if in.changed {
		m.Tags = union([]string{}, m.Tags) // two may have become one
	}
	return in, nil
}

// patch writes a row that a patch was applied to.
func (s *Service) patch(tx *store.Tx, c memd.Caller, p memd.Patch, m *memd.Memory, in *inspected, out *memd.Written, now memd.Time) error {
	m.UpdatedAt = now
	if err := tx.UpdateMeta(m); err != nil {
		return err
	}
	if p.Access.Set {
		if err := coverOlder(tx, m); err != nil {
			return err
		}
	}
	if err := in.log(tx, s.entry(c, "", m, now)); err != nil {
		return err
	}
	if err := tx.Audit(s.entry(c, "patch", m, now)); err != nil {
		return err
	}
	if p.ResolvedAt.Set {
		if err := s.retirePitfall(tx, c, m, now); err != nil {
			return err
		}
	}
	*out = s.shown(*m, now)
	out.Warnings = in.warnings()
	return nil
}

// retirePitfall moves a pitfall that is resolved to the archive: a short one,
// and a long one that is its key's head. A superseded version stays where it is,
// below the one that took its place.
func (s *Service) retirePitfall(tx *store.Tx, c memd.Caller, m *memd.Memory, now memd.Time) error {
	if m.Kind != memd.Pitfall || m.ResolvedAt.IsZero() {
		return nil
	}
	switch m.Tier {
	case memd.Short:
	case memd.Long:
		head, _, err := tx.Head(m.Namespace, m.MemoryKey)
		if err != nil || head.ID != m.ID {
			return err
		}
	default:
		return nil
	}
	return s.moveToArchive(tx, c, now, m)
}

// apply writes the fields a patch sets into m.
func apply(c memd.Caller, p memd.Patch, m *memd.Memory, now memd.Time) (err error) {
	if p.Importance.Set {
		if p.Importance.Null {
			return memd.FieldErrorf(memd.CodeInvalidRequest, "importance", "importance cannot be null")
		}
		if m.Importance, err = importance(&p.Importance.Value, 0); err != nil {
			return err
		}
	}
	if p.Tags.Set {
		if m.Tags, err = tags("tags", p.Tags.Value); err != nil {
			return err
		}
	}
	if p.Access.Set {
		if m.Access, err = access(c, p.Access.Value); err != nil {
			return err
		}
	}
	if p.Owner.Set {
		if err := name("owner", p.Owner.Value); err != nil {
			return err
		}
		m.Owner = p.Owner.Value
	}
	if p.ExpiresAt.Set {
		if err := future("expires_at", p.ExpiresAt.Value, now); err != nil {
			return err
		}
		m.ExpiresAt = p.ExpiresAt.Value
	}
	if p.ResolvedAt.Set {
		if m.ResolvedAt, err = past("resolved_at", p.ResolvedAt.Value, now, memd.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// coverOlder puts the access tags of a key's row on its older versions too:
// what is restricted now was not open before to whoever reads versions.
func coverOlder(tx *store.Tx, m *memd.Memory) error {
	if m.MemoryKey == "" || len(m.Access) == 0 {
		return nil
	}
	versions, err := tx.Versions(m.Namespace, m.MemoryKey)
	if err != nil {
		return err
	}
	for i := range versions {
		old := &versions[i]
		covered := union(old.Access, m.Access)
		if old.Version >= m.Version || len(covered) == len(old.Access) {
			continue
		}
		old.Access = covered
		rehash(old)
		if err := tx.UpdateMeta(old); err != nil {
			return err
		}
	}
	return nil
}

// Verify says that a long row was checked against its source just now, or at
// the given time, and takes its stale mark off if the source resolves. A source
// that is a URL is fetched before the write, where that is allowed.
func (s *Service) Verify(ctx context.Context, c memd.Caller, id string, req memd.Verify) (memd.Written, error) {
	row, err := s.toLookAt(ctx, c, id)
	if err != nil {
		return memd.Written{}, err
	}
	var seen sight
	if row.Tier == memd.Long && req.SourceStatus == "" {
		seen = s.lookAndFetch(ctx, row.Namespace, row.Source)
	}
	var out memd.Written
	err = s.change(ctx, c, id, &out, func(tx *store.Tx, m *memd.Memory, now memd.Time) (err error) {
		if m.Tier != memd.Long {
			return memd.Errorf(memd.CodeInvalidRequest, "only a long-term memory is verified; this one is %s", m.Tier)
		}
		if req.SourceStatus != "" {
			return s.lacks(tx, c, req, m, &out, now)
		}
		stale := s.isStale(*m, now)
		if m.VerifiedAt, err = past("verified_at", req.VerifiedAt, now, now); err != nil {
			return err
		}
		m.VerifiedBy, m.UpdatedAt = c.Name, now
		hash, warnings := seen.mark(m, stale)
		out = s.shown(*m, now)
		out.Warnings = warnings
		if err := tx.UpdateMeta(m); err != nil {
			return err
		}
		if err := tx.KeepSourceHash(m.Namespace, m.MemoryKey, m.ID, hash); err != nil {
			return err
		}
		return tx.Audit(s.entry(c, "verify", m, now))
	})
	return out, err
}

// lacks marks a long row whose source does not say it any more. When it last did is
// its verified_at still.
func (s *Service) lacks(tx *store.Tx, c memd.Caller, req memd.Verify, m *memd.Memory, out *memd.Written, now memd.Time) error {
	switch {
	case req.SourceStatus != memd.SourceMissing:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "source_status", "source_status is %s or left out", memd.SourceMissing)
	case !req.VerifiedAt.IsZero():
		return memd.FieldErrorf(memd.CodeInvalidRequest, "verified_at", "verified_at does not go with source_status: what its source lacks is not verified")
	}
	m.SourceStatus, m.Stale, m.StaleReason = memd.SourceMissing, true, memd.StaleSourceMissing
	m.UpdatedAt = now
	*out = s.shown(*m, now)
	if err := tx.UpdateMeta(m); err != nil {
		return err
	}
	if err := tx.KeepSourceHash(m.Namespace, m.MemoryKey, m.ID, sources.Lacking); err != nil {
		return err
	}
	return tx.Audit(s.entry(c, "verify", m, now))
}

// Hit records that a pitfall occurred again.
func (s *Service) Hit(ctx context.Context, c memd.Caller, id string) (memd.Written, error) {
	var out memd.Written
	err := s.change(ctx, c, id, &out, func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
		if m.Kind != memd.Pitfall {
			return memd.Errorf(memd.CodeInvalidRequest, "only a pitfall is hit; this memory is a %s", m.Kind)
		}
		out = s.shown(*m, now)
		if err := tx.Hit(m.ID, now); err != nil {
			return err
		}
		return tx.Audit(s.entry(c, "hit", m, now))
	})
	return out, err
}

func isEmpty(p memd.Patch) bool {
	return !p.Importance.Set && !p.Tags.Set && !p.Owner.Set && !p.Access.Set && !p.ExpiresAt.Set && !p.ResolvedAt.Set
}
