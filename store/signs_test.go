package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"memd"
	"memd/embedding"
	"memd/store"
)

// nearIDs are the ids of all short rows that a search by vectors finds.
func nearIDs(t testing.TB, v *store.View) string {
	t.Helper()
	found, err := v.Nearest(memd.Short, vectorOf(t, hashed, "row"), scope(), store.Filter{}, 1000)
	must(t, err)
	ids := []string{}
	for _, m := range found {
		ids = append(ids, m.ID[len(m.ID)-3:])
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// near fails unless a search by vectors finds the short rows of some numbers.
func near(t testing.TB, s *store.Set, when string, numbers ...int) {
	t.Helper()
	var want []string
	for _, n := range numbers {
		want = append(want, fmt.Sprintf("%03d", n))
	}
	view(t, s, func(v *store.View) error {
		if got := nearIDs(t, v); got != strings.Join(want, " ") {
			t.Errorf("%s: found %s, want %s", when, got, want)
		}
		return nil
	})
}

// What is held of the vectors in memory follows whatever happens to them.
func TestSignsFollow(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	rows := make([]memd.Memory, 10)
	for n := range rows {
		rows[n] = row(memd.Short, n, fmt.Sprint("row ", n))
	}
	put(t, s, rows[:4]...)
	near(t, s, "without vectors")
	drain(t, s, hashed)
	near(t, s, "embedded", 0, 1, 2, 3)

	write(t, s, func(tx *store.Tx) error { _, err := tx.Delete(memd.Short, rows[0].ID); return err })
	shell(t, s.Dir(), `UPDATE short SET summary = 'other words' WHERE id = '`+rows[1].ID+`'`)
	near(t, s, "deleted and edited", 2, 3)
	drain(t, s, hashed)
	near(t, s, "embedded again", 1, 2, 3)

	roll(t, s)
	put(t, s, rows[4:6]...)
	near(t, s, "rolled over", 1, 2, 3)
	shellFile(t, historyFile(t, s.Dir()), `UPDATE short SET summary = 'still other words' WHERE id = '`+rows[2].ID+`'`)
	write(t, s, func(tx *store.Tx) error { return tx.Queue(rows[2].ID, rows[2].CreatedAt) })
	near(t, s, "edited in the historical database", 1, 3)
	drain(t, s, hashed)
	near(t, s, "embedded there", 1, 2, 3, 4, 5)

	write(t, s, func(tx *store.Tx) error {
		m, _, err := tx.Get(rows[3].ID)
		if err == nil {
			m.MemoryKey, m.Tier, m.Version, m.Source, m.VerifiedAt = "k", memd.Long, 1, "AGENTS.md", m.CreatedAt
			if err = tx.Move(&m, memd.Short); err == nil {
				err = tx.SetHead(m.Namespace, "k", store.Head{Version: 1, ID: m.ID})
			}
		}
		return err
	})
	near(t, s, "one promoted", 1, 2, 4, 5)
	view(t, s, func(v *store.View) error {
		found, err := v.Nearest(memd.Long, vectorOf(t, hashed, "row"), scope(), store.Filter{}, 10)
		if len(found) != 1 || found[0].ID != rows[3].ID {
			t.Errorf("promoted out of a historical database, it is not found: %d rows", len(found))
		}
		return err
	})
}

// A vector that another program writes is found once memd has written too.
func TestSignsNoticeOthers(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	first, second := row(memd.Short, 1, "row 1"), row(memd.Short, 2, "row 2")
	put(t, s, first)
	drain(t, s, hashed)
	put(t, s, second)
	near(t, s, "before", 1)
	shell(t, s.Dir(), `INSERT INTO embedding SELECT '`+second.ID+`', model, dim, vec, bits FROM embedding`)
	write(t, s, func(*store.Tx) error { return nil })
	near(t, s, "after", 1, 2)
	before := s.Readings()
	for n := range 5 {
		put(t, s, row(memd.Short, 10+n, "row"))
		drain(t, s, hashed)
		near(t, s, "own writes", append([]int{1, 2}, []int{10, 11, 12, 13, 14}[:n+1]...)...)
	}
	if got := s.Readings(); got != before {
		t.Errorf("memd's own writes had the vectors read anew: %d readings before, %d after", before, got)
	}
}

// What a View reads that began before a vector was written, and reads after,
// does not hide the vector from the Views after it.
func TestSignsReadLate(t *testing.T) {
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprint("by another program ", other), func(t *testing.T) {
			s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
			first, second := row(memd.Short, 1, "row 1"), row(memd.Short, 2, "row 2")
			put(t, s, first)
			drain(t, s, hashed)
			put(t, s, second)
			s.RenewSigns()
			rows, _ := lease(t, s)
			view(t, s, func(v *store.View) error {
				if _, err := v.Meta("embedder"); err != nil { // the transaction begins
					return err
				}
				if other {
					shell(t, s.Dir(), `INSERT INTO embedding SELECT '`+second.ID+`', model, dim, vec, bits FROM embedding`)
					write(t, s, func(*store.Tx) error { return nil })
				} else {
					must(t, s.Deliver(ctx, embedded(t, hashed, rows)))
				}
				if got := nearIDs(t, v); got != "001" {
					t.Errorf("the earlier View finds %s", got)
				}
				return nil
			})
			near(t, s, "a later View", 1, 2)
		})
	}
}

// Whoever searches after a vector was delivered finds it, whatever others write
// and however often all is read anew.
func TestSignsWhileOthersWrite(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	done := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					s.RenewSigns()
					view(t, s, func(v *store.View) error { nearIDs(t, v); return nil })
				}
			}
		})
	}
	var have []int
	for n := range 60 {
		put(t, s, row(memd.Short, n, fmt.Sprint("row ", n)))
		rows, _ := lease(t, s)
		must(t, s.Deliver(ctx, embedded(t, hashed, rows)))
		have = append(have, n)
		near(t, s, fmt.Sprint("row ", n), have...)
	}
	close(done)
	others.Wait()
}

// Vectors that are gone neither displace those that are there, nor are they held
// for long.
func TestSignsWeeded(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	var all []memd.Memory
	for n := range 300 {
		all = append(all, row(memd.Short, n, "row "+fmt.Sprint(n%7)))
	}
	put(t, s, all...)
	drain(t, s, hashed)
	q := vectorOf(t, hashed, "row 1")
	find := func() (ids []string) {
		view(t, s, func(v *store.View) error {
			found, err := v.Nearest(memd.Short, q, scope(), store.Filter{}, 5)
			for _, m := range found {
				ids = append(ids, m.ID)
			}
			return err
		})
		return ids
	}
	want := find()
	for _, m := range all {
		if !slices.Contains(want, m.ID) && m.Summary != "row 5" {
			write(t, s, func(tx *store.Tx) error { _, err := tx.Delete(memd.Short, m.ID); return err })
		}
	}
	if got := find(); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	before := s.Readings()
	if got := find(); !slices.Equal(got, want) || s.Readings() != before+1 {
		t.Errorf("found %q after %d readings more, want %q after one", got, s.Readings()-before, want)
	}
}

// Only so much is added to what was read before all is read anew.
func TestSignsBounded(t *testing.T) {
	s := openEmbedding(t, t.TempDir(), nil, hashed, nil)
	m := row(memd.Short, 1, "row 1")
	put(t, s, m)
	drain(t, s, hashed)
	near(t, s, "before", 1)
	vectors, err := hashed.Embed(ctx, []string{m.Summary})
	must(t, err)
	rows := slices.Repeat([]embedding.Settled{{Waiting: embedding.Waiting{ID: m.ID, Text: m.Summary}, Outcome: embedding.Embedded, Vector: vectors[0]}}, 1000)
	for range 5 {
		must(t, s.Deliver(ctx, rows))
		near(t, s, "written again", 1)
	}
	if held := s.HeldSigns(); held > 4200 {
		t.Errorf("%d vectors are held of one row", held)
	}
}
