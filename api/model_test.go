package api

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"memd"
)

// model is what a store should hold, kept by the plainest means, beside the
// store itself.
type model struct {
	*premises
	rows      []*modelRow // in order of creation
	heads     map[string]*modelHead
	sessions  map[string]*modelSession
	bystander int   // the file of a long row of another namespace
	files     []int // historical databases, oldest first
	rolled    int   // how many there ever were
}

type modelRow struct {
	id, key, summary, source string
	tier                     memd.Tier
	kind                     memd.Kind
	version, importance      int
	resolved                 bool
	since                    memd.Time // what its age counts from
	file                     int       // the historical database it stands in, 0 for the active one
	accesses                 int       // folded
	days                     []string  // of accesses not folded yet
	folded                   string    // the last day of those folded
}

type modelHead struct {
	version int
	id      string // "" when no row is current
}

type modelSession struct {
	opened memd.Time
	notes  []modelNote
}

type modelNote struct {
	id, summary string
	expires     memd.Time
}

func (m *model) find(id string) *modelRow {
	for _, r := range m.rows {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (m *model) remove(id string) {
	m.rows = slices.DeleteFunc(m.rows, func(r *modelRow) bool { return r.id == id })
}

// head is the current row of a key, nil when there is none.
func (m *model) head(key string) *modelRow {
	if h := m.heads[key]; h != nil && h.id != "" {
		return m.find(h.id)
	}
	return nil
}

// isCurrent reports whether a row is no superseded version.
func (m *model) isCurrent(r *modelRow) bool {
	switch head := m.heads[r.key]; {
	case r.tier == memd.Long:
		return head.id == r.id
	case r.key != "" && head != nil: // archived
		return head.version <= r.version
	}
	return true
}

// any draws the id of some row, superseded ones included.
func (m *model) any(t *rapid.T) *modelRow {
	if len(m.rows) == 0 {
		t.Skip("no row")
	}
	return rapid.SampledFrom(m.rows).Draw(t, "row")
}

var (
	someText   = rapid.SampledFrom([]string{"alpha", "beta 41", "beta 42", "Alpha"})
	someKey    = rapid.SampledFrom([]string{"k", "l"})
	someSource = rapid.SampledFrom([]string{"AGENTS.md#commands", "docs/a.md#b"})
	someKind   = rapid.SampledFrom([]memd.Kind{memd.Fact, memd.Pitfall})
)

// twin is the newest current row of a tier with the text.
func (m *model) twin(tier memd.Tier, text string) *modelRow {
	for _, r := range slices.Backward(m.rows) {
		if r.tier == tier && r.summary == text && m.isCurrent(r) {
			return r
		}
	}
	return nil
}

func (m *model) Remember(t *rapid.T) {
	text := someText.Draw(t, "text")
	w, err := m.tiers.Remember(ctx, ann, memd.Remember{Summary: text})
	if err != nil {
		t.Fatal(err)
	}
	if r := m.twin(memd.Long, text); r != nil {
		if !w.Deduplicated || w.Tier != memd.Long || w.Summary != text || w.DuplicateOf != w.ID || w.Created {
			t.Fatalf("the twin in long is answered %+v", w)
		}
	} else if r := m.twin(memd.Short, text); r != nil {
		if w.ID != r.id && m.find(w.ID).summary != text || !w.Deduplicated || w.Created {
			t.Fatalf("the twin in short is answered %+v", w)
		}
		m.find(w.ID).since = m.now()
	} else {
		if !w.Created || w.Deduplicated {
			t.Fatalf("new content is answered %+v", w)
		}
		m.rows = append(m.rows, &modelRow{id: w.ID, tier: memd.Short, summary: text, kind: memd.Event, importance: 5, since: m.now()})
	}
}

func (m *model) Upsert(t *rapid.T) {
	key, text, source, kind := someKey.Draw(t, "key"), someText.Draw(t, "text"), someSource.Draw(t, "source"), someKind.Draw(t, "kind")
	req := memd.RememberLongTerm{MemoryKey: key, Summary: text, Source: source, Kind: kind}
	head := m.head(key)
	if rapid.Bool().Draw(t, "with base") {
		base := rapid.IntRange(0, 3).Draw(t, "base")
		req.BaseVersion = &base
	}
	w, err := m.tiers.RememberLongTerm(ctx, ann, req)
	current := 0
	if head != nil {
		current = head.version
	}
	if req.BaseVersion != nil && *req.BaseVersion != current {
		if memd.CodeOf(err) != memd.CodeVersionConflict {
			t.Fatalf("base %d on version %d: %v", *req.BaseVersion, current, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.upserted(t, w, &modelRow{id: w.ID, key: key, summary: text, source: source, kind: kind, importance: 5, since: m.now()}, head)
}

// upserted puts row under its key, or refreshes the head that says the same.
func (m *model) upserted(t *rapid.T, w memd.Written, row, head *modelRow) {
	if head != nil && head.summary == row.summary && head.source == row.source && head.kind == row.kind {
		if !w.Unchanged || w.ID != head.id || w.Version != head.version {
			t.Fatalf("a refresh is answered %+v", w)
		}
		head.since = row.since
		return
	}
	if m.heads[row.key] == nil {
		m.heads[row.key] = &modelHead{}
	}
	if head != nil {
		row.importance = head.importance
	}
	m.heads[row.key].version++
	m.heads[row.key].id = row.id
	row.tier, row.version = memd.Long, m.heads[row.key].version
	if w.Unchanged || w.Version != row.version {
		t.Fatalf("version %d is answered %+v", row.version, w)
	}
	m.rows = append(m.rows, row)
}

func (m *model) Forget(t *rapid.T) {
	r := m.any(t)
	if err := m.tiers.Forget(ctx, ann, r.id); err != nil {
		t.Fatal(err)
	}
	if r.key == "" {
		m.remove(r.id)
		return
	}
	m.rows = slices.DeleteFunc(m.rows, func(o *modelRow) bool { return o.key == r.key && o.version <= r.version })
	if m.heads[r.key].version == r.version {
		delete(m.heads, r.key)
	}
}

func (m *model) ForgetKey(t *rapid.T) {
	key := someKey.Draw(t, "key")
	err := m.tiers.ForgetKey(ctx, ann, "", key)
	if !slices.ContainsFunc(m.rows, func(r *modelRow) bool { return r.key == key }) {
		if memd.CodeOf(err) != memd.CodeNotFound {
			t.Fatalf("no such key: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.rows = slices.DeleteFunc(m.rows, func(r *modelRow) bool { return r.key == key })
	delete(m.heads, key)
}

func (m *model) Archive(t *rapid.T) {
	r := m.any(t)
	w, err := m.tiers.Archive(ctx, ann, r.id)
	switch {
	case r.tier == memd.Archive:
		if err != nil || !w.Unchanged {
			t.Fatalf("archived already: %+v, %v", w, err)
		}
	case r.tier == memd.Short, r.kind == memd.Pitfall && r.resolved:
		if err != nil {
			t.Fatal(err)
		}
		if r.tier == memd.Long && m.isCurrent(r) {
			m.heads[r.key].id = ""
		}
		r.tier = memd.Archive
	default:
		if memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Fatalf("archived a live long row: %v", err)
		}
	}
}

func (m *model) PromoteToShort(t *rapid.T) {
	r := m.any(t)
	_, err := m.tiers.Promote(ctx, ann, r.id, memd.Promote{To: memd.Short})
	if r.tier == memd.Archive && r.key == "" {
		if err != nil {
			t.Fatal(err)
		}
		r.tier, r.file = memd.Short, 0
	} else if memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Fatalf("promoted a row of %s to short: %v", r.tier, err)
	}
}

func (m *model) PromoteToLong(t *rapid.T) {
	r := m.any(t)
	key, source := someKey.Draw(t, "key"), someSource.Draw(t, "source")
	w, err := m.tiers.Promote(ctx, ann, r.id, memd.Promote{MemoryKey: key, Source: source})
	if r.tier == memd.Long {
		if memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Fatalf("promoted a long row: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	head := m.head(key)
	moved := *r
	moved.key, moved.source, moved.resolved, moved.file = key, source, false, 0
	if !moved.kind.Durable() {
		moved.kind = memd.Fact
		if head != nil {
			moved.kind = head.kind
		}
	}
	m.remove(r.id)
	if head != nil && head.since.After(moved.since.Time) && head.summary == moved.summary && head.source == moved.source && head.kind == moved.kind {
		moved.since = head.since
	}
	importance := moved.importance
	m.upserted(t, w, &moved, head)
	if r := m.head(key); r != nil {
		r.importance = importance
	}
	slices.SortFunc(m.rows, func(a, b *modelRow) int { return strings.Compare(a.id, b.id) })
}

func (m *model) Patch(t *rapid.T) {
	r := m.any(t)
	p := memd.Patch{Importance: memd.Some(rapid.IntRange(1, 10).Draw(t, "importance"))}
	if rapid.Bool().Draw(t, "resolve") {
		p.ResolvedAt = memd.Some(m.now())
		r.resolved = true
	}
	r.importance = p.Importance.Value
	w, err := m.tiers.Patch(ctx, ann, r.id, p)
	if err != nil {
		t.Fatal(err)
	}
	if p.ResolvedAt.Set && r.kind == memd.Pitfall && (r.tier == memd.Short || m.isCurrent(r)) {
		if r.tier == memd.Long {
			m.heads[r.key].id = ""
		}
		r.tier = memd.Archive
	}
	if w.Tier != r.tier {
		t.Fatalf("patched, the row is in %s, want %s", w.Tier, r.tier)
	}
}

func (m *model) Verify(t *rapid.T) {
	r := m.any(t)
	_, err := m.tiers.Verify(ctx, ann, r.id, memd.Verify{})
	if r.tier != memd.Long {
		if memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Fatalf("verified a row of %s: %v", r.tier, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	r.since = m.now()
}

func (m *model) Wait(t *rapid.T) {
	m.clock.Advance(time.Duration(rapid.IntRange(1, 50).Draw(t, "hours")) * time.Hour)
}
