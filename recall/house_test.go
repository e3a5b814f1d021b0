package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// house is a store with all that stands on it.
type house struct {
	t      testing.TB
	dir    string
	clock  *memtest.Clock
	store  *store.Set
	tiers  *tiers.Service
	engine *recall.Engine
}

func newHouse(t testing.TB) *house {
	t.Helper()
	return openHouse(t, t.TempDir(), memtest.NewClock())
}

func openHouse(t testing.TB, dir string, clock *memtest.Clock) *house {
	t.Helper()
	s := memtest.Store(t, dir, clock, func(b *configs.Budgets) { b.ShortRows = 1 << 20 })
	return &house{t: t, dir: dir, clock: clock, store: s, tiers: tiers.New(s), engine: recall.New(s, nil)}
}

// root sees and holds everything.
var root = memd.LocalAdmin()

// A mod changes a row from the default ones that short and long make.
type mod func(*memd.Memory)

func importance(n int) mod { return func(m *memd.Memory) { m.Importance = n } }
func accessed(n int) mod   { return func(m *memd.Memory) { m.AccessCount = n } }
func ofKind(k memd.Kind) mod {
	return func(m *memd.Memory) { m.Kind = k }
}
func tagged(tags ...string) mod     { return func(m *memd.Memory) { m.Tags = tags } }
func ownedBy(owner string) mod      { return func(m *memd.Memory) { m.Owner = owner } }
func in(namespace string) mod       { return func(m *memd.Memory) { m.Namespace = namespace } }
func restricted(tags ...string) mod { return func(m *memd.Memory) { m.Access = tags } }
func archived(m *memd.Memory)       { m.Tier = memd.Archive }
func because(why, how string) mod {
	return func(m *memd.Memory) { m.Why, m.HowToApply = why, how }
}

// from sets what is known of a row's source.
func from(source string, status memd.SourceStatus) mod {
	return func(m *memd.Memory) { m.Source, m.SourceStatus = source, status }
}

// daysAgo says when a row was written, and verified if it is long-term.
func daysAgo(n int) mod {
	return func(m *memd.Memory) {
		at := memd.At(m.WrittenAt.Add(-time.Duration(n) * 24 * time.Hour))
		m.WrittenAt, m.UpdatedAt, m.CreatedAt = at, at, at
		if m.Tier == memd.Long {
			m.VerifiedAt = at
		}
	}
}

// writtenDaysAgo ages a row's content alone, as a patch today leaves it.
func writtenDaysAgo(n int) mod {
	return func(m *memd.Memory) { m.WrittenAt = memd.At(m.WrittenAt.Add(-time.Duration(n) * 24 * time.Hour)) }
}

// stale marks a row as groom does.
func stale(m *memd.Memory) { m.Stale, m.StaleReason = true, memd.StaleSourceChanged }

// start is where every test's clock begins.
var start = memd.At(memtest.NewClock().Now())

func short(summary string, mods ...mod) memd.Memory {
	return made(memd.Memory{Tier: memd.Short, Kind: memd.Event, SourceStatus: memd.SourceNone, Summary: summary}, mods)
}

func long(key, summary string, mods ...mod) memd.Memory {
	return made(memd.Memory{
		Tier: memd.Long, Kind: memd.Fact, MemoryKey: key, Version: 1, Summary: summary,
		Source: "AGENTS.md", SourceStatus: memd.SourceUnchecked, VerifiedAt: start,
	}, mods)
}

func made(m memd.Memory, mods []mod) memd.Memory {
	m.Namespace, m.Importance, m.Tags, m.Access = memd.DefaultNamespace, memd.DefaultImportance, []string{}, []string{}
	m.WrittenAt, m.UpdatedAt, m.CreatedAt = start, start, start
	for _, change := range mods {
		change(&m)
	}
	return m
}

// put writes rows as they are and returns their ids, which count up from 1
// with the rows of the house.
func (h *house) put(rows ...memd.Memory) []string {
	h.t.Helper()
	ids := make([]string, len(rows))
	err := h.store.Update(context.Background(), func(tx *store.Tx) error {
		var n int
		for _, t := range memd.AllTiers() {
			rows, err := tx.Rows(t)
			if err != nil {
				return err
			}
			n += rows
		}
		for i, m := range rows {
			m.ID = fmt.Sprintf("01900000-0000-7000-8000-%012d", n+i+1)
			m.ContentHash = tiers.ContentHash(&m)
			ids[i] = m.ID
			if err := tx.Insert(&m); err != nil {
				return err
			}
			if m.Tier != memd.Long {
				continue
			}
			if err := tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: m.Version, ID: m.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return ids
}

// recall asks without counting the access.
func (h *house) recall(q memd.Query) memd.Answer {
	h.t.Helper()
	return h.recallAs(root, q)
}

func (h *house) recallAs(c memd.Caller, q memd.Query) memd.Answer {
	h.t.Helper()
	q.Touch = new(bool)
	answer, err := h.engine.Recall(context.Background(), c, q)
	if err != nil {
		h.t.Fatalf("recall %.60q: %v", q.Query, err)
	}
	return answer
}

// ask recalls a plain text, with room for every result.
func (h *house) ask(query string) memd.Answer {
	h.t.Helper()
	return h.recall(memd.Query{Query: query, Limit: ptr(100)})
}

// refused recalls and wants an error of the given code about a field.
func (h *house) refused(q memd.Query, code memd.Code, field string) {
	h.t.Helper()
	_, err := h.engine.Recall(context.Background(), root, q)
	checkRefusal(h.t, err, code, field)
}

func ids(hits []memd.Hit) []string {
	out := make([]string, len(hits))
	for i := range hits {
		out[i] = hits[i].ID
	}
	return out
}

// wantIDs compares the ids of results, in order.
func wantIDs(t testing.TB, hits []memd.Hit, want ...string) {
	t.Helper()
	if got := ids(hits); !slices.Equal(got, want) {
		t.Fatalf("results\n got %v\nwant %v", got, want)
	}
}

func ptr[T any](v T) *T { return &v }

func checkRefusal(t testing.TB, err error, code memd.Code, field string) {
	t.Helper()
	var refusal *memd.Error
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Field != field {
		t.Fatalf("error %v, want %s of field %q", err, code, field)
	}
}
