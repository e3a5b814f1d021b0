package tiers

import (
	"fmt"
	"slices"

	"memd"
	"memd/store"
)

// entrance finds the place of a row that does not stand here. It returns what is left
// to do once the row is written, or the outcome of a row that finds none. A row without
// a key needs only room.
func (w *intake) entrance(a *arrival, m *memd.Memory) (enter func() error, out *memd.Imported, err error) {
	done := func() error { return nil }
	switch {
	case m.Tier == memd.Transient:
		return w.enterSession(a, m)
	case m.MemoryKey == "":
		return done, nil, w.roomFor(m.Tier, m.Namespace)
	}
	if m.Tier == memd.Long {
		if err := noKey(w.tx, w.caller, m.Namespace, m.Source); err != nil {
			return nil, nil, err
		}
	}
	state, known, err := w.tx.Head(m.Namespace, m.MemoryKey)
	if err != nil {
		return nil, nil, err
	}
	if a.rec.ID == "" { // a new memory under its key, no version of one
		if known {
			out, err = w.keyTaken(a, state)
			return nil, out, err
		}
		a.rec.IsHead = m.Tier == memd.Long
	}
	if known {
		if out, err := w.clash(a, m, state); out != nil || err != nil {
			return nil, out, err
		}
	}
	if !a.rec.IsHead {
		if state.ID != "" {
			return done, nil, w.cover(m, state)
		}
		counter := store.Head{Version: max(m.Version, state.Version)}
		return func() error { return w.tx.SetHead(m.Namespace, m.MemoryKey, counter) }, nil, nil
	}
	if state.ID == "" {
		if err := w.roomForKey(w.tx, m.Namespace); err != nil {
			return nil, nil, err
		}
	}
	return func() error {
		head := store.Head{Version: m.Version, ID: m.ID, SourceHash: a.rec.SourceHash}
		if err := w.tx.SetHead(m.Namespace, m.MemoryKey, head); err != nil {
			return err
		}
		return coverOlder(w.tx, m)
	}, nil, nil
}

// keyTaken answers for a new memory whose key stands.
func (w *intake) keyTaken(a *arrival, state store.Head) (*memd.Imported, error) {
	here, ok, err := w.tx.Row(state)
	if err != nil {
		return nil, err
	}
	if ok && mayKnow(w.caller, &here) {
		rehash(&here)
		if here.ContentHash == a.m.ContentHash || here.ContentHash == a.sent {
			return &memd.Imported{Outcome: memd.Unchanged, ID: here.ID, DuplicateOf: here.ID}, nil
		}
	}
	return conflict(a, "the key stands here and says something else"), nil
}

func conflict(a *arrival, format string, args ...any) *memd.Imported {
	return &memd.Imported{Outcome: memd.Conflict, ID: a.rec.ID, Code: memd.CodeVersionConflict, Field: "memory_key",
		Reason: fmt.Sprintf(format, args...), Hint: "the store keeps what it has; forget the key here first, or take it out of what is imported"}
}

// clash answers for a row of a key of which the store has other rows. It enters only
// where it is known which of them comes after which: beside a version of its own number,
// or a current one of which it knows nothing, it does not.
func (w *intake) clash(a *arrival, m *memd.Memory, state store.Head) (*memd.Imported, error) {
	versions, err := w.versionsOf(m.Namespace, m.MemoryKey)
	if err != nil {
		return nil, err
	}
	for id, version := range versions {
		if version == m.Version && id != m.ID {
			return conflict(a, "version %d of the key stands here as another memory", version), nil
		}
	}
	_, follows := versions[a.rec.SupersededBy]
	hidden := false // then nobody here gives it another version, as at a write
	if a.rec.IsHead && state.ID != "" {
		head, ok, err := w.tx.Row(state)
		if err != nil {
			return nil, err
		}
		hidden = ok && !w.caller.Holds(head.Access)
	}
	switch {
	case a.rec.IsHead && state.ID == "" && m.Version < state.Version:
		return conflict(a, "version %d of the key was given out here, and is gone", state.Version), nil
	case state.ID == "":
	case a.rec.IsHead && (hidden || m.Version <= state.Version || !slices.Contains(a.rec.Supersedes, state.ID)):
		return conflict(a, "the key has a current version here that this one does not follow"), nil
	case !a.rec.IsHead && (m.Version >= state.Version || !follows):
		return conflict(a, "the key has a current version here that does not follow this one"), nil
	}
	return nil, nil
}

// versionsOf are the versions of a key that stand, with those that this write added.
func (w *intake) versionsOf(namespace, key string) (map[string]int, error) {
	at := [2]string{namespace, key}
	if w.versions[at] == nil {
		var err error
		if w.versions[at], err = w.tx.VersionsOf(namespace, key); err != nil {
			return nil, err
		}
	}
	return w.versions[at], nil
}

// cover has an older version show to nobody to whom the current one does not.
func (w *intake) cover(m *memd.Memory, state store.Head) error {
	head, ok, err := w.tx.Row(state)
	if ok {
		m.Access = union(m.Access, head.Access)
	}
	return err
}

// enterSession opens the session of a note for who had it where it comes from.
func (w *intake) enterSession(a *arrival, m *memd.Memory) (func() error, *memd.Imported, error) {
	owner, err := w.tx.SessionOwner(m.SessionID)
	if err != nil {
		return nil, nil, err
	}
	wanted := first(a.rec.SessionOwner, w.caller.Identity())
	if owner != "" && owner != wanted {
		return nil, &memd.Imported{Outcome: memd.Conflict, ID: m.ID, Code: memd.CodeVersionConflict, Field: "session_id",
			Reason: "another has this session here"}, nil
	}
	if err := w.roomFor(memd.Transient, m.Namespace); err != nil || owner != "" {
		return func() error { return nil }, nil, err
	}
	return func() error { return w.tx.OpenSession(m.SessionID, wanted, w.now) }, nil, nil
}

// roomFor refuses a row that its tier's budget, or its namespace's share of it, has no
// room for: what comes in displaces nothing.
func (w *intake) roomFor(t memd.Tier, namespace string) (err error) {
	limit := map[memd.Tier]int{
		memd.Transient: w.budgets.TransientRows, memd.Short: w.budgets.ShortRows, memd.Archive: w.budgets.ArchiveRows,
	}[t]
	held, counted := w.rows[t]
	if !counted {
		if held, err = w.tx.Rows(t); err != nil {
			return err
		}
		w.rows[t] = held
	}
	if held >= limit {
		return memd.Errorf(memd.CodeBudgetExceeded, "all %d rows of budgets.%s_rows are in use", limit, t).
			WithHint("raise budgets.%s_rows, import again, and let groom bring the store back", t)
	}
	share := w.share(limit)
	if share == 0 || t == memd.Transient {
		return nil
	}
	if held, err = w.tx.RowsIn(t, namespace); err == nil && held >= share {
		err = memd.Errorf(memd.CodeBudgetExceeded, "the namespace's share of %d rows is in use (budgets.per_namespace)", share)
	}
	return err
}

// takeKey keeps the counter of a key whose current version stands nowhere, so that no
// older one revives and no number is given out twice.
func (w *intake) takeKey(a *arrival) (memd.Imported, error) {
	state, known, err := w.tx.Head(a.rec.Namespace, a.rec.MemoryKey)
	switch {
	case err != nil:
		return memd.Imported{}, err
	case known && state.Version >= a.rec.Version:
		return memd.Imported{Outcome: memd.Unchanged}, nil
	case state.ID != "":
		return *conflict(a, "the key has a current version here, and was deleted there"), nil
	case w.dry:
		return memd.Imported{Outcome: memd.Created}, nil
	}
	w.created++
	return memd.Imported{Outcome: memd.Created}, w.tx.SetHead(a.rec.Namespace, a.rec.MemoryKey, store.Head{Version: a.rec.Version})
}

// takeTombstone forgets what was forgotten elsewhere, unless it was written anew here
// since, and remembers that in any case.
func (w *intake) takeTombstone(a *arrival) (memd.Imported, error) {
	rec := &a.rec
	here, stands := w.standing[rec.ID]
	switch {
	case stands && (!mayKnow(w.caller, &here) || here.Namespace != rec.Namespace):
		return memd.Imported{Outcome: memd.Conflict, ID: rec.ID, Code: memd.CodeVersionConflict, Field: "namespace",
			Reason: "the store has this id in another namespace"}, nil
	case stands && (here.UpdatedAt.After(rec.ForgottenAt.Time) || here.WrittenAt.After(rec.ForgottenAt.Time)):
		return memd.Imported{Outcome: memd.Conflict, ID: rec.ID, Code: memd.CodeVersionConflict, Field: "forgotten_at",
			Reason: "it was changed here after it was forgotten there", Hint: "memd forget, if it is to go here too"}, nil
	case stands && w.dry:
		return memd.Imported{Outcome: memd.Forgotten, ID: rec.ID}, nil
	case stands:
		return memd.Imported{Outcome: memd.Forgotten, ID: rec.ID}, w.bury(&here, rec.ForgottenAt)
	case w.buried[rec.ID]:
		return memd.Imported{Outcome: memd.Unchanged, ID: rec.ID}, nil
	case w.dry:
		return memd.Imported{Outcome: memd.Created, ID: rec.ID}, nil
	}
	w.created++
	w.buried[rec.ID] = true
	return memd.Imported{Outcome: memd.Created, ID: rec.ID}, w.tx.Entomb(store.Tombstone{ID: rec.ID, Namespace: rec.Namespace,
		MemoryKey: rec.MemoryKey, ContentHash: rec.ContentHash, ForgottenAt: rec.ForgottenAt})
}

// bury forgets a row as of the time when it was forgotten elsewhere. No older version
// of its key revives; with the last of them the key goes.
func (w *intake) bury(m *memd.Memory, at memd.Time) error {
	rehash(m)
	if err := w.Service.bury(w.tx, w.caller, m, at); err != nil || m.MemoryKey == "" {
		return err
	}
	delete(w.standing, m.ID)
	w.buried[m.ID] = true
	state, known, err := w.tx.Head(m.Namespace, m.MemoryKey)
	if err != nil || !known {
		return err
	}
	left, err := w.tx.VersionsOf(m.Namespace, m.MemoryKey)
	delete(left, m.ID)
	delete(w.versions, [2]string{m.Namespace, m.MemoryKey})
	switch {
	case err != nil:
		return err
	case len(left) == 0:
		return w.tx.DropHead(m.Namespace, m.MemoryKey)
	case state.ID == m.ID || state.ID == "":
		return w.tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: state.Version})
	}
	return nil
}
