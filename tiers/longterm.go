package tiers

import (
	"cmp"
	"context"
	"slices"

	"memd"
	"memd/guard/fence"
	"memd/store"
)

// RememberLongTerm upserts a long-term row by namespace and memory_key. A new
// key is version 1; a changed content, source or kind is a new version and the
// old one stays readable as such; otherwise the head is refreshed in place.
// With BaseVersion the write goes through only if that is still the head's
// version (0: no head lives).
func (s *Service) RememberLongTerm(ctx context.Context, c memd.Caller, req memd.RememberLongTerm) (memd.Written, error) {
	if err := need(c, memd.RoleWrite); err != nil {
		return memd.Written{}, err
	}
	ns, err := Namespace(c, req.Namespace)
	if err != nil {
		return memd.Written{}, err
	}
	if err := s.longFields(req); err != nil {
		return memd.Written{}, err
	}
	if _, err := access(c, req.Access); err != nil {
		return memd.Written{}, err
	}
	if fence.Made(req.Summary, req.RawContent, req.Why, req.HowToApply) {
		return echoed(memd.Long, memd.Fact), nil
	}
	now := s.store.Now()
	wanted := s.inspectLong(req, &memd.Memory{Namespace: ns}, now)
	id, err := newID()
	if err != nil {
		return memd.Written{}, err
	}
	created := req.CreatedAt
	if created.IsZero() {
		created = now
	}
	seen := s.look(ns, req.Source)
	var out memd.Written
	var did *inspected
	err = s.once(ctx, c, &out, func(tx *store.Tx) (err error) {
		if out, did, err = s.upsert(tx, c, ns, wanted, &memd.Memory{ID: id, CreatedAt: created}, seen, now); err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, did.warnings()...)
		return did.log(tx, s.entry(c, "", &out.Memory, now))
	})
	return out, s.settle(c, did, err)
}

// wanted is a long row that is asked for: as it was sent, what the guards leave of it
// and say, and that with dates beside its words.
type wanted struct {
	sent, left, dated memd.RememberLongTerm
	in                *inspected
}

// inspectLong has the guards look at a long row that is made of a request, and of
// what from keeps.
func (s *Service) inspectLong(req memd.RememberLongTerm, from *memd.Memory, now memd.Time) wanted {
	m := &memd.Memory{
		Tier: memd.Long, Namespace: from.Namespace, MemoryKey: req.MemoryKey, Summary: req.Summary, RawContent: req.RawContent,
		Why: req.Why, HowToApply: req.HowToApply, Source: req.Source, Owner: req.Owner,
		Tags: slices.Clone(req.Tags), Access: slices.Clone(req.Access), SessionID: from.SessionID, Agent: from.Agent,
	}
	w := wanted{sent: req, left: req, in: s.inspect(m)}
	w.left.Summary, w.left.RawContent, w.left.Why, w.left.HowToApply, w.left.Tags = m.Summary, m.RawContent, m.Why, m.HowToApply, m.Tags
	w.dated = s.dateLong(w.left, from, now)
	return w
}

// longFields checks what can be checked without the head.
func (s *Service) longFields(req memd.RememberLongTerm) error {
	k, err := kind(req.Kind, memd.Fact, memd.Long)
	if err != nil {
		return err
	}
	if _, err := importance(req.Importance, memd.DefaultImportance); err != nil {
		return err
	}
	if _, err := tags("tags", req.Tags); err != nil {
		return err
	}
	checks := []error{
		memoryKey(req.MemoryKey),
		summary(req.Summary, s.budgets.LongChars),
		s.raw(req.RawContent),
		reasons(k, req.Why, req.HowToApply),
		name("owner", req.Owner),
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	if req.BaseVersion != nil && *req.BaseVersion < 0 {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "base_version", "base_version must not be negative")
	}
	if _, err := past("verified_at", req.VerifiedAt, s.store.Now(), memd.Time{}); err != nil {
		return err
	}
	if _, err := past("created_at", req.CreatedAt, s.store.Now(), memd.Time{}); err != nil {
		return err
	}
	if req.Kind == "" { // the head's kind may allow a person as the source
		k = memd.Preference
	}
	return durableSource(req.Source, k)
}

// upsert writes what is wanted under its key. from carries what the new row keeps of
// the row it is made from: the id, when it was created, and, on a promotion, its
// old tier. seen is what was found of its source.
func (s *Service) upsert(tx *store.Tx, c memd.Caller, ns string, w wanted, from *memd.Memory, seen sight, now memd.Time) (memd.Written, *inspected, error) {
	state, head, err := s.headRow(tx, ns, w.left.MemoryKey, now)
	if err != nil {
		return memd.Written{}, w.in, err
	}
	if head != nil && !c.Holds(head.Access) {
		return memd.Written{}, w.in, memd.FieldErrorf(memd.CodeForbidden, "memory_key", "the caller does not hold the access tags of this key")
	}
	w = w.withDates(head)
	if s.stands(c, ns, w, head, now) {
		tags := w.left.Tags
		w.left = w.sent
		w.left.Tags, w.in = tags, w.in.standing()
	} else if w.in.refused != nil {
		return memd.Written{}, w.in, w.in.refused
	}
	out, err := s.put(tx, c, ns, w.left, state, head, from, seen, now)
	return out, w.in, err
}

// stands reports whether what was sent is what the head says already, where the
// guards would write something else or nothing.
func (s *Service) stands(c memd.Caller, ns string, w wanted, head *memd.Memory, now memd.Time) bool {
	if head == nil || !w.in.touched() || !w.in.heldBy(head) {
		return false
	}
	sent, err := s.longRow(c, ns, w.sent, head, now)
	return err == nil && sameContent(head, sent)
}

// sameContent reports whether a write of m makes no new version of its key.
func sameContent(head, m *memd.Memory) bool {
	return head.ContentHash == m.ContentHash && head.Source == m.Source && head.Kind == m.Kind
}

// put is upsert of what the guards have left, over a head that may be nil.
func (s *Service) put(tx *store.Tx, c memd.Caller, ns string, req memd.RememberLongTerm, state store.Head, head, from *memd.Memory, seen sight, now memd.Time) (memd.Written, error) {
	if err := s.checkBase(req.BaseVersion, head, now); err != nil {
		return memd.Written{}, err
	}
	m, err := s.longRow(c, ns, req, head, now)
	if err != nil {
		return memd.Written{}, err
	}
	if err := noKey(tx, c, ns, m.Source); err != nil {
		return memd.Written{}, err
	}
	promoted := from.Tier != ""
	if head != nil && promoted { // a promotion opens nothing
		m.Access = union(head.Access, m.Access)
	}
	if head != nil && sameContent(head, m) {
		if promoted && head.VerifiedAt.After(m.VerifiedAt.Time) { // and makes nothing older
			return s.relabelHead(tx, c, head, m, now)
		}
		return s.refreshHead(tx, c, head, m, seen, now)
	}
	if state.ID == "" {
		if err := s.roomForKey(tx, ns); err != nil {
			return memd.Written{}, err
		}
	}
	m.ID, m.CreatedAt, m.SessionID, m.Agent = from.ID, from.CreatedAt, from.SessionID, from.Agent
	m.AccessCount, m.LastAccessedAt = from.AccessCount, from.LastAccessedAt
	m.Version = state.Version + 1
	hash, warnings := seen.mark(m, false)
	action := "remember_long_term"
	if !promoted {
		err = tx.Insert(m)
	} else {
		action = "promote"
		err = tx.Move(m, from.Tier)
	}
	if err != nil {
		return memd.Written{}, err
	}
	if err := tx.SetHead(ns, m.MemoryKey, store.Head{Version: m.Version, ID: m.ID, SourceHash: hash}); err != nil {
		return memd.Written{}, err
	}
	if err := coverOlder(tx, m); err != nil {
		return memd.Written{}, err
	}
	out := s.shown(*m, now)
	out.Created = head == nil
	same, err := sameElsewhere(tx, c, m, now)
	if err != nil {
		return memd.Written{}, err
	}
	out.Warnings = append(same, warnings...)
	return out, tx.Audit(s.entry(c, action, m, now))
}

// noKey refuses a source that is the key of another memory. Of a key whose every
// version is hidden from the caller it tells nothing.
func noKey(tx *store.Tx, c memd.Caller, ns, source string) error {
	if !looksLikeKey(source) {
		return nil
	}
	if _, taken, err := tx.Head(ns, source); err != nil || !taken {
		return err
	}
	versions, err := tx.Versions(ns, source)
	if err == nil && slices.ContainsFunc(versions, func(m memd.Memory) bool { return mayKnow(c, &m) }) {
		err = noSource("another memory is no source")
	}
	return err
}

// headRow returns a key's state and its live head, nil when none lives: the
// key is new, its head was deleted by hand, or it has expired.
func (s *Service) headRow(tx *store.Tx, ns, key string, now memd.Time) (store.Head, *memd.Memory, error) {
	state, ok, err := tx.Head(ns, key)
	if err != nil || !ok {
		return state, nil, err
	}
	m, ok, err := tx.Row(state)
	if err != nil || !ok || expired(&m, now) {
		return state, nil, err
	}
	rehash(&m)
	return state, &m, nil
}

func (s *Service) checkBase(base *int, head *memd.Memory, now memd.Time) error {
	if base == nil {
		return nil
	}
	version := 0
	if head != nil {
		version = head.Version
	}
	if *base == version {
		return nil
	}
	err := memd.FieldErrorf(memd.CodeVersionConflict, "base_version", "the head is version %d, not %d", version, *base).
		WithHint("read the head, merge, and write again with its version as base_version")
	if head != nil {
		shown := s.shown(*head, now).Memory
		err.Head = &shown
	}
	return err
}

// longRow makes the row a request asks for; what it leaves out comes from the
// head.
func (s *Service) longRow(c memd.Caller, ns string, req memd.RememberLongTerm, head *memd.Memory, now memd.Time) (*memd.Memory, error) {
	old := memd.Memory{Kind: memd.Fact, Importance: memd.DefaultImportance, Tags: []string{}, Access: []string{}}
	if head != nil {
		old = *head
	}
	m := &memd.Memory{
		Tier: memd.Long, Namespace: ns, MemoryKey: req.MemoryKey, Summary: req.Summary, RawContent: req.RawContent,
		Why: req.Why, HowToApply: req.HowToApply, Source: req.Source, SourceStatus: statusOf(req.Source),
		Owner: req.Owner, Tags: old.Tags, Access: old.Access, VerifiedBy: c.Name,
		UpdatedAt: now, WrittenAt: now,
	}
	var err error
	if m.Kind, err = kind(req.Kind, old.Kind, memd.Long); err != nil {
		return nil, err
	}
	if m.Owner = first(m.Owner, old.Owner); m.Owner == "" {
		m.Owner = s.owners[m.Kind]
	}
	if m.Importance, err = importance(req.Importance, old.Importance); err != nil {
		return nil, err
	}
	if m.VerifiedAt, err = past("verified_at", req.VerifiedAt, now, now); err != nil {
		return nil, err
	}
	if req.Tags != nil {
		if m.Tags, err = tags("tags", req.Tags); err != nil {
			return nil, err
		}
	}
	if req.Access != nil {
		if m.Access, err = access(c, req.Access); err != nil {
			return nil, err
		}
	}
	if err := reasons(m.Kind, m.Why, m.HowToApply); err != nil {
		return nil, err
	}
	if err := durableSource(m.Source, m.Kind); err != nil {
		return nil, err
	}
	m.ContentHash = ContentHash(m)
	return m, nil
}

// union is a and what b has beside it.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// refreshHead moves the head's verification and metadata; its content stays.
func (s *Service) refreshHead(tx *store.Tx, c memd.Caller, head, m *memd.Memory, seen sight, now memd.Time) (memd.Written, error) {
	stale := s.isStale(*head, now)
	head.VerifiedAt, head.VerifiedBy = m.VerifiedAt, m.VerifiedBy
	hash, warnings := seen.mark(head, stale)
	if err := tx.KeepSourceHash(head.Namespace, head.MemoryKey, head.ID, hash); err != nil {
		return memd.Written{}, err
	}
	out, err := s.relabelHead(tx, c, head, m, now)
	out.Warnings = append(out.Warnings, warnings...)
	return out, err
}

// relabelHead moves the head's metadata. As a new version would, it asks for no end
// and is not over.
func (s *Service) relabelHead(tx *store.Tx, c memd.Caller, head, m *memd.Memory, now memd.Time) (memd.Written, error) {
	head.Importance, head.Tags, head.Owner, head.Access = m.Importance, m.Tags, m.Owner, m.Access
	head.UpdatedAt = now
	lifted := append(lift("expires_at", &head.ExpiresAt), lift("resolved_at", &head.ResolvedAt)...)
	out := s.shown(*head, now)
	out.Unchanged, out.Warnings = true, lifted
	if err := tx.UpdateMeta(head); err != nil {
		return memd.Written{}, err
	}
	if err := coverOlder(tx, head); err != nil {
		return memd.Written{}, err
	}
	return out, tx.Audit(s.entry(c, "verify", head, now))
}

// roomForKey refuses a new key when the budget of heads, or the namespace's
// share of it, is used up.
func (s *Service) roomForKey(tx *store.Tx, namespace string) error {
	share := s.share(s.budgets.LongRows)
	// Every head has a row. Rows are tallied, and counting heads takes longer the more
	// there are.
	rows, err := tx.Rows(memd.Long)
	if err != nil || rows < cmp.Or(share, s.budgets.LongRows) {
		return err
	}
	heads, err := tx.Heads("")
	if err != nil {
		return err
	}
	if heads >= s.budgets.LongRows {
		return memd.Errorf(memd.CodeBudgetExceeded, "all %d long-term keys are in use (budgets.long_rows)", s.budgets.LongRows).
			WithHint("forget or merge keys, or raise budgets.long_rows; an existing key can still be written")
	}
	if share == 0 {
		return nil
	}
	if heads, err = tx.Heads(namespace); err != nil || heads < share {
		return err
	}
	return memd.Errorf(memd.CodeBudgetExceeded, "the namespace's share of %d long-term keys is in use (budgets.per_namespace)", share).
		WithHint("forget or merge keys, or raise budgets.per_namespace; an existing key can still be written")
}

// sameElsewhere warns when the same content already stands under another key.
func sameElsewhere(tx *store.Tx, c memd.Caller, m *memd.Memory, now memd.Time) ([]string, error) {
	twin, found, err := twinOf(tx, c, m, memd.Long, now, func(row *memd.Memory) bool { return row.MemoryKey != m.MemoryKey })
	if err != nil || !found {
		return nil, err
	}
	return []string{"the same content already stands under the key " + twin.MemoryKey}, nil
}
