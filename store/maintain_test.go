package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// groomAccess does what the light groom does with accesses.
func groomAccess(t *testing.T, s *store.Set, day string) {
	t.Helper()
	if err := s.FlushAccess(ctx); err != nil {
		t.Fatal(err)
	}
	var ids []string
	view(t, s, func(v *store.View) (err error) {
		ids, err = v.Accessed(100)
		return err
	})
	write(t, s, func(tx *store.Tx) error {
		for _, id := range ids {
			if _, err := tx.Fold(id); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, s.DropOrphans(ctx))
	must(t, s.DropRelics(ctx, store.FoldedBefore(day)))
}

// matching are the ids of the rows that a rule is true of.
func matching(t *testing.T, s *store.Set, r store.Rule) (ids []string) {
	t.Helper()
	view(t, s, func(v *store.View) error {
		found, err := v.Matching(r)
		for _, c := range found {
			ids = append(ids, c.ID)
		}
		return err
	})
	return ids
}

// A memory gains one access per session and day, whatever is read how often
// and whenever it is folded in.
func TestAccessCountsOncePerSessionAndDay(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	a, b, note := row(memd.Short, 1, "a"), row(memd.Long, 2, "b"), row(memd.Transient, 3, "note")
	put(t, s, a, b, note)
	at := memd.At(memtest.NewClock().Now())
	later := func(d time.Duration) memd.Time { return memd.At(at.Add(d)) }
	counts := func(wantA, wantB int) {
		t.Helper()
		gotA, _ := get(t, s, a.ID)
		gotB, _ := get(t, s, b.ID)
		if gotA.AccessCount != wantA || gotB.AccessCount != wantB {
			t.Errorf("access counts %d and %d, want %d and %d", gotA.AccessCount, gotB.AccessCount, wantA, wantB)
		}
	}
	for range 3 {
		s.Touch("one", at, a.ID, b.ID, note.ID, "no such row")
	}
	counts(0, 0) // reading writes nothing
	groomAccess(t, s, "2026-11-30")
	counts(1, 1)
	s.Touch("one", later(time.Hour), a.ID) // the same day, after the fold
	s.Touch("two", later(2*time.Hour), a.ID)
	groomAccess(t, s, "2026-11-30")
	counts(2, 1)
	groomAccess(t, s, "2026-11-30")
	counts(2, 1)
	if got, _ := get(t, s, a.ID); got.LastAccessedAt != later(2*time.Hour) || got.UpdatedAt != a.UpdatedAt {
		t.Errorf("last accessed at %v, updated at %v", got.LastAccessedAt, got.UpdatedAt)
	}
	s.Touch("one", later(23*time.Hour), a.ID) // the next day
	groomAccess(t, s, "2026-12-01")
	counts(3, 1)
	if got := shell(t, s.Dir(), `SELECT count(*) FROM access_log WHERE day < '2026-12-01'`); got != "0" {
		t.Errorf("%s accesses of a day that is over are kept", got)
	}
	// Accesses on their way survive a stop.
	s.Touch("three", later(24*time.Hour), a.ID)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = memtest.Store(t, s.Dir(), nil, nil)
	groomAccess(t, s, "2026-12-01")
	if got, _ := get(t, s, a.ID); got.AccessCount != 4 {
		t.Errorf("after a restart %d accesses, want 4", got.AccessCount)
	}
}

func TestExpireRespectsProlonging(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	now := memd.At(memtest.NewClock().Now())
	for n, tier := range []memd.Tier{memd.Transient, memd.Short, memd.Archive} {
		due, ahead, never := row(tier, 10*n, "due"), row(tier, 10*n+1, "ahead"), row(tier, 10*n+2, "never")
		due.ExpiresAt, ahead.ExpiresAt = now, memd.At(now.Add(time.Millisecond))
		put(t, s, due, ahead, never)
		ids := matching(t, s, store.Expired(tier, now))
		if !slices.Equal(ids, []string{due.ID}) {
			t.Errorf("%s: due are %q", tier, ids)
		}
		if tier != memd.Transient {
			finds(t, s, tier, "due")
			finds(t, s, tier, "ahead", ahead)
		}
		write(t, s, func(tx *store.Tx) error {
			prolonged := due
			prolonged.ExpiresAt = ahead.ExpiresAt
			if err := tx.UpdateMeta(&prolonged); err != nil {
				return err
			}
			if _, due, err := tx.Matches(store.Expired(tier, now), due.ID); due || err != nil {
				t.Errorf("%s: a prolonged row is due: %v", tier, err)
			}
			if _, due, err := tx.Matches(store.Expired(tier, ahead.ExpiresAt), due.ID); !due || err != nil {
				t.Errorf("%s: a row is not due: %v", tier, err)
			}
			_, err := tx.Delete(tier, due.ID)
			return err
		})
		if _, ok := get(t, s, due.ID); ok {
			t.Errorf("%s: the expired row is still there", tier)
		}
	}
}

// The only copy of a key's memory outlives its time: it only vanishes from
// reads.
func TestKeyedRowsNeverExpire(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	now := memd.At(memtest.NewClock().Now())
	for n, tier := range []memd.Tier{memd.Long, memd.Archive} {
		m := row(tier, n, "due")
		m.MemoryKey, m.Version, m.ExpiresAt = fmt.Sprint("key.", n), 1, now
		put(t, s, m)
		if ids := matching(t, s, store.Expired(tier, now)); len(ids) != 0 {
			t.Errorf("%s: due are %q", tier, ids)
		}
		write(t, s, func(tx *store.Tx) error {
			_, due, err := tx.Matches(store.Expired(tier, now), m.ID)
			if due {
				t.Errorf("%s: a row with a key is due", tier)
			}
			return err
		})
	}
}

// After a hand edit CJK is found again once the row was indexed anew, however
// the person wrote the tags.
func TestReindexAfterHandEdit(t *testing.T) {
	s, short, long, cold := shellStore(t)
	edited := func() (ids []string) {
		view(t, s, func(v *store.View) (err error) {
			ids, err = v.Edited(10)
			return err
		})
		return ids
	}
	reindex := func(id string) {
		write(t, s, func(tx *store.Tx) error {
			m, _, err := tx.Get(id)
			if err != nil {
				return err
			}
			m.ContentHash = "sha256:" + strings.Repeat("0", 64)
			return tx.Reindex(&m)
		})
	}
	if rows := edited(); len(rows) != 0 {
		t.Fatalf("%d rows count as edited before any edit", len(rows))
	}
	for _, tags := range []string{`["a","b"]`, `[ "引号" ,  "b" ]`, `["R\u0026D"]`, `["a", 1]`, `[]`} {
		for _, m := range []memd.Memory{short, long, cold} {
			shell(t, s.Dir(), `UPDATE `+string(m.Tier)+` SET tags = '`+tags+`', summary = 'the heron 数据库索引重建' WHERE id = '`+m.ID+`'`)
			rows := edited()
			if len(rows) != 1 || rows[0] != m.ID {
				t.Fatalf("%s: edited are %d rows", m.Tier, len(rows))
			}
			finds(t, s, m.Tier, "heron", m)
			reindex(rows[0])
			finds(t, s, m.Tier, "索引", m)
			got, _ := get(t, s, m.ID)
			if got.ContentHash != "sha256:"+strings.Repeat("0", 64) {
				t.Error("the hash is the old one")
			}
			if rows := edited(); len(rows) != 0 {
				t.Errorf("%s: %d rows count as edited after the groom", m.Tier, len(rows))
			}
			shell(t, s.Dir(), `UPDATE `+string(m.Tier)+` SET summary = 'first 第一次' WHERE id = '`+m.ID+`'`)
			shell(t, s.Dir(), `UPDATE `+string(m.Tier)+` SET summary = 'second 第二次' WHERE id = '`+m.ID+`'`)
			reindex(edited()[0])
			finds(t, s, m.Tier, "二次", m)
			finds(t, s, m.Tier, "一次")
			healthy(t, s)
		}
	}
}

// The mark of a store's state moves with every audited write and hand delete.
func TestChanges(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	seen := map[string]bool{}
	mark := func(what string) {
		t.Helper()
		view(t, s, func(v *store.View) error {
			m, err := v.Changes()
			if seen[m] {
				t.Errorf("%s left the mark %s as it was before", what, m)
			}
			seen[m] = true
			return err
		})
	}
	mark("nothing")
	m := row(memd.Short, 1, "x")
	write(t, s, func(tx *store.Tx) error {
		if err := tx.Audit(store.Entry{At: m.CreatedAt, Caller: "c", Action: "remember", ID: m.ID}); err != nil {
			return err
		}
		return tx.Insert(&m)
	})
	mark("a write")
	shell(t, s.Dir(), `DELETE FROM short`)
	mark("a hand delete")
}
