package recall_test

import (
	"slices"
	"strings"
	"testing"

	"memd"
)

func saidIn(session string) mod { return func(m *memd.Memory) { m.SessionID = session } }

// Rows of one session lend each other relevance: the rows next to a match
// stand before equal matches elsewhere, and the nearest enter without a match
// of their own, below all that have one.
func TestNeighboursLend(t *testing.T) {
	h := newHouse(t)
	put := h.put(
		short("we talked about the weather", saidIn("a")),                    // 0: two before
		short("the kumquat harvest came up", saidIn("a")),                    // 1: lends
		short("it was said to fail this year", saidIn("a")),                  // 2: next to it
		short("frost in the orchard, said the neighbour", saidIn("a")),       // 3
		short("a kumquat on its own", saidIn("b")),                           // 4: another session
		short("it was said to fail that year", saidIn("b"), in("project/x")), // 5: another namespace
	)
	answer := h.recall(memd.Query{Query: "kumquat", Limit: ptr(100), Explain: true})
	matched := map[string]memd.Hit{}
	for _, hit := range answer.Results {
		matched[hit.ID] = hit
	}
	got := ids(answer.Results)
	if !slices.Contains(got[:2], put[1]) || !slices.Contains(got[:2], put[4]) {
		t.Fatalf("the matches do not come first: %v", got)
	}
	want := []string{put[2], put[0], put[3]} // nearest first; of those beyond the one as near, the newer id last
	rest := slices.Clone(got[2:])
	if len(rest) != 3 || !slices.Contains(rest[:2], put[2]) || !slices.Contains(rest[:2], put[0]) || rest[2] != put[3] {
		t.Errorf("neighbours %v, want %v", rest, want)
	}
	for _, id := range rest {
		hit := matched[id]
		if !slices.Equal(hit.Matched, []memd.Match{memd.MatchNeighbour}) || hit.Breakdown.Neighbour <= 0 ||
			hit.Breakdown.Keyword != 0 || hit.Score != hit.Breakdown.Sum() {
			t.Errorf("%s: %v %+v", id, hit.Matched, *hit.Breakdown)
		}
	}

	// Of two equal matches the one beside another match stands first.
	h = newHouse(t)
	put = h.put(
		short("the damson jam is ready", saidIn("a")),
		short("damson and sugar, half and half, stirred well", saidIn("a")),
		short("the damson jam is ready now", saidIn("b")),
	)
	if got := ids(h.ask("damson jam").Results); got[0] != put[0] {
		t.Errorf("order %v, want %s first", got, put[0])
	}
}

// A neighbour rescues no empty result, and is held to scope and filters like
// any row.
func TestNeighboursAreInScope(t *testing.T) {
	h := newHouse(t)
	put := h.put(
		short("a kumquat tree", saidIn("a"), tagged("garden")),
		short("restricted words", saidIn("a"), restricted("secret")),
		short("untagged words", saidIn("a")),
		short("tagged words", saidIn("a"), tagged("garden")),
	)
	wantIDs(t, h.recall(memd.Query{Query: "kumquat", Tags: []string{"garden"}}).Results, put[0], put[3])
	if got := ids(h.ask("kumquat").Results); slices.Contains(got, put[1]) {
		t.Errorf("a restricted neighbour is shown: %v", got)
	}
	if answer := h.ask("persimmon"); len(answer.Results) != 0 || answer.EmptyReason != memd.EmptyNoMatch {
		t.Errorf("%d results, %q", len(answer.Results), answer.EmptyReason)
	}
	// What a filter keeps out lends nothing.
	if answer := h.recall(memd.Query{Query: "kumquat", Kinds: []memd.Kind{memd.Task}}); len(answer.Results) != 0 {
		t.Errorf("results without a match: %v", ids(answer.Results))
	}
}

// Neighbours are found across a rollover in the middle of a session.
func TestNeighboursAcrossDatabases(t *testing.T) {
	rows := []memd.Memory{
		short("before the kumquat", saidIn("a")), short("the kumquat itself", saidIn("a")),
		short("an answer to that", saidIn("a")), short("and a last word", saidIn("a")),
	}
	one, many := newHouse(t), newHouse(t)
	one.put(rows...)
	for i := range rows {
		many.put(rows[i])
		if _, err := many.store.Rollover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	q := memd.Query{Query: "itself kumquat", Explain: true}
	want, got := one.recall(q).Results, many.recall(q).Results
	wantIDs(t, got, ids(want)...)
	for i := range got {
		if *got[i].Breakdown != *want[i].Breakdown {
			t.Errorf("%s: %+v, want %+v", got[i].ID, *got[i].Breakdown, *want[i].Breakdown)
		}
	}
}

// A long row counts by the passage that answers, not by its length.
func TestBestPassageCounts(t *testing.T) {
	h := newHouse(t)
	const sentence = "notes of a meeting on many other matters of the week. "
	filler, part := strings.Repeat(sentence, 40), strings.Repeat(sentence, 13)
	put := h.put(
		short(filler+"the kumquat orchard blooms in April. "+filler),
		short("kumquat, "+part+"orchard, "+part+"blooms"), // shorter
	)
	answer := h.ask("kumquat orchard blooms")
	if got := ids(answer.Results); got[0] != put[0] {
		t.Errorf("order %v, want %s first", got, put[0])
	}
}
