package recall_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"memd"
)

// gate is a context that stops who asks for its error once closing says so,
// until it is opened.
type gate struct {
	context.Context
	closing func() bool
	once    sync.Once
	reached chan struct{} // closed when somebody stands before it
	open    chan struct{}
}

func (g *gate) Err() error {
	select {
	case <-g.open:
		return context.Canceled
	default:
	}
	if g.closing() {
		g.once.Do(func() { close(g.reached) })
		<-g.open
		return context.Canceled
	}
	return nil
}

// indexUntil indexes databases until closing says so, and has nobody go on with
// it before release is called, or the test ends.
func (h *house) indexUntil(closing func() bool) (release func()) {
	h.t.Helper()
	g := &gate{Context: context.Background(), closing: closing, reached: make(chan struct{}), open: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = h.store.Index(g) // it is broken off
	}()
	release = sync.OnceFunc(func() { close(g.open); <-ended })
	h.t.Cleanup(release)
	<-g.reached
	return release
}

// replies are the answers of a house to questions, a page or two each.
func (h *house) replies(questions []memd.Query) (all []string) {
	h.t.Helper()
	for _, q := range questions {
		for range 2 {
			answer := h.recall(q)
			q.Cursor = answer.NextCursor
			answer.TookMS = 0
			out, err := json.Marshal(answer)
			if err != nil {
				h.t.Fatal(err)
			}
			all = append(all, string(out))
			if q.Cursor == "" {
				break
			}
		}
	}
	return all
}

// The index in memory changes no answer: not where all databases have one, or
// some, or none.
func TestIndexChangesNoAnswer(t *testing.T) {
	h := newCrowd(t, 21, true)
	rng := rand.New(rand.NewPCG(6, 6))
	var questions []memd.Query
	for range 60 {
		q := crowdQuestion(rng)
		q.Limit = ptr([]int{1, 3, 10, 100}[rng.IntN(4)])
		q.Explain = rng.IntN(3) == 0
		questions = append(questions, q)
	}
	questions = append(questions, memd.Query{Query: "nothing-holds-this"}, memd.Query{Query: ""}, memd.Query{Query: "deploy", Kinds: []memd.Kind{memd.Pitfall}})
	bare := h.reopenedIn(t, true)
	want := bare.replies(questions)
	if err := bare.store.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, h *house) {
		t.Helper()
		for i, got := range h.replies(questions) {
			if got != want[i] {
				t.Fatalf("answer %d\n%s", i, difference(got, want[i]))
			}
		}
	}
	t.Run("the active database alone", func(t *testing.T) {
		h := h.reopenedIn(t, false)
		h.indexUntil(func() bool { return h.store.IndexBytes() > 0 })
		check(t, h)
	})
	t.Run("all", func(t *testing.T) {
		h := h.reopenedIn(t, false)
		if err := h.store.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(t, h)
	})
	t.Run("the historical ones alone", func(t *testing.T) {
		h := h.reopenedIn(t, false)
		if err := h.store.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
		release := h.indexUntil(func() bool { return true })
		rng := rand.New(rand.NewPCG(8, 8))
		h.put(crowdOf(rng, 10_000, true, nil)...) // more than a View waits for
		got := h.replies(questions)
		release()
		if want := h.reopenedIn(t, true).replies(questions); !slices.Equal(got, want) {
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("answer %d\n%s", i, difference(got[i], want[i]))
				}
			}
		}
	})
}
