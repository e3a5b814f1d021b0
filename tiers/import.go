package tiers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"memd"
	"memd/guard/dates"
	"memd/store"
)

// importedAtOnce is how many records are one write: neither does the disk wait for each
// of them, nor does another writer wait for all.
const importedAtOnce = 128

// arrival is a record on its way in.
type arrival struct {
	rec   memd.Record
	m     memd.Memory // what the guards left of it
	sent  string      // the hash of the content that was sent
	in    *inspected  // nil before a guard has looked, and where none has to
	done  bool        // whether its outcome is known
	wrong error       // why a rule refuses it, nil where none does
	out   memd.Imported
	err   error // of a guard, for the log
}

// Import takes records into the store, as they left another one or were made of
// something else: ids, versions and times are kept, every rule and guard of a write
// holds, and nothing that stands is overwritten. It answers for each record what became
// of it; a refusal of one is not the others'. Taken in again, a record changes nothing.
// A dry run says what would become of them, each for itself. See docs/format.md.
func (s *Service) Import(ctx context.Context, c memd.Caller, records []memd.Record, dry bool) ([]memd.Imported, error) {
	if err := need(c, memd.RoleAdmin); err != nil {
		return nil, err
	}
	if len(records) > memd.MaxRecords {
		return nil, memd.FieldErrorf(memd.CodeTooLarge, "records", "records has %d entries, at most %d are allowed", len(records), memd.MaxRecords)
	}
	now := s.store.Now()
	all := make([]arrival, len(records))
	order := make([]*arrival, len(records))
	for i, rec := range records {
		all[i] = s.arrive(c, rec, now)
		order[i] = &all[i]
	}
	// A key's current version says what it supersedes, so that it comes first; what was
	// forgotten comes last.
	slices.SortStableFunc(order, func(a, b *arrival) int { return a.turn() - b.turn() })
	for some := range slices.Chunk(order, importedAtOnce) {
		if err := s.takeStanding(ctx, c, some, now); err != nil {
			return nil, err
		}
		if some = slices.DeleteFunc(slices.Clone(some), func(a *arrival) bool { return a.done }); len(some) == 0 {
			continue
		}
		for _, a := range some {
			s.guarded(a)
		}
		if err := s.takeIn(ctx, c, some, now, dry); err != nil {
			return nil, err
		}
	}
	outcomes := make([]memd.Imported, len(all))
	for i := range all {
		outcomes[i] = all[i].out
	}
	return outcomes, nil
}

// turn is when a record is looked at among those that came with it.
func (a *arrival) turn() int {
	switch {
	case a.rec.Type == memd.TombstoneRecord:
		return 2
	case a.rec.IsHead:
		return 0
	}
	return 1
}

// takeStanding answers for rows that stand already, just as they come: no guard need
// look at them, which takes longer than all the rest.
func (s *Service) takeStanding(ctx context.Context, c memd.Caller, some []*arrival, now memd.Time) error {
	return s.store.Update(ctx, func(tx *store.Tx) error {
		w := &intake{Service: s, tx: tx, caller: c, now: now}
		if err := w.look(some); err != nil {
			return err
		}
		for _, a := range some {
			here, stands := w.standing[a.rec.ID]
			if a.done = false; a.rec.Type != memd.MemoryRecord || a.wrong != nil || !stands {
				continue
			}
			if rehash(&here); here.ContentHash != a.sent {
				continue
			}
			if a.out, a.done = w.leftOut(a); !a.done {
				a.out = w.compare(a, &here)
				a.done = a.out.Outcome == memd.Unchanged // a guard may make it so
			}
		}
		return nil
	})
}

// takeIn is the write of some records.
func (s *Service) takeIn(ctx context.Context, c memd.Caller, some []*arrival, now memd.Time, dry bool) error {
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		w := &intake{Service: s, tx: tx, caller: c, now: now, dry: dry}
		if err := w.look(some); err != nil {
			return err
		}
		for _, a := range some {
			a.err = nil
			out, err := w.take(a)
			if a.out, err = refusedBy(out, err); err != nil {
				return err
			}
			if a.out.Code == memd.CodeSecretDetected && a.in != nil {
				a.err = a.in.refused
			}
		}
		return w.note()
	})
	if err != nil {
		return err
	}
	if !dry {
		for _, a := range some {
			_ = s.settle(c, a.in, a.err) // its outcome tells
		}
	}
	return nil
}

// refusedBy is the outcome of a record that a rule refuses; any other error, which has a
// cause, ends the write.
func refusedBy(out memd.Imported, err error) (memd.Imported, error) {
	if err == nil {
		return out, nil
	}
	if d, ok := errors.AsType[*denied](err); ok {
		err = d.err
	}
	e, ok := errors.AsType[*memd.Error](err)
	if !ok || e.Err != nil || e.Code == memd.CodeStoreFailed || e.Code == memd.CodeStoreBusy {
		return out, err
	}
	return memd.Imported{Outcome: memd.Refused, ID: out.ID, Code: e.Code, Field: e.Field, Reason: e.Message, Hint: e.Hint}, nil
}

// intake is one write of some records.
type intake struct {
	*Service
	tx     *store.Tx
	caller memd.Caller
	now    memd.Time
	dry    bool

	standing map[string]memd.Memory       // rows that have the ids of records
	buried   map[string]bool              // ids that were forgotten
	said     map[content]memd.Time        // what was forgotten, and when last
	versions map[[2]string]map[string]int // of keys, by namespace and key, as they are asked for
	rows     map[memd.Tier]int            // what tiers hold, likewise
	created  int
}

// content is what a tombstone tells of a memory's text.
type content struct{ namespace, key, hash string }

func contentOf(m *memd.Memory) content { return content{m.Namespace, m.MemoryKey, m.ContentHash} }

// look reads what the store knows of some records.
func (w *intake) look(some []*arrival) (err error) {
	w.buried, w.said, w.rows = map[string]bool{}, map[content]memd.Time{}, map[memd.Tier]int{}
	w.versions = map[[2]string]map[string]int{}
	var ids []string
	var memories []memd.Memory
	for _, a := range some {
		if a.rec.ID != "" && a.wrong == nil {
			ids = append(ids, a.rec.ID)
		}
		if a.rec.Type == memd.MemoryRecord && a.wrong == nil {
			memories = append(memories, a.m)
		}
	}
	if w.standing, err = w.tx.Standing(ids); err != nil {
		return err
	}
	graves, err := w.tx.Tombstones(ids, memories)
	for _, g := range graves {
		w.buried[g.ID] = true
		was := content{g.Namespace, g.MemoryKey, g.ContentHash}
		if g.ForgottenAt.After(w.said[was].Time) {
			w.said[was] = g.ForgottenAt
		}
	}
	return err
}

// take takes in one record. What it refuses it refuses before it has changed anything.
func (w *intake) take(a *arrival) (memd.Imported, error) {
	if a.wrong != nil {
		id := a.rec.ID
		if idOf(id) != nil { // it may be anything
			id = ""
		}
		return memd.Imported{ID: id}, a.wrong
	}
	switch {
	case a.rec.Type != memd.MemoryRecord && a.in.refused != nil:
		return memd.Imported{ID: a.rec.ID}, a.in.refused
	case a.rec.Type == memd.KeyRecord:
		return w.takeKey(a)
	case a.rec.Type == memd.TombstoneRecord:
		return w.takeTombstone(a)
	}
	return w.takeMemory(a)
}

// takeMemory takes in a row.
func (w *intake) takeMemory(a *arrival) (memd.Imported, error) {
	m := a.m
	if out, ends := w.leftOut(a); ends {
		return out, nil
	}
	if here, stands := w.standing[m.ID]; stands && m.ID != "" {
		return w.compare(a, &here), nil
	}
	if out, ends, err := w.saidAlready(a); ends || err != nil {
		return out, err
	}
	if a.in.refused != nil {
		return memd.Imported{ID: m.ID}, a.in.refused
	}
	enter, out, err := w.entrance(a, &m)
	if out != nil || err != nil {
		return deref(out), err
	}
	if w.dry {
		return memd.Imported{Outcome: memd.Created, ID: m.ID, Warnings: a.in.warnings()}, nil
	}
	if m.ID == "" {
		if m.ID, err = newID(); err != nil {
			return memd.Imported{}, err
		}
	}
	if err := w.insert(a, &m); err != nil {
		return memd.Imported{}, err
	}
	if err := enter(); err != nil {
		return memd.Imported{}, err
	}
	return memd.Imported{Outcome: memd.Created, ID: m.ID, Warnings: a.in.warnings()}, nil
}

func deref(out *memd.Imported) memd.Imported {
	if out == nil {
		return memd.Imported{}
	}
	return *out
}

// insert writes a row with what hangs on it, and has passes that judge leave it alone
// for a day.
func (w *intake) insert(a *arrival, m *memd.Memory) error {
	if err := w.tx.Insert(m); err != nil {
		return err
	}
	for _, at := range a.rec.Hits {
		if err := w.tx.Hit(m.ID, at); err != nil {
			return err
		}
	}
	if m.Tier != memd.Transient {
		if err := w.tx.Spare(m.ID, w.now); err != nil {
			return err
		}
	}
	w.created++
	w.rows[m.Tier]++
	w.standing[m.ID] = *m
	if known := w.versions[[2]string{m.Namespace, m.MemoryKey}]; known != nil {
		known[m.ID] = m.Version
	}
	return a.in.log(w.tx, w.entry(w.caller, "", m, w.now))
}

// leftOut answers for a row that was forgotten here, or whose time is over. A row with
// a key outlives its time, as it does where it stands.
func (w *intake) leftOut(a *arrival) (memd.Imported, bool) {
	m := &a.m
	if w.buried[m.ID] {
		return memd.Imported{Outcome: memd.Tombstoned, ID: m.ID, Reason: "it was forgotten here"}, true
	}
	if _, stands := w.standing[m.ID]; !stands && !m.WrittenAt.After(w.said[contentOf(m)].Time) {
		return memd.Imported{Outcome: memd.Tombstoned, ID: m.ID, Reason: "what it says was forgotten here after it was written"}, true
	}
	if m.MemoryKey == "" && expired(m, w.now) {
		return memd.Imported{Outcome: memd.Expired, ID: m.ID, Reason: "its time is over"}, true
	}
	return memd.Imported{}, false
}

// saidAlready answers for a row whose content stands under another id and shows to the
// same callers: a short one, and one without an id wherever the content stands.
func (w *intake) saidAlready(a *arrival) (memd.Imported, bool, error) {
	m := &a.m
	twin := func(t memd.Tier) (memd.Imported, bool, error) {
		row, found, err := twinOf(w.tx, w.caller, m, t, w.now, func(row *memd.Memory) bool { return sameSet(row.Access, m.Access) })
		return memd.Imported{Outcome: memd.Unchanged, ID: row.ID, DuplicateOf: row.ID}, found, err
	}
	if m.Tier == memd.Transient || m.MemoryKey != "" || m.Tier == memd.Archive && m.ID != "" {
		return memd.Imported{}, false, nil
	}
	has, err := w.tx.HasContent(m.Namespace, m.ContentHash)
	if err != nil {
		return memd.Imported{}, false, err
	}
	if has {
		if out, found, err := twin(memd.Short); found || err != nil {
			return out, found, err
		}
	}
	if m.ID != "" {
		return memd.Imported{}, false, nil
	}
	if has {
		if out, found, err := twin(memd.Long); found || err != nil {
			return out, found, err
		}
	}
	rows, err := w.tx.Archived(m.Namespace, m.ContentHash)
	for _, row := range rows {
		if mayKnow(w.caller, &row) && sameSet(row.Access, m.Access) {
			return memd.Imported{Outcome: memd.Unchanged, ID: row.ID, DuplicateOf: row.ID}, true, err
		}
	}
	return memd.Imported{}, false, err
}

// compare answers for a row whose id stands. What a store does by itself, such as
// counting accesses, archiving and verifying, is no difference; nor is what was changed
// here since. Nothing is overwritten.
func (w *intake) compare(a *arrival, here *memd.Memory) memd.Imported {
	m := &a.m
	out := memd.Imported{Outcome: memd.Unchanged, ID: m.ID}
	differs := func(field string) memd.Imported {
		return memd.Imported{Outcome: memd.Conflict, ID: m.ID, Code: memd.CodeVersionConflict, Field: field,
			Reason: "the store has this id with another " + field, Hint: "forget it here first, or take it out of what is imported"}
	}
	rehash(here)
	switch {
	case !mayKnow(w.caller, here):
		return differs("namespace")
	case here.Namespace != m.Namespace:
		return differs("namespace")
	case here.ContentHash != m.ContentHash && here.ContentHash != a.sent && !a.becameLong(here):
		return differs("content")
	case here.Tier != m.Tier || here.UpdatedAt.After(m.UpdatedAt.Time): // it went on here
		return out
	case here.MemoryKey != m.MemoryKey || here.Version != m.Version:
		return differs("memory_key")
	}
	for _, f := range []struct {
		name string
		same bool
	}{
		{"kind", here.Kind == m.Kind},
		{"source", here.Source == m.Source},
		{"importance", here.Importance == m.Importance},
		{"tags", sameSet(here.Tags, m.Tags)},
		{"owner", here.Owner == m.Owner},
		{"access", len(union(m.Access, here.Access)) == len(here.Access)}, // a newer version may have covered it
		{"expires_at", here.ExpiresAt.Equal(m.ExpiresAt.Time)},
		{"resolved_at", here.ResolvedAt.Equal(m.ResolvedAt.Time)},
	} {
		if !f.same {
			return differs(f.name)
		}
	}
	return out
}

// becameLong reports whether a row here is the one that came, promoted since: reasons may
// have come to it then, and dates beside its words.
func (a *arrival) becameLong(here *memd.Memory) bool {
	if here.MemoryKey == "" || a.m.MemoryKey != "" {
		return false
	}
	said := func(m *memd.Memory) string {
		return ContentHash(&memd.Memory{Summary: dates.Bare(m.Summary), RawContent: dates.Bare(m.RawContent)})
	}
	sent := a.rec.Memory()
	is := said(here)
	return is == said(&a.m) || is == said(&sent)
}

// note writes one entry for all that came in.
func (w *intake) note() error {
	if w.created == 0 {
		return nil
	}
	return w.tx.Audit(store.Entry{At: w.now, Caller: w.caller.Name, Action: "import", Count: w.created,
		Detail: fmt.Sprintf("%d taken in", w.created)})
}
