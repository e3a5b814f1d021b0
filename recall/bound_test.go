package recall_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"memd"
)

// What a row's relevance is taken to be at most is never less than it is, by the
// index in memory and without it.
func TestBoundsHold(t *testing.T) {
	h := newCrowd(t, 31, true)
	var many []memd.Memory
	for _, times := range []int{61, 62, 63, 64, 200} {
		many = append(many, short(strings.Repeat("kumquat ", times)), long("kumquat/"+strings.Repeat("x", times), "ledger",
			because(strings.Repeat("kumquat ", times), "kumquat"), tagged("kumquat", "ledger"), ownedBy("kumquat"), from("kumquat", memd.SourceOK)))
	}
	h.put(many...)
	var tightest [2]float64 // the sum of what the bounds are too high
	for at, noIndex := range []bool{false, true} {
		h = h.reopenedIn(t, noIndex)
		if err := h.store.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(7, 7))
		rows := 0
		for n := range 40 {
			q := crowdQuestion(rng)
			q.IncludeArchive, q.Namespaces = true, places[rng.IntN(len(places)):]
			if n == 0 {
				q = memd.Query{Query: "kumquat ledger? fact", Access: []string{"secret"}}
			}
			for _, cosine := range []float64{0, []float64{-1, 0.5, 1, 1.0000001}[rng.IntN(4)]} {
				err := h.engine.Bounds(t.Context(), root, q, cosine, func(m *memd.Memory, bound, own float64) {
					rows++
					tightest[at] += bound - own
					if own > bound {
						t.Errorf("%q: %s %.60q has relevance %v, at most %v was thought", q.Query, m.ID, m.Summary, own, bound)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if rows < 4000 {
			t.Errorf("%d rows: the test shows little", rows)
		}
	}
	if tightest[0] >= tightest[1] {
		t.Errorf("the index in memory gives bounds no closer than SQLite's: %v and %v too high", tightest[0], tightest[1])
	}
}
