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
	"memd/embedding"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// renamed is an embedder under another model's name, whose vectors point
// elsewhere. It counts the queries.
type renamed struct {
	topics
	name  string
	asked *int
	down  *bool
}

func (r renamed) Model() string { return r.name }

func (r renamed) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if *r.asked++; r.down != nil && *r.down {
		return nil, &embedding.Fault{Err: errors.New("gone")}
	}
	return r.topics.Embed(ctx, texts)
}

// openEmbedding opens a house whose rows wait for vectors of an embedder.
func openEmbedding(t *testing.T, dir string, e embedding.Embedder) *house {
	t.Helper()
	clock := memtest.NewClock()
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: clock.Now, Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &house{t: t, dir: dir, clock: clock, store: s, tiers: tiers.New(s), engine: recall.New(s, nil).WithEmbedder(e, time.Minute)}
}

// deliver gives n rows of those that wait, or lack one, their vectors.
func (h *house) deliver(e embedding.Embedder, n int) {
	h.t.Helper()
	ctx := context.Background()
	for n > 0 {
		rows, err := h.store.Lease(ctx, n)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(rows) == 0 {
			if more, err := h.store.Fill(ctx); err != nil || !more {
				h.t.Fatalf("no more rows wait, %v", err)
			}
			continue
		}
		settled := make([]embedding.Settled, len(rows))
		for i, r := range rows {
			v, err := e.Embed(ctx, []string{r.Text})
			if err != nil || v[0] == nil {
				h.t.Fatalf("no vector, %v", err)
			}
			settled[i] = embedding.Settled{Waiting: r, Outcome: embedding.Embedded, Vector: v[0]}
		}
		if err := h.store.Deliver(ctx, settled); err != nil {
			h.t.Fatal(err)
		}
		n -= len(rows)
	}
}

// After a change of model the old one serves the vectors that are still its own,
// until half are the new one's; a query is of one space, and its pages stay in it.
func TestModelChange(t *testing.T) {
	dir := t.TempDir()
	var askedOld, askedNew int
	var down bool
	first := renamed{trades, "first", &askedOld, &down}
	second := renamed{topics{{"nothing"}, {"oven", "bread"}, {"automobile", "car"}}, "second", &askedNew, nil}
	h := openEmbedding(t, dir, first)
	for n := range 6 {
		h.put(short(fmt.Sprint("the car is red ", n)))
	}
	h.deliver(first, 6)
	found := func(q memd.Query) int {
		t.Helper()
		answer := h.recall(q)
		if len(answer.Degraded) != 0 {
			t.Errorf("degraded %q", answer.Degraded)
		}
		return len(answer.Results)
	}
	q := memd.Query{Query: "automobile"}
	if n := found(q); n != 6 {
		t.Fatalf("%d of 6 rows found before the change", n)
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}

	h = openEmbedding(t, dir, second)
	h.engine.WithPrevious(first, 0.7)
	if n := found(q); n != 6 {
		t.Errorf("%d of 6 rows found by the old vectors", n)
	}
	h.put(short("a car of today"))
	h.deliver(second, 1)
	if n := found(q); n != 6 {
		t.Errorf("%d rows found by vector, want the 6 of the old model", n)
	}
	if n := found(memd.Query{Query: "today"}); n != 1 {
		t.Errorf("%d rows found by keyword that have a new vector alone", n)
	}
	page := q
	page.Limit = ptr(2)
	answer := h.recall(page)
	h.deliver(second, 2)
	if n := found(q); n != 4 {
		t.Errorf("%d rows found, want the 4 that still have an old vector", n)
	}

	down = true // the old one's file or server is gone: the new one does what it can
	if n := found(q); n != 3 {
		t.Errorf("%d rows found, want the 3 that have a new vector", n)
	}
	down = false

	h.deliver(second, 1) // four of seven
	askedOld, askedNew = 0, 0
	if n := found(q); n != 4 || askedOld != 0 || askedNew != 1 {
		t.Errorf("%d rows found, want 4 by the new model; the old one was asked %d times, the new one %d", n, askedOld, askedNew)
	}
	askedNew = 0
	page.Cursor = answer.NextCursor
	for _, hit := range h.recall(page).Results {
		if !slices.Equal(hit.Matched, []memd.Match{memd.MatchVector}) {
			t.Errorf("on a further page %s is matched %v", hit.ID, hit.Matched)
		}
	}
	if askedOld+askedNew != 0 {
		t.Error("a further page was embedded anew")
	}
	h.deliver(second, 3)
	if n := found(q); n != 7 {
		t.Errorf("%d of 7 rows found by the new vectors", n)
	}
}

// A row below the floor of the space is no match by its vector, and explain
// counts none.
func TestVectorFloor(t *testing.T) {
	h := newHouse(t)
	h.put(short("the car is red"), short("car and bread"))
	h.embedded(blended{trades})
	for floor, want := range map[float64]int{0.5: 2, 0.7: 2, 0.75: 1, 1: 1} {
		h.engine.WithFloor(floor)
		answer := h.recall(memd.Query{Query: "automobile", Explain: true})
		if len(answer.Results) != want {
			t.Errorf("floor %v: %d results, want %d", floor, len(answer.Results), want)
		}
		answer = h.recall(memd.Query{Query: "automobile", Kinds: []memd.Kind{memd.Pitfall}, Explain: true})
		if answer.Filtered["kind"] != want {
			t.Errorf("floor %v: %d rows counted as near, want %d", floor, answer.Filtered["kind"], want)
		}
	}
}

// blended gives a text of several topics a direction between them.
type blended struct{ topics }

func (b blended) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, text := range texts {
		for n := range b.topics {
			one := slices.Repeat(topics{nil}, n+1)
			one[n] = b.topics[n]
			v, err := one.Embed(ctx, []string{text})
			if err != nil || v[0] == nil {
				continue
			}
			if all[i] == nil {
				all[i] = make([]float32, b.Dim())
			}
			all[i][n] = 1
		}
		if all[i] != nil {
			embedding.Unit(all[i])
		}
	}
	return all, nil
}
