package recall_test

import (
	"fmt"
	"testing"

	"memd"
)

// A query reads the heaviest thousand rows of a tier. Whatever stands before
// that cut, the right row is among them.
func TestRightRowBehindThousands(t *testing.T) {
	h := newHouse(t)
	var crowd []memd.Memory
	for i := range 1500 {
		crowd = append(crowd,
			short(fmt.Sprintf("deploy kumquat rollback %d", i), in("project/x")),
			short(fmt.Sprintf("deploy of service %d", i)))
	}
	both := h.put(short("deploy rollback", importance(1), daysAgo(29)))[0] // the oldest, as ids and rows go
	h.put(crowd...)
	rule := h.put(long("release", "rollback, never fix forward"))[0]

	t.Run("another namespace's rows", func(t *testing.T) {
		wantIDs(t, h.recall(memd.Query{Query: "kumquat deploy rollback", Limit: ptr(2)}).Results, both, rule)
	})
	t.Run("rows with a commoner term", func(t *testing.T) {
		results := h.recall(memd.Query{Query: "deploy rollback", Limit: ptr(2), Tiers: []memd.Tier{memd.Short}}).Results
		wantIDs(t, results[:1], both)
	})
	t.Run("rows of lower authority", func(t *testing.T) {
		results := h.recall(memd.Query{Query: "deploy kumquat rollback", Namespaces: []string{"project/x", "default"}, Limit: ptr(1)}).Results
		if results[0].Tier == memd.Long {
			t.Error("a long row under the floor leads")
		}
		results = h.recall(memd.Query{Query: "deploy kumquat rollback forward", Namespaces: []string{"project/x", "default"}, Limit: ptr(1)}).Results
		wantIDs(t, results, rule)
	})
}
