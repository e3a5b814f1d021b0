package tiers

import (
	"context"
	"slices"

	"memd"
	"memd/guard/fence"
	"memd/store"
)

// Remember writes a short-term row. Where the same content stands in the
// namespace's short tier, that row's last-written time moves instead; where it
// stands in the long tier, that row is the answer and nothing is written.
func (s *Service) Remember(ctx context.Context, c memd.Caller, req memd.Remember) (memd.Written, error) {
	if err := need(c, memd.RoleWrite); err != nil {
		return memd.Written{}, err
	}
	now := s.store.Now()
	m, err := s.shortRow(c, req, now)
	if err != nil {
		return memd.Written{}, err
	}
	if fence.Made(m.Summary, m.RawContent) {
		return echoed(memd.Short, m.Kind), nil
	}
	sent := *m
	sent.Tags = slices.Clone(m.Tags)
	in := s.inspectShort(m)
	s.dateShort(m, now)
	s.dateShort(&sent, now)
	var out memd.Written
	var did *inspected
	err = s.once(ctx, c, &out, func(tx *store.Tx) (err error) {
		did = in
		known := false
		if in.touched() {
			if known, err = s.knownAlready(tx, c, &sent, in, req, &out, now); known {
				did = in.standing()
			} else if err == nil {
				err = in.refused
			}
		}
		if !known && err == nil {
			known, err = s.knownAlready(tx, c, m, in, req, &out, now)
		}
		if err == nil && !known {
			err = s.insertShort(tx, c, m, &out, now)
		}
		if err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, did.warnings()...)
		return did.log(tx, s.entry(c, "", &out.Memory, now))
	})
	return out, s.settle(c, did, err)
}

func (s *Service) insertShort(tx *store.Tx, c memd.Caller, m *memd.Memory, out *memd.Written, now memd.Time) error {
	if err := s.roomInShort(tx, c, m.Namespace, now); err != nil {
		return err
	}
	*out = s.shown(*m, now)
	out.Created = true
	if err := tx.Insert(m); err != nil {
		return err
	}
	return tx.Audit(s.entry(c, "remember", m, now))
}

// inspectShort has the guards look at a short row. What they leave of it is what is
// written, and what makes it a duplicate.
func (s *Service) inspectShort(m *memd.Memory) *inspected {
	in := s.inspect(m)
	if in.changed {
		m.Tags = union([]string{}, m.Tags) // two may have become one
		rehash(m)
	}
	return in
}

// shortRow validates a request and makes the row it asks for.
func (s *Service) shortRow(c memd.Caller, req memd.Remember, now memd.Time) (*memd.Memory, error) {
	m := &memd.Memory{
		Tier: memd.Short, Summary: req.Summary, RawContent: req.RawContent, Source: req.Source,
		SourceStatus: statusOf(req.Source), SessionID: req.SessionID, Agent: req.Agent,
		CreatedAt: now, UpdatedAt: now, WrittenAt: now, ExpiresAt: req.ExpiresAt,
	}
	var err error
	check := func(e error) {
		if err == nil {
			err = e
		}
	}
	m.Namespace, err = Namespace(c, req.Namespace)
	check(summary(req.Summary, s.budgets.ShortChars))
	check(s.raw(req.RawContent))
	var e error
	m.Kind, e = kind(req.Kind, memd.Event, memd.Short)
	check(e)
	m.Importance, e = importance(req.Importance, memd.DefaultImportance)
	check(e)
	m.Tags, e = tags("tags", req.Tags)
	check(e)
	m.Access, e = access(c, req.Access)
	check(e)
	check(source(req.Source, m.Kind))
	check(name("session_id", req.SessionID))
	check(name("agent", req.Agent))
	check(future("expires_at", req.ExpiresAt, now))
	if err != nil {
		return nil, err
	}
	m.ContentHash = ContentHash(m)
	m.ID, err = newID()
	return m, err
}

// roomInShort archives the least valuable short rows until one more fits the
// row budget, and the namespace's share of it. At a large budget it makes room
// for a few more at once, so that a full tier does not pay for every write.
func (s *Service) roomInShort(tx *store.Tx, c memd.Caller, namespace string, now memd.Time) error {
	limit := s.budgets.ShortRows
	rows, err := tx.Rows(memd.Short)
	if err != nil {
		return err
	}
	if rows >= limit {
		if err := s.archiveLeast(tx, c, "", rows-limit+max(1, limit/100), now); err != nil {
			return err
		}
	}
	share := s.share(limit)
	if share == 0 {
		return nil
	}
	rows, err = tx.RowsIn(memd.Short, namespace)
	if err != nil || rows < share {
		return err
	}
	return s.archiveLeast(tx, c, namespace, rows-share+1, now)
}

// share is what one namespace may hold of a row budget, 0 without a bound.
func (s *Service) share(limit int) int {
	if s.budgets.PerNamespace == 0 {
		return 0
	}
	return max(1, int(float64(limit)*s.budgets.PerNamespace))
}

// maxMoved bounds the rows that one write moves or drops to make room: under a
// budget that was lowered by much, the store comes down to it over several
// writes instead of stopping all of them for seconds.
const maxMoved = 250

// archiveLeast moves the n least valuable short rows, of one namespace or of
// all (""), to the archive.
func (s *Service) archiveLeast(tx *store.Tx, c memd.Caller, namespace string, n int, now memd.Time) error {
	least, err := tx.LeastValuable(memd.Short, namespace, min(n, maxMoved), now)
	if err != nil {
		return err
	}
	rows := make([]*memd.Memory, 0, len(least))
	for _, id := range least {
		m, ok, err := tx.Get(id)
		if err != nil {
			return err
		}
		if ok {
			rehash(&m)
			rows = append(rows, &m)
		}
	}
	return s.moveToArchive(tx, c, now, rows...)
}
