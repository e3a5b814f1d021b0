package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memd"
)

// Of more rows than a query reads of a tier, those that are read do not depend
// on whether there is an index in memory, as there is none just after a start.
func TestIndexChangesNoDepth(t *testing.T) {
	h := newHouse(t)
	rng := rand.New(rand.NewPCG(1, 1))
	crowd := func(from int) (rows []memd.Memory) {
		for i := range 900 {
			rows = append(rows, short(fmt.Sprint("alpha bravo ", strings.Repeat("filler ", rng.IntN(20)), from+i)))
		}
		return rows
	}
	oldest := h.put(short("alpha alpha bravo bravo"))[0] // and the most relevant
	h.put(crowd(0)...)
	if _, err := h.store.Rollover(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.put(crowd(900)...)
	questions := []memd.Query{{Query: "alpha bravo"}, {Query: "alpha? bravo?", Limit: ptr(100)}, {Query: "bravo", Explain: true}}
	bare := h.reopenedIn(t, true)
	want := bare.replies(questions)
	wantIDs(t, bare.recall(memd.Query{Query: "alpha bravo", Limit: ptr(1)}).Results, oldest)
	h = bare.reopenedIn(t, false)
	if err := h.store.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, got := range h.replies(questions) {
		if got != want[i] {
			t.Errorf("answer %d\n%s", i, difference(got, want[i]))
		}
	}
}
