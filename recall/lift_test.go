package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"memd"
)

// Of rows whose words answer about as much, the nearest by its vector stands
// among the first, and not before the first; what shares fewer words does not.
func TestNearestIsLifted(t *testing.T) {
	h := newHouse(t)
	var rows []memd.Memory
	for n := range 20 {
		rows = append(rows, short(fmt.Sprintf("kumquat ferry orchard %d", n), importance(max(1, 9-n))))
	}
	rows = append(rows, short("kumquat ferry by car, with a few words more"), short("a car of kumquat colour"))
	put := h.put(rows...)
	h.embedded(topics{{"automobile", "car,"}, {"colour"}})
	q := memd.Query{Query: "automobile kumquat ferry", Explain: true, Limit: ptr(100)}
	answer := h.recall(q)
	found := ids(answer.Results)
	if at := slices.Index(found, put[20]); at != 1 && at != 2 {
		t.Errorf("the nearest row stands at %d", at)
	}
	if at := slices.Index(found, put[21]); at != len(found)-1 {
		t.Errorf("the row of one word stands at %d", at)
	}
	for _, hit := range answer.Results {
		if b := *hit.Breakdown; b.Sum() != hit.Score {
			t.Errorf("score %v of %+v", hit.Score, b)
		}
	}
	q.Limit, q.Explain = ptr(2), false
	if walked := walk(h, q, nil); !slices.Equal(walked, found) {
		t.Errorf("pages walk %v, want %v", walked, found)
	}
}
