package recall_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"memd"
	"memd/store"
)

// A write is recallable as soon as it is answered, and what is gone is not, with
// the index in memory, while others recall and databases roll over.
func TestRecallFollowsWrites(t *testing.T) {
	h := newCrowd(t, 41, true)
	if err := h.store.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var others sync.WaitGroup
	for n := range 2 {
		others.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			for {
				select {
				case <-ended:
					return
				default:
				}
				q := crowdQuestion(rng)
				q.Touch = new(bool)
				answer, err := h.engine.Recall(context.Background(), root, q)
				if err != nil || len(answer.Degraded) > 0 {
					t.Errorf("recall %q: degraded %q, error %v", q.Query, answer.Degraded, err)
					return
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(4, 2))
	live := map[string]string{} // the word that finds a row, by id
	found := func(step int, word string) []string {
		answer, err := h.engine.Recall(context.Background(), root, memd.Query{Query: word, Limit: ptr(100), IncludeArchive: true, Touch: new(bool)})
		if err != nil || len(answer.Degraded) > 0 {
			t.Fatalf("step %d: degraded %q, error %v", step, answer.Degraded, err)
		}
		return ids(answer.Results)
	}
	update := func(id string, fn func(*store.Tx, *memd.Memory) error) {
		err := h.store.Update(context.Background(), func(tx *store.Tx) error {
			m, ok, err := tx.Get(id)
			if err == nil && !ok {
				err = fmt.Errorf("%s is missing", id)
			}
			if err != nil {
				return err
			}
			return fn(tx, &m)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for step := range 120 {
		var all []string
		for id := range live {
			all = append(all, id)
		}
		slices.Sort(all)
		lot := rng.IntN(10)
		if len(all) == 0 {
			lot = 0
		}
		switch {
		case step%50 == 49:
			if _, err := h.store.Rollover(context.Background()); err != nil {
				t.Fatal(err)
			}
		case lot < 5:
			word := fmt.Sprint("novel", step)
			m := short("the "+word+" deploy", func(m *memd.Memory) { m.SessionID = "" })
			m.ID = fmt.Sprintf("01900000-0000-7000-8001-%012d", step)
			m.ContentHash = "sha256:" + word
			m.Tier = []memd.Tier{memd.Short, memd.Archive}[rng.IntN(2)]
			if err := h.store.Update(context.Background(), func(tx *store.Tx) error { return tx.Insert(&m) }); err != nil {
				t.Fatal(err)
			}
			live[m.ID] = word
		case lot < 8:
			id, word := all[rng.IntN(len(all))], fmt.Sprint("label", step)
			before := live[id]
			update(id, func(tx *store.Tx, m *memd.Memory) error { m.Tags = []string{word}; return tx.UpdateMeta(m) })
			if len(found(step, before)) > 0 != (before[0] == 'n') { // of the text or a label that is gone
				t.Fatalf("step %d: %q after the patch", step, before)
			}
			live[id] = word
		default:
			id := all[rng.IntN(len(all))]
			word := live[id]
			update(id, func(tx *store.Tx, m *memd.Memory) error { _, err := tx.Delete(m.Tier, m.ID); return err })
			delete(live, id)
			if got := found(step, word); len(got) > 0 {
				t.Fatalf("step %d: %q still finds %q", step, word, got)
			}
		}
		for id, word := range live {
			if got := found(step, word); !slices.Equal(got, []string{id}) {
				t.Fatalf("step %d: %q finds %q, want %s", step, word, got, id)
			}
			if rng.IntN(4) > 0 { // a few of them, the order is chance's
				break
			}
		}
	}
	close(ended)
	others.Wait()
}
