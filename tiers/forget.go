package tiers

import (
	"context"

	"memd"
	"memd/store"
)

// Forget deletes a row, and with it every older version of its key: rows,
// index entries and vectors. A tombstone without a body keeps imports and
// syncs from bringing it back. An expired row with a key, which groom keeps,
// can be forgotten too. See buryVersions for versions that the caller may not see.
func (s *Service) Forget(ctx context.Context, c memd.Caller, id string) error {
	return s.changeAny(ctx, c, id, new(memd.Written), func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
		if m.MemoryKey == "" {
			if expired(m, now) { // groom's to delete
				return notFound()
			}
			return s.bury(tx, c, m, now)
		}
		state, _, err := tx.Head(m.Namespace, m.MemoryKey)
		if err != nil {
			return err
		}
		versions, err := tx.Versions(m.Namespace, m.MemoryKey)
		if err != nil {
			return err
		}
		left, err := s.buryVersions(tx, c, versions, m.Version, now)
		if err != nil {
			return err
		}
		if left > 0 || state.Version > m.Version {
			return nil
		}
		return tx.DropHead(m.Namespace, m.MemoryKey)
	})
}

// ForgetKey deletes every version of a key.
func (s *Service) ForgetKey(ctx context.Context, c memd.Caller, namespace, key string) error {
	if err := need(c, memd.RoleWrite); err != nil {
		return err
	}
	ns, err := Namespace(c, namespace)
	if err != nil {
		return err
	}
	now := s.store.Now()
	return s.store.Update(ctx, func(tx *store.Tx) error {
		versions, err := tx.Versions(ns, key)
		if err != nil {
			return err
		}
		if len(versions) == 0 {
			return notFound()
		}
		if _, err := s.buryVersions(tx, c, versions, versions[0].Version, now); err != nil {
			return err
		}
		return tx.DropHead(ns, key)
	})
}

// buryVersions deletes the versions of a key, which stand newest first, up to one, and
// returns how many are left. Who may see the newest may forget what it superseded, also
// what is hidden from it: recalled by nobody any more, that would only keep the key's
// text. To others a hidden version is none to forget, and so is none at all.
func (s *Service) buryVersions(tx *store.Tx, c memd.Caller, versions []memd.Memory, upTo int, now memd.Time) (left int, err error) {
	all := len(versions) > 0 && mayKnow(c, &versions[0])
	for i := range versions {
		switch v := &versions[i]; {
		case v.Version > upTo:
			left++
		case !all && !mayKnow(c, v):
			return left, notFound()
		default:
			if err := s.bury(tx, c, v, now); err != nil {
				return left, err
			}
		}
	}
	return left, nil
}

// bury deletes one row and remembers that it was forgotten.
func (s *Service) bury(tx *store.Tx, c memd.Caller, m *memd.Memory, now memd.Time) error {
	if err := tx.Bury(m, now); err != nil {
		return err
	}
	e := s.entry(c, "forget", m, now)
	if len(m.Access) == 0 {
		e.Detail = store.ForgotOpen
	}
	return tx.Audit(e)
}
