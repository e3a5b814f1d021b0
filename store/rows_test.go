package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// full is a row with every field set.
func full(t memd.Tier, n int) memd.Memory {
	m := row(t, n, "every field, quoted ' \" \\ and <b>R&D</b>, 中文, 🚀, e\u0301")
	later := func(d time.Duration) memd.Time { return memd.At(m.CreatedAt.Add(d)) }
	m.MemoryKey, m.Version, m.Kind, m.Importance = "a/Key.1", 3, memd.Pitfall, 9
	m.Tags, m.Access = []string{"R&D", "<b>", "50%_", "a,b", "引号\""}, []string{"hr", "x&y"}
	m.Source, m.SourceStatus, m.VerifiedBy = "docs/a.md#b:3", memd.SourceMissing, "someone"
	m.VerifiedAt, m.UpdatedAt, m.WrittenAt = later(time.Millisecond), later(time.Second), later(time.Minute)
	m.Stale, m.StaleReason = true, memd.StaleSourceMissing
	m.Owner, m.SessionID, m.Agent = "owner", "session", "agent"
	m.LastAccessedAt, m.AccessCount = later(time.Hour), 7
	m.ExpiresAt, m.ResolvedAt = later(48*time.Hour), later(24*time.Hour)
	m.Why, m.HowToApply, m.RawContent = "because\nof it", "so", strings.Repeat("raw ", 5000)
	return m
}

var sameRow = cmpopts.EquateComparable(memd.Time{})

func TestRowsComeBackWhole(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for n, tier := range memd.AllTiers() {
		m := full(tier, n)
		m.Access = nil // so that the scope of find sees it
		put(t, s, m)
		got, ok := get(t, s, m.ID)
		m.Access = []string{}
		if diff := cmp.Diff(m, got, sameRow); !ok || diff != "" {
			t.Errorf("%s: want -, got +\n%s", tier, diff)
		}
		if tier == memd.Transient {
			continue
		}
		for _, word := range []string{"R&D", "50%_", "引号", "owner", "because", "中文", "🚀"} {
			finds(t, s, tier, word, m)
		}
		if got := shell(t, s.Dir(), `SELECT tags FROM `+string(tier)); got != `["R&D","<b>","50%_","a,b","引号\""]` {
			t.Errorf("the shell shows tags %s", got)
		}
	}
	bare := row(memd.Short, 100, "bare")
	put(t, s, bare)
	got, _ := get(t, s, bare.ID)
	bare.Tags, bare.Access = []string{}, []string{}
	if diff := cmp.Diff(bare, got, sameRow); diff != "" {
		t.Errorf("a bare row: want -, got +\n%s", diff)
	}
	if got := shell(t, s.Dir(), `SELECT memory_key IS NULL AND version IS NULL AND source IS NULL AND raw_content IS NULL
 AND expires_at IS NULL AND tags = '[]' FROM short WHERE id = '`+bare.ID+`'`); got != "1" {
		t.Error("what a row lacks is not null in the shell")
	}
}

func TestUpdateMeta(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	for n, tier := range memd.AllTiers() {
		m := row(tier, n, "what stays 不变的内容")
		m.Tags, m.Owner = []string{"oldtag"}, "oldowner"
		put(t, s, m)
		changed := full(tier, n)
		changed.Access = []string{}
		changed.Summary, changed.Why, changed.HowToApply, changed.Source, changed.MemoryKey = m.Summary, "", "", m.Source, m.MemoryKey
		write(t, s, func(tx *store.Tx) error { return tx.UpdateMeta(&changed) })
		got, _ := get(t, s, m.ID)
		// Content, key, kind, source and what groom counts stay.
		want := changed
		want.RawContent, want.ContentHash, want.Version, want.Kind = "", got.ContentHash, m.Version, m.Kind
		want.SessionID, want.Agent, want.AccessCount, want.LastAccessedAt = m.SessionID, m.Agent, 0, memd.Time{}
		if diff := cmp.Diff(want, got, sameRow); diff != "" {
			t.Errorf("%s: want -, got +\n%s", tier, diff)
		}
		if tier != memd.Transient {
			finds(t, s, tier, "oldtag")
			finds(t, s, tier, "oldowner")
			finds(t, s, tier, "owner", got)
			finds(t, s, tier, "变的", got)
		}
	}
}

// A row changes its tier with all that hangs on it, and stands in one place.
func TestMoveKeepsWhatHangsOnARow(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	m := row(memd.Short, 1, "the travelling row 搬家")
	m.AccessCount = 3
	put(t, s, m)
	shell(t, s.Dir(), `INSERT INTO embedding VALUES ('`+m.ID+`', 'hash', 2, x'407f', x'03'); INSERT INTO outbox (memory_id, queued_at, attempts) VALUES ('`+m.ID+`', 'x', 4)`)
	from := memd.Short
	for n, to := range []memd.Tier{memd.Archive, memd.Short, memd.Long, memd.Archive} {
		m.Tier = to
		if to == memd.Long {
			m.MemoryKey, m.Version, m.Source, m.VerifiedAt = "key", 1, "AGENTS.md", m.CreatedAt
		}
		write(t, s, func(tx *store.Tx) error { return tx.Move(&m, from) })
		got, ok := get(t, s, m.ID)
		if !ok || got.Tier != to || got.AccessCount != 3 {
			t.Fatalf("move %d: %+v, %v", n, got, ok)
		}
		if got := shell(t, s.Dir(), `SELECT hex(vec) || hex(bits) FROM embedding WHERE memory_id = '`+m.ID+`'; SELECT attempts FROM outbox WHERE memory_id = '`+m.ID+`'`); got != "407F03\n4" {
			t.Errorf("after move %d to %s its vector and place in the outbox are %q", n, to, got)
		}
		if to == memd.Long {
			write(t, s, func(tx *store.Tx) error {
				return tx.SetHead(m.Namespace, m.MemoryKey, store.Head{Version: 1, ID: m.ID})
			})
		}
		finds(t, s, to, "travelling", m)
		finds(t, s, to, "搬家", m)
		finds(t, s, from, "travelling")
		healthy(t, s)
		from = to
	}
	if h, ok := head(t, s, "key"); !ok || h.ID != "" || h.Version != 1 {
		t.Errorf("the key of an archived row has the head %+v, %v", h, ok)
	}
}

func TestLeastValuable(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	now := memd.At(memtest.NewClock().Now())
	aged := func(n, importance, accesses int, days float64) memd.Memory {
		m := row(memd.Archive, n, fmt.Sprint("row ", n))
		m.Importance, m.AccessCount = importance, accesses
		m.WrittenAt = memd.At(now.Add(-time.Duration(days * 24 * float64(time.Hour))))
		return m
	}
	keyed := aged(9, 1, 0, 1000)
	keyed.MemoryKey, keyed.Version = "kept", 1
	other := aged(8, 1, 0, 999)
	other.Namespace = "other"
	// value = importance x (1 + accesses) / (1 + days)
	put(t, s,
		aged(1, 5, 0, 0),   // 5
		aged(2, 5, 0, 9),   // 0.5
		aged(3, 1, 0, 0),   // 1
		aged(4, 1, 9, 4),   // 2
		aged(5, 10, 0, 99), // 0.1
		aged(6, 1, 0, 0),   // 1, younger than 3 by its id
		keyed, other)
	for _, c := range []struct {
		namespace string
		n         int
		want      string
	}{
		{"", 7, "8 5 2 3 6 4 1"},
		{"", 2, "8 5"},
		{"default", 3, "5 2 3"},
		{"other", 3, "8"},
		{"none", 3, ""},
	} {
		var got []string
		write(t, s, func(tx *store.Tx) error {
			ids, err := tx.LeastValuable(memd.Archive, c.namespace, c.n, now)
			if err != nil {
				return err
			}
			for _, id := range ids {
				m, _, err := tx.Get(id)
				if err != nil {
					return err
				}
				got = append(got, strings.TrimPrefix(m.Summary, "row "))
			}
			return nil
		})
		if strings.Join(got, " ") != c.want {
			t.Errorf("the %d least valuable of %q are %q, want %s", c.n, c.namespace, got, c.want)
		}
	}
}

func TestFindContent(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	v1, v2 := row(memd.Long, 1, "said once"), row(memd.Long, 2, "said otherwise")
	v2.MemoryKey, v2.Version = v1.MemoryKey, 2
	a, b := row(memd.Short, 3, "said once"), row(memd.Short, 4, "said once")
	elsewhere := row(memd.Short, 5, "said once")
	elsewhere.Namespace = "other"
	near := row(memd.Short, 6, "near")
	near.ContentHash = a.ContentHash[:len(a.ContentHash)-1] + "x" // alike in what the index keeps of it
	put(t, s, v1, v2, a, b, elsewhere, near)
	for _, c := range []struct {
		tier memd.Tier
		hash string
		want []memd.Memory
	}{
		{memd.Short, a.ContentHash, []memd.Memory{b, a}}, // newest first
		{memd.Long, v1.ContentHash, nil},                 // superseded
		{memd.Long, v2.ContentHash, []memd.Memory{v2}},
		{memd.Archive, a.ContentHash, nil},
	} {
		write(t, s, func(tx *store.Tx) error {
			rows, err := tx.FindContent(c.tier, "default", c.hash)
			same := len(rows) == len(c.want)
			for i := range min(len(rows), len(c.want)) {
				same = same && rows[i].ID == c.want[i].ID
			}
			if !same {
				t.Errorf("%s: found %v", c.tier, rows)
			}
			return err
		})
	}
}

// Every search shows a row that was edited by hand without a hash, which would
// be that of its old text, until it was indexed anew.
func TestFoundRowsHaveTheHashOfTheirText(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	var rows []memd.Memory
	for n, tier := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
		rows = append(rows, row(tier, 2*n, "the heron nests"), row(tier, 2*n+1, "the heron fishes"))
	}
	old := row(memd.Long, 10, "the heron hatched")
	old.MemoryKey = "grown"
	grown := row(memd.Long, 11, "the bird is grown")
	grown.MemoryKey, grown.Version = old.MemoryKey, 2
	put(t, s, append(rows, old, grown)...)
	edited := map[string]bool{}
	for _, m := range []memd.Memory{rows[0], rows[2], rows[4], old} {
		edited[m.ID] = true
		shell(t, s.Dir(), `UPDATE `+string(m.Tier)+` SET summary = 'the heron sleeps' WHERE id = '`+m.ID+`'`)
	}
	seen := 0
	check := func(how string, found []memd.Memory, err error) {
		t.Helper()
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %d rows, %v", how, len(found), err)
		}
		for _, m := range found {
			if edited[m.ID] {
				seen++
			}
			if edited[m.ID] != (m.ContentHash == "") {
				t.Errorf("%s: %s %q has the hash %q", how, m.Tier, m.Summary, m.ContentHash)
			}
		}
	}
	search := func() {
		t.Helper()
		seen = 0
		view(t, s, func(v *store.View) error {
			for _, tier := range []memd.Tier{memd.Long, memd.Short, memd.Archive} {
				var locs []store.Loc
				if err := v.Postings(tier, nil, match("heron"), func(l store.Loc) { locs = append(locs, l) }); err != nil {
					return err
				}
				found, err := v.Load(tier, locs, scope(), store.Filter{})
				check("load", found, err)
				found, err = v.List(store.Selection{Scope: scope(), Tiers: []memd.Tier{tier}, Limit: 10})
				check("list", found, err)
			}
			found, err := v.Superseded(match("heron"), scope(), 10)
			check("superseded", found, err)
			found, err = v.Pinned(scope(), []memd.Kind{memd.Fact})
			check("pinned", found, err)
			found, err = v.Valued(scope(), 1, 1, 10)
			check("valued", found, err)
			found, err = v.Latest(scope(), 10)
			check("latest", found, err)
			return nil
		})
	}
	search()
	if seen != 10 { // three each by load and list, one by each of the others
		t.Errorf("edited rows were found %d times, want 10: the test shows nothing", seen)
	}
	for id := range edited {
		write(t, s, func(tx *store.Tx) error {
			m, _, err := tx.Get(id)
			if err != nil {
				return err
			}
			m.ContentHash = "sha256:" + strings.Repeat("0", 64)
			return tx.Reindex(&m)
		})
	}
	clear(edited)
	search()
}
