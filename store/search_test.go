package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// crowd is a store with one row that everyone in the default namespace sees
// and others that something keeps out of sight, all of the same words.
func crowd(t *testing.T, tier memd.Tier) (s *store.Set, seen memd.Memory) {
	s = memtest.Store(t, "", nil, nil)
	now := scope().Now
	made := func(n int, edit func(*memd.Memory)) memd.Memory {
		m := row(tier, n, "the common words 共同的词语")
		edit(&m)
		put(t, s, m)
		return m
	}
	seen = made(1, func(m *memd.Memory) { m.Tags = []string{"a", "b"}; m.Importance = 9 })
	made(2, func(m *memd.Memory) { m.Namespace = "user" })
	made(3, func(m *memd.Memory) { m.Access = []string{"hr"} })
	made(4, func(m *memd.Memory) { m.Access = []string{"hr", "pay"} })
	made(5, func(m *memd.Memory) { m.ExpiresAt = now })
	made(6, func(m *memd.Memory) { m.ExpiresAt = memd.At(now.Add(-time.Hour)); m.Namespace = "user" })
	return s, seen
}

// search returns the ids of a tier's matching rows in scope, oldest first.
func search(t *testing.T, s *store.Set, tier memd.Tier, sc store.Scope, f store.Filter) string {
	t.Helper()
	var ids []string
	view(t, s, func(v *store.View) error {
		var locs []store.Loc
		if err := v.Postings(tier, nil, match("common 共同"), func(l store.Loc) { locs = append(locs, l) }); err != nil {
			return err
		}
		rows, err := v.Load(tier, locs, sc, f)
		for _, m := range rows {
			ids = append(ids, strings.TrimLeft(m.ID[24:], "0"))
		}
		return err
	})
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// Scope and filter hold for every search, and a scope left empty sees nothing.
func TestSearchScope(t *testing.T) {
	for _, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
		s, _ := crowd(t, tier)
		with := func(edit func(*store.Scope)) store.Scope {
			sc := scope()
			edit(&sc)
			return sc
		}
		for name, c := range map[string]struct {
			scope  store.Scope
			filter store.Filter
			want   string
		}{
			"the namespace":   {scope(), store.Filter{}, "1"},
			"two":             {with(func(s *store.Scope) { s.Namespaces = []string{"user", "default"} }), store.Filter{}, "1 2"},
			"all":             {with(func(s *store.Scope) { s.Namespaces, s.All = nil, true }), store.Filter{}, "1 2"},
			"none":            {with(func(s *store.Scope) { s.Namespaces = nil }), store.Filter{}, ""},
			"zero":            {store.Scope{}, store.Filter{}, ""},
			"one tag":         {with(func(s *store.Scope) { s.Access = []string{"hr"} }), store.Filter{}, "1 3"},
			"the other tag":   {with(func(s *store.Scope) { s.Access = []string{"pay"} }), store.Filter{}, "1"},
			"both tags":       {with(func(s *store.Scope) { s.Access = []string{"x", "pay", "hr"} }), store.Filter{}, "1 3 4"},
			"earlier":         {with(func(s *store.Scope) { s.Now = memd.At(s.Now.Add(-time.Millisecond)) }), store.Filter{}, "1 5"},
			"kind":            {scope(), store.Filter{Kinds: []memd.Kind{memd.Rule, memd.Fact}}, "1"},
			"another kind":    {scope(), store.Filter{Kinds: []memd.Kind{memd.Rule}}, ""},
			"no kind":         {scope(), store.Filter{Kinds: []memd.Kind{}}, ""},
			"row tag":         {scope(), store.Filter{Tags: []string{"b"}}, "1"},
			"row tags":        {scope(), store.Filter{Tags: []string{"b", "a"}}, "1"},
			"one tag less":    {scope(), store.Filter{Tags: []string{"b", "c"}}, ""},
			"tag, other case": {scope(), store.Filter{Tags: []string{"B"}}, ""},
		} {
			if got := search(t, s, tier, c.scope, c.filter); got != c.want {
				t.Errorf("%s, %s: finds %q, want %q", tier, name, got, c.want)
			}
		}
	}
}

// What filters removed is told by reason, and only of rows whose existence the
// caller may know.
func TestRemovedTells(t *testing.T) {
	for _, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
		s, _ := crowd(t, tier)
		for name, c := range map[string]struct {
			caller memd.Caller
			filter store.Filter
			want   string
		}{
			"all":      {memd.LocalAdmin(), store.Filter{}, "map[:1 access:2 expired:2 namespace:1]"},
			"no tags":  {memd.Caller{}, store.Filter{}, "map[:1 expired:2 namespace:1]"},
			"one tag":  {memd.Caller{Access: []string{"hr"}}, store.Filter{}, "map[:1 access:1 expired:2 namespace:1]"},
			"member":   {memd.Caller{Namespaces: []string{"default"}, Access: []string{"hr"}}, store.Filter{}, "map[:1 access:1 expired:1]"},
			"stranger": {memd.Caller{Namespaces: []string{}}, store.Filter{}, "map[]"},
			"by kind":  {memd.Caller{Namespaces: []string{"default"}}, store.Filter{Kinds: []memd.Kind{memd.Rule}}, "map[expired:1 kind:1]"},
			"by tag":   {memd.Caller{Namespaces: []string{"default"}}, store.Filter{Tags: []string{"c"}}, "map[expired:1 tag:1]"},
		} {
			counts := map[string]int{}
			view(t, s, func(v *store.View) error {
				return v.Removed(tier, match("common"), scope(), c.filter, c.caller, 100, func(_, reason string) { counts[reason]++ })
			})
			if fmt.Sprint(counts) != c.want {
				t.Errorf("%s, %s: %v, want %s", tier, name, counts, c.want)
			}
		}
		// The limit is of rows that the caller may know of.
		n := 0
		view(t, s, func(v *store.View) error {
			return v.Removed(tier, match("common"), scope(), store.Filter{}, memd.LocalAdmin(), 3, func(_, _ string) { n++ })
		})
		if n != 3 {
			t.Errorf("%s: %d rows at a limit of 3", tier, n)
		}
	}
}

// A superseded version is found by no search, in the long tier or in the
// archive, whatever wording matches; it is told apart as what it is.
func TestSupersededIsNotFound(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	old, current := row(memd.Long, 1, "gopher wording"), row(memd.Long, 2, "newer wording")
	cold := row(memd.Archive, 3, "gopher in the cold")
	current.MemoryKey, current.Version = old.MemoryKey, 2
	cold.MemoryKey, cold.Version = old.MemoryKey, 1
	put(t, s, old)
	finds(t, s, memd.Long, "gopher", old)
	put(t, s, current, cold)
	finds(t, s, memd.Long, "gopher")
	finds(t, s, memd.Archive, "gopher")
	finds(t, s, memd.Long, "wording", current)
	counts := map[string]int{}
	view(t, s, func(v *store.View) error {
		for _, tier := range []memd.Tier{memd.Long, memd.Archive} {
			if err := v.Removed(tier, match("gopher"), scope(), store.Filter{}, memd.LocalAdmin(), 10, func(_, r string) { counts[r]++ }); err != nil {
				return err
			}
		}
		rows, err := v.Superseded(match("gopher"), scope(), 10)
		if len(rows) != 1 || rows[0].ID != old.ID {
			t.Errorf("superseded are %v", rows)
		}
		for key, want := range map[string]bool{old.MemoryKey: true, "none": false} {
			if live, err := v.HasHead(scope(), "default", key); live != want || err != nil {
				t.Errorf("key %s has a head: %v, %v", key, live, err)
			}
		}
		return err
	})
	if !maps.Equal(counts, map[string]int{"superseded": 2}) {
		t.Errorf("removed are %v", counts)
	}
}

// What ranking counts with is the whole corpus, whoever asks: rows, characters
// and document frequencies, in step with every write.
func TestCorpusCounts(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	check := func(step string, rows int, chars int64, df map[string]int) {
		t.Helper()
		view(t, s, func(v *store.View) error {
			r, c, err := v.Corpus()
			if r != rows || c != chars || err != nil {
				t.Errorf("%s: %d rows of %d characters, want %d of %d, %v", step, r, c, rows, chars, err)
			}
			for term, want := range df {
				if n, err := v.DocFreqs([]string{"unheard", term}); n[0] != 0 || n[1] != want || err != nil {
					t.Errorf("%s: %q is in %d rows, want %d, %v", step, term, n, want, err)
				}
			}
			return nil
		})
	}
	check("empty", 0, 0, map[string]int{"zebra": 0})
	a, b, c := row(memd.Short, 1, "zebra zebra"), row(memd.Long, 2, "斑马 zebra"), row(memd.Archive, 3, "none")
	c.Namespace = "user"
	put(t, s, a, b, c, row(memd.Transient, 4, "zebra note"))
	check("three rows", 3, 11+8+4, map[string]int{"zebra": 2, "none": 1, "斑马": 1, "note": 0})
	moved := a
	moved.Tier = memd.Archive
	write(t, s, func(tx *store.Tx) error { return tx.Move(&moved, memd.Short) })
	check("moved", 3, 23, map[string]int{"zebra": 2})
	shell(t, s.Dir(), `UPDATE long SET summary = 'horse'`)
	check("edited", 3, 11+5+4, map[string]int{"zebra": 1, "hors": 1, "斑马": 0})
	shell(t, s.Dir(), `DELETE FROM archive`)
	check("deleted", 1, 5, map[string]int{"zebra": 0, "hors": 1})
}

// The rows of a context: kinds by importance, valued rows, the latest.
func TestRowsForContext(t *testing.T) {
	s, _ := crowd(t, memd.Long)
	var shorts []memd.Memory
	for n := range 4 {
		m := row(memd.Short, 20+n, fmt.Sprint("short ", n))
		m.Importance = []int{5, 7, 9, 2}[n]
		m.AccessCount = []int{0, 0, 0, 3}[n]
		m.WrittenAt = memd.At(m.WrittenAt.Add(time.Duration([]int{2, 0, 1, 3}[n]) * time.Minute))
		shorts = append(shorts, m)
	}
	put(t, s, shorts...)
	names := func(rows []memd.Memory, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range rows {
			ids = append(ids, strings.TrimLeft(m.ID[24:], "0"))
		}
		return strings.Join(ids, " ")
	}
	view(t, s, func(v *store.View) error {
		for want, got := range map[string]string{
			"1":           names(v.Pinned(scope(), []memd.Kind{memd.Rule, memd.Fact})),
			"":            names(v.Pinned(scope(), []memd.Kind{memd.Rule})),
			"22 21 23":    names(v.Valued(scope(), 7, 3, 10)),
			"22 21":       names(v.Valued(scope(), 7, 4, 10)),
			"23 20 22":    names(v.Latest(scope(), 3)),
			"23 20 22 21": names(v.Latest(scope(), 10)),
		} {
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		return nil
	})
}

// No text that a person can type breaks a search.
func TestSearchTakesAnyText(t *testing.T) {
	s, _ := crowd(t, memd.Short)
	for _, query := range []string{
		"don't", "pre-edit", "C++", "GB/s", "a:b", `"quoted"`, `"un`, "(x", ")", "NEAR(a b)", "a AND", "OR", "NOT x", "^a", "a*", "{summary}: x",
		"summary: x", "-x", "x - y", "a\x00b", "\xff\xfe", "'; DROP TABLE short; --", "修复 \"", "🚀", "e\u0301", strings.Repeat("(", 400), strings.Repeat("x ", 9000),
	} {
		m := match(query)
		if m == "" {
			continue
		}
		for _, tier := range []memd.Tier{memd.Short, memd.Long, memd.Archive} {
			err := s.View(ctx, func(v *store.View) error {
				return v.Postings(tier, nil, m, func(store.Loc) {})
			})
			if err != nil {
				t.Errorf("%.20q: %v", query, err)
			}
		}
	}
	finds(t, s, memd.Short, "common", row(memd.Short, 1, ""))
}
