package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/recall"
)

// reader is a selector that picks the lines that name one of its words, or what
// then says. It notes what it was told.
type reader struct {
	words []string
	then  func(lines []string) ([]int, error)

	calls        int
	query        string
	tools, lines []string
}

func (r *reader) Select(_ context.Context, query string, tools, lines []string) ([]int, error) {
	r.calls++
	r.query, r.tools, r.lines = query, tools, lines
	if r.then != nil {
		return r.then(lines)
	}
	var picked []int
	for i, line := range lines {
		if slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(line, w) }) {
			picked = append(picked, i)
		}
	}
	return picked, nil
}

// What is chosen comes first in its tier, and only there: above it stand the
// tiers of more authority, and a stale row stays below the fresh ones.
func TestChosenLeadTheirTier(t *testing.T) {
	h := newHouse(t)
	ids := h.put(
		long("one", "kumquat kumquat kumquat"), long("two", "a kumquat among so many other words that say nothing of it"),
		long("old", "kumquat of old", daysAgo(400)),
		short("kumquat kumquat kumquat here"), short("a kumquat among so many other words that say nothing of it, briefly"),
		short("kumquat in the archive", archived), short("kumquat kumquat in the archive", archived),
	)
	note, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "kumquat note"})
	if err != nil {
		t.Fatal(err)
	}
	q := memd.Query{Query: "kumquat", SessionID: "s1", IncludeArchive: true, Explain: true}
	plain := h.recall(q)
	wantIDs(t, plain.Results, ids[0], ids[1], ids[2], ids[3], ids[4], note.ID, ids[6], ids[5])
	r := &reader{words: []string{"among", "of old", "in the archive"}}
	h.engine.WithSelector(r)
	q.Tools = []string{"git"}
	got := h.recall(q)
	wantIDs(t, got.Results, ids[1], ids[0], ids[2], ids[4], ids[3], note.ID, ids[6], ids[5])
	for i, hit := range got.Results {
		b := *hit.Breakdown
		if b.Sum() != hit.Score || (b.Selected > 0) != slices.Contains([]string{ids[1], ids[2], ids[4], ids[5], ids[6]}, hit.ID) {
			t.Errorf("result %d: score %v, %+v", i, hit.Score, b)
		}
	}
	if len(got.Degraded) != 0 || r.query != "kumquat" || !slices.Equal(r.tools, []string{"git"}) {
		t.Errorf("degraded %q, asked %q with tools %q", got.Degraded, r.query, r.tools)
	}
	want := []string{"[fact] one (today): kumquat kumquat kumquat", "[fact] two (today): ", "[fact] old (400 days): kumquat of old"}
	for i, line := range want {
		if !strings.HasPrefix(r.lines[i], line) {
			t.Errorf("line %d is %q, want %q", i+1, r.lines[i], line)
		}
	}
	if len(r.lines) != 7 || strings.Contains(strings.Join(r.lines, "\n"), "note") {
		t.Errorf("the notes of a session were shown: %q", r.lines)
	}
	if s := h.engine.Selections(); s != (recall.Selections{Answered: 1}) {
		t.Errorf("counted %+v", s)
	}
}

// However much speaks for the others, a chosen row comes first.
func TestChosenPassTheMostRelevant(t *testing.T) {
	h := newHouse(t)
	all := h.put(short("kumquat gateway ledger", importance(10), accessed(100), tagged("kumquat", "gateway", "ledger"), in("default")),
		short("of the kumquat "+strings.Repeat("nothing else is said here, and at length, ", 40), importance(1), daysAgo(300)))
	h.engine.WithSelector(&reader{words: []string{"of the kumquat"}})
	wantIDs(t, h.ask("kumquat gateway ledger").Results, all[1], all[0])
}

// A selector that fails, or answers other than it was asked, changes nothing;
// recall and context say so.
func TestFailingSelectorDegrades(t *testing.T) {
	h := newHouse(t)
	h.put(short("kumquat one", importance(9)), short("kumquat two"), long("three", "kumquat three"), long("four", "kumquat four"),
		short("five kumquats"), short("a kumquat, the sixth"))
	plain := asJSON(t, h.ask("kumquat").Results)
	text := h.context(memd.ContextRequest{Query: "kumquat"}).Text
	answers := func(picked ...int) func([]string) ([]int, error) {
		return func([]string) ([]int, error) { return picked, nil }
	}
	bad := map[string]func([]string) ([]int, error){
		"down":     func([]string) ([]int, error) { return []int{1}, errors.New("the server answered 500") },
		"unknown":  func(lines []string) ([]int, error) { return []int{0, len(lines)}, nil },
		"negative": answers(-1),
		"twice":    answers(2, 1, 2),
		"too many": answers(0, 1, 2, 3, 4, 5),
	}
	for name, then := range bad {
		h.engine.WithSelector(&reader{then: then})
		answer := h.ask("kumquat")
		if !slices.Equal(answer.Degraded, []string{"selector"}) || asJSON(t, answer.Results) != plain || answer.EmptyReason != "" {
			t.Errorf("%s: degraded %q, results %s", name, answer.Degraded, asJSON(t, answer.Results))
		}
		got := h.context(memd.ContextRequest{Query: "kumquat"})
		if !slices.Equal(got.Degraded, []string{"selector"}) || got.Text != text {
			t.Errorf("%s: context degraded %q", name, got.Degraded)
		}
	}
	if s := h.engine.Selections(); s != (recall.Selections{Failed: uint64(2 * len(bad))}) {
		t.Errorf("counted %+v", s)
	}
	h.engine.WithSelector(&reader{then: answers()})
	if answer := h.ask("kumquat"); len(answer.Degraded) != 0 || asJSON(t, answer.Results) != plain {
		t.Errorf("none chosen: degraded %q, results %s", answer.Degraded, asJSON(t, answer.Results))
	}
	h.engine.WithSelector(nil)
	if answer := h.ask("kumquat"); len(answer.Degraded) != 0 || asJSON(t, answer.Results) != plain {
		t.Errorf("without a selector: degraded %q", answer.Degraded)
	}
}

// The selector sees what the caller may see, and its choice adds nothing to it;
// what is forgotten while it reads is not answered.
func TestChoiceNeverWidens(t *testing.T) {
	h := newHouse(t)
	ids := h.put(short("kumquat one"), short("kumquat two"), short("kumquat three"),
		short("kumquat elsewhere", in("project/x")), short("kumquat kept close", restricted("secret")), short("kumquat in the archive", archived),
		short("quince"))
	r := &reader{}
	h.engine.WithSelector(r)
	r.then = func(lines []string) ([]int, error) { // the answer that it thinks of is gone by the time it comes
		if err := h.tiers.Forget(context.Background(), root, ids[1]); err != nil {
			return nil, err
		}
		return []int{0, 1, 2}, nil
	}
	answer := h.ask("kumquat")
	if len(answer.Results) != 2 || slices.Contains(idsOf(answer), ids[1]) || len(answer.Degraded) != 0 {
		t.Errorf("results %v, degraded %q", idsOf(answer), answer.Degraded)
	}
	if len(r.lines) != 3 {
		t.Errorf("%d lines were shown: %q", len(r.lines), r.lines)
	}
	for _, word := range []string{"elsewhere", "close", "archive", "quince"} {
		if strings.Contains(strings.Join(r.lines, "\n"), word) {
			t.Errorf("the selector was shown the row of %q", word)
		}
	}
}

func idsOf(a memd.Answer) []string { return ids(a.Results) }

// At most 200 lines are shown, the first of the order; a question that finds
// nothing to choose among is not asked.
func TestManifestIsBounded(t *testing.T) {
	h := newHouse(t)
	rows := make([]memd.Memory, 230)
	for i := range rows {
		rows[i] = short(fmt.Sprintf("kumquat number %d\nand a second line %s", i, strings.Repeat("x", 300)), importance(1+i%10))
	}
	h.put(rows...)
	h.put(short("quince alone"))
	r := &reader{}
	first := h.ask("kumquat").Results
	h.engine.WithSelector(r)
	h.ask("kumquat")
	if len(r.lines) != 200 || !strings.Contains(r.lines[0], strings.Fields(first[0].Summary)[2]+" and a second line") {
		t.Errorf("%d lines, the first %q, the first result %q", len(r.lines), r.lines[0], first[0].Summary)
	}
	for _, line := range r.lines {
		if strings.Contains(line, "\n") || len(line) > 300 {
			t.Fatalf("a line of %d bytes: %q", len(line), line)
		}
	}
	for _, query := range []string{"quince", "zebra", "", "?!"} {
		h.ask(query)
		h.context(memd.ContextRequest{Query: query})
	}
	if r.calls != 1 {
		t.Errorf("asked %d times", r.calls)
	}
}

// Pages continue one order: the first one's choice counts, whatever the selector
// would say later, and nobody is asked again.
func TestPagesKeepTheChoice(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	q.Limit = ptr(100)
	plain := walk(h, q, nil)
	last := func(lines []string) ([]int, error) { n := len(lines); return []int{n - 1, n - 2, n - 3}, nil }
	r := &reader{then: last}
	h.engine.WithSelector(r)
	whole := walk(h, q, nil)
	if slices.Equal(whole, plain) {
		t.Fatal("the choice changes nothing")
	}
	r.calls = 0
	q.Limit = ptr(7)
	again := func() {
		r.then = func([]string) ([]int, error) { return []int{5, 9}, errors.New("down") }
	}
	if got := walk(h, q, again); !slices.Equal(got, whole) {
		t.Error("pages of 7 walk another order than pages of 100")
	}
	if r.calls != 1 {
		t.Errorf("asked %d times for one walk", r.calls)
	}
	// After a first page without it the others are without it, and say so.
	if got := walk(h, q, func() { r.then = last }); !slices.Equal(got, plain) {
		t.Error("the selector that came back moves the pages")
	}
	r.then = func([]string) ([]int, error) { return nil, errors.New("down") }
	q.Cursor = h.recall(q).NextCursor
	if answer := h.recall(q); !slices.Equal(answer.Degraded, []string{"selector"}) {
		t.Errorf("the second page: degraded %q", answer.Degraded)
	}
	q.Tools = []string{"git"}
	h.refused(q, memd.CodeInvalidRequest, "cursor")
}

// In a context what is chosen enters first where room is short.
func TestContextTakesTheChosenFirst(t *testing.T) {
	h := newHouse(t)
	ids := h.put(long("one", "kumquat kumquat "+strings.Repeat("x", 300)), long("two", "a kumquat, "+strings.Repeat("y", 300)))
	req := memd.ContextRequest{Query: "kumquat", MaxChars: ptr(750), Tools: []string{"git"}}
	if out := h.context(req); reason(out, ids[0]) != "in" || reason(out, ids[1]) != "budget" {
		t.Fatalf("%q and %q without a selector", reason(out, ids[0]), reason(out, ids[1]))
	}
	r := &reader{words: []string{"two"}}
	h.engine.WithSelector(r)
	if out := h.context(req); reason(out, ids[0]) != "budget" || reason(out, ids[1]) != "in" || len(out.Degraded) != 0 {
		t.Errorf("%q and %q, degraded %q", reason(out, ids[0]), reason(out, ids[1]), out.Degraded)
	}
	if !slices.Equal(r.tools, []string{"git"}) {
		t.Errorf("tools %q", r.tools)
	}
}

// A caller that leaves while the selector reads is no failure of the selector.
func TestLeavingIsNoFailure(t *testing.T) {
	h := newHouse(t)
	h.put(short("kumquat one"), short("kumquat two"))
	ctx, cancel := context.WithCancel(context.Background())
	h.engine.WithSelector(&reader{then: func([]string) ([]int, error) { cancel(); return nil, ctx.Err() }})
	if _, err := h.engine.Recall(ctx, root, memd.Query{Query: "kumquat"}); err == nil {
		t.Error("an answer for nobody")
	}
	if s := h.engine.Selections(); s != (recall.Selections{}) {
		t.Errorf("counted %+v", s)
	}
}

func TestToolsAreBounded(t *testing.T) {
	h := newHouse(t)
	h.recall(memd.Query{Query: "x", Tools: slices.Repeat([]string{strings.Repeat("重", memd.MaxToolChars)}, memd.MaxTools)})
	for _, tools := range [][]string{slices.Repeat([]string{"t"}, memd.MaxTools+1), {""}, {strings.Repeat("t", memd.MaxToolChars+1)}} {
		h.refused(memd.Query{Query: "x", Tools: tools}, memd.CodeInvalidRequest, "tools")
		_, err := h.engine.Context(context.Background(), root, memd.ContextRequest{Tools: tools})
		checkRefusal(t, err, memd.CodeInvalidRequest, "tools")
	}
}
