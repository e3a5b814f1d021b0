package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"memd"
)

const twoQuestions = "Who is the gardener? And when does the kumquat ferry to the lantern island leave?"

// ferries are rows of which many hold much of the second question, and one each
// answers it and the first.
func ferries(h *house) (gardener, ferry string) {
	h.t.Helper()
	var rows []memd.Memory
	for n := range 9 {
		rows = append(rows, short(fmt.Sprintf("a kumquat ferry of the lantern island was painted, number %d", n)))
	}
	put := h.put(append(rows,
		short("the gardener of the house is Ms Ito"),
		short("kumquat ferry: leaves to the lantern island at nine"),
	)...)
	return put[9], put[10]
}

// The rows that answer one sentence leave room for the one that answers the
// other, though each of them holds more of the query.
func TestEachSentenceIsAnswered(t *testing.T) {
	h := newHouse(t)
	gardener, ferry := ferries(h)
	answer := h.recall(memd.Query{Query: twoQuestions, Explain: true})
	first := ids(answer.Results[:2])
	if !slices.Contains(first, gardener) || !slices.Contains(first, ferry) {
		t.Errorf("first are %v, want %s and %s", first, gardener, ferry)
	}
	for _, hit := range answer.Results {
		if hit.Breakdown.Sum() != hit.Score || hit.Breakdown.Keyword > 1 {
			t.Errorf("score %v of %+v", hit.Score, *hit.Breakdown)
		}
	}
}

// An aside of a few words puts nothing before the answers.
func TestAsideDecidesNothing(t *testing.T) {
	h := newHouse(t)
	put := h.put(
		short("hello, the printer is out of paper"),
		short("kumquat ferry: leaves the lantern island for the orchard market at nine"),
		short("kumquat ferry of the lantern island: to the orchard market it takes an hour"),
	)
	answer := h.ask("Hello! When does the kumquat ferry leave the lantern island for the orchard market on workdays?")
	if got := ids(answer.Results); !slices.Equal(got, []string{put[1], put[2], put[0]}) {
		t.Errorf("order %v, want %s last", got, put[0])
	}
}

// Pages continue one order though others write better answers meanwhile.
func TestPlacesHoldWhileOthersWrite(t *testing.T) {
	h := newHouse(t)
	ferries(h)
	q := memd.Query{Query: twoQuestions, Limit: ptr(100)}
	whole := walk(h, q, nil)
	q.Limit = ptr(2)
	walked := walk(h, q, func() {
		h.put(short("who is the gardener"), short("when does the kumquat ferry leave to the lantern island"))
	})
	old := slices.DeleteFunc(slices.Clone(walked), func(id string) bool { return !slices.Contains(whole, id) })
	if !slices.Equal(old, whole) {
		t.Errorf("the walk met %v, want %v", old, whole)
	}
}
