package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memd"
)

// Where more rows hold a term than are read, the order is the same before the
// keyword index is made, after, and where their database has none as yet because
// it was just rolled over.
func TestSameOrderBeforeIndex(t *testing.T) {
	h := newHouse(t)
	crowd := []memd.Memory{short("deploy kumquat", importance(10))}
	for i := range 1500 {
		crowd = append(crowd, short(fmt.Sprintf("deploy of service %d %s", i, strings.Repeat("went well ", 1+i%5))))
	}
	h.put(crowd...)
	ask := func() []string {
		var ids []string
		for cursor := ""; len(ids) < 21; {
			answer := h.recall(memd.Query{Query: "deploy", Limit: ptr(7), Touch: ptr(false), Cursor: cursor})
			for _, r := range answer.Results {
				ids = append(ids, r.ID)
			}
			if cursor = answer.NextCursor; cursor == "" {
				t.Fatal("no further page")
			}
		}
		return ids
	}
	before := ask()
	if err := h.store.Index(context.Background()); err != nil {
		t.Fatal(err)
	}
	if after := ask(); !slices.Equal(before, after) {
		t.Errorf("before the index %v, after %v", before, after)
	}
	if _, err := h.store.Rollover(context.Background()); err != nil {
		t.Fatal(err)
	}
	if rolled := ask(); !slices.Equal(before, rolled) {
		t.Errorf("before a rollover %v, after %v", before, rolled)
	}
}
