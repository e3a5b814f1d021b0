package tiers

import (
	"context"

	"memd"
	"memd/store"
)

// Forget deletes a row, and with it every older version of its key: rows,
// index entries and vectors. A tombstone without a body keeps imports and
// syncs from bringing it back. An expired row with a key, which groom keeps,
// can be forgotten too.
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
		left := 0
		for i := range versions {
			if versions[i].Version > m.Version {
				left++
				continue
			}
			if !c.Holds(versions[i].Access) {
				return notFound()
			}
			if err := s.bury(tx, c, &versions[i], now); err != nil {
				return err
			}
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
		for i := range versions {
			if !c.Holds(versions[i].Access) {
				return notFound()
			}
			if err := s.bury(tx, c, &versions[i], now); err != nil {
				return err
			}
		}
		return tx.DropHead(ns, key)
	})
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
