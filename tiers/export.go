package tiers

import (
	"context"
	"strconv"

	"memd"
	"memd/store"
)

// Exported is what is known of an export before its first record.
type Exported struct {
	At         memd.Time
	Namespaces []string          // the only ones that are exported; nil for all
	Rows       map[memd.Tier]int // of the store, expired ones among them; nil where only a part of it is exported
	Missing    []string          // historical databases that could not be read
}

// Export calls begin and then fn with all that the caller may see, of some namespaces or
// of all that it sees (none named): rows of every tier with their versions, rows with
// access tags that it holds, what was forgotten. It is one state of the store, of a copy:
// however slow fn is, nobody waits for it. Left out is what is dead to every reading. The
// log tells who exported.
func (s *Service) Export(ctx context.Context, c memd.Caller, namespaces []string, begin func(Exported) error, fn func(*memd.Record) error) (err error) {
	if err := need(c, memd.RoleAdmin); err != nil {
		return err
	}
	only := c.Namespaces
	if len(namespaces) > 0 {
		if only, err = Namespaces(c, namespaces); err != nil {
			return err
		}
	}
	asks := memd.Caller{Role: c.Role, Namespaces: only, Access: c.Access, AllAccess: c.AllAccess}
	x, err := s.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer x.Close()
	e := Exported{At: x.At, Namespaces: only, Missing: x.Missing}
	if only == nil {
		if e.Rows, err = x.Rows(); err != nil {
			return err
		}
	}
	if err := s.noteExport(ctx, c, len(only)); err != nil {
		return err
	}
	if err := begin(e); err != nil {
		return err
	}
	wanted := store.Wanted{
		Namespace: asks.Sees,
		Memory: func(m *memd.Memory) bool {
			rehash(m)
			return mayKnow(asks, m) && (m.MemoryKey != "" || !expired(m, x.At))
		},
	}
	return x.Export(wanted, fn)
}

// noteExport writes down who takes the store out.
func (s *Service) noteExport(ctx context.Context, c memd.Caller, namespaces int) error {
	detail := "the whole store"
	if namespaces > 0 {
		detail = strconv.Itoa(namespaces) + " namespaces"
	}
	return s.store.Update(ctx, func(tx *store.Tx) error {
		return tx.Audit(store.Entry{At: s.store.Now(), Caller: c.Name, Action: "export", Detail: detail})
	})
}
