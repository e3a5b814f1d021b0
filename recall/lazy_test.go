package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memd"
)

// outcome is what one answer says of its rows.
func outcome(hits []memd.Hit) (rows []string) {
	for _, h := range hits {
		rows = append(rows, fmt.Sprint(h.ID, " ", h.Score, " ", h.Matched))
	}
	return rows
}

// pages recalls to the end of the order, limit rows at a time.
func (h *house) pages(q memd.Query, limit int) (rows []string) {
	h.t.Helper()
	q.Limit = &limit
	for {
		answer := h.recall(q)
		rows = append(rows, outcome(answer.Results)...)
		if q.Cursor = answer.NextCursor; q.Cursor == "" {
			return rows
		}
	}
}

// same compares rows with the beginning of the whole order.
func same(t *testing.T, what string, q memd.Query, got, whole []string) {
	t.Helper()
	for i := range max(len(got), len(whole)) {
		var a, b string
		if i < len(got) {
			a = got[i]
		}
		if i < len(whole) {
			b = whole[i]
		}
		if a != b {
			t.Fatalf("%s of %+v: row %d of %d\n got %s\nwant %s", what, q, i, len(whole), a, b)
		}
	}
}

// A page reads no more rows than it needs, and is what it were had all been
// read.
func TestPageIsThePrefixOfTheWholeOrder(t *testing.T) {
	for _, sessions := range []bool{false, true} {
		t.Run(fmt.Sprint("sessions ", sessions), func(t *testing.T) {
			h := newCrowd(t, 11, sessions)
			if err := h.store.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(5, 5))
			long := 0
			for n := range 48 {
				q := crowdQuestion(rng)
				q.Explain = true
				whole := h.pages(q, 100)
				q.Explain = false
				if len(whole) > 100 {
					long++
				}
				for _, limit := range []int{1, 3, 10, 100} {
					q.Limit = ptr(limit)
					same(t, fmt.Sprint("a page of ", limit), q, outcome(h.recall(q).Results), whole[:min(limit, len(whole))])
				}
				if n%8 == 0 {
					same(t, "pages of 7", q, h.pages(q, 7), whole)
				}
			}
			if long < 12 {
				t.Errorf("%d questions with more than a page of rows: the test shows little", long)
			}
		})
	}
}

// The row of a content in the namespace named first puts its twins out, however
// far below them it stands: here it is longer, by its white space.
func TestTwinBeyondThePage(t *testing.T) {
	h := newHouse(t)
	h.put(short("kumquat"+strings.Repeat(" ", 450)+"harvest", in("project/x")), short("kumquat harvest", importance(10)))
	var crowd []memd.Memory
	for i := range 300 {
		crowd = append(crowd, short(fmt.Sprint("kumquat harvest ", i)))
	}
	first := h.put(crowd...)[0]
	if err := h.store.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := memd.Query{Query: "kumquat harvest", Namespaces: []string{"project/x", "default"}, Limit: ptr(1)}
	wantIDs(t, h.recall(q).Results, first)
}

// A row that is there for its neighbours alone takes no match's place.
func TestNeighbourTakesNoTwinsPlace(t *testing.T) {
	h := newHouse(t)
	talk := func(m *memd.Memory) { m.SessionID = "talk" }
	ids := h.put(short("the harvest", in("project/x"), talk), short("kumquat", in("project/x"), talk), short("the harvest", tagged("kumquat")))
	for _, explain := range []bool{false, true} {
		q := memd.Query{Query: "kumquat", Namespaces: []string{"project/x", "default"}, Explain: explain}
		wantIDs(t, h.recall(q).Results, ids[1], ids[2])
	}
}
