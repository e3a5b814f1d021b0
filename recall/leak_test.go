package recall_test

import (
	"context"
	"reflect"
	"testing"

	"memd"
)

// What a filter removes is told by its name, and under explain counted.
func TestEmptyReasons(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	h.put(
		short("kumquat", tagged("fruit")),
		short("damson", in("user")),
		short("quince", restricted("secret")),
	)
	if _, err := h.tiers.Note(ctx, root, "s1", memd.Note{Summary: "medlar"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		query  memd.Query
		reason memd.EmptyReason
		counts map[string]int
	}{
		{"no such word", memd.Query{Query: "zzz"}, memd.EmptyNoMatch, map[string]int{}},
		{"no word at all", memd.Query{Query: " ?! "}, memd.EmptyNoMatch, map[string]int{}},
		{"kind", memd.Query{Query: "kumquat", Kinds: []memd.Kind{memd.Rule}}, memd.EmptyAllFiltered, map[string]int{"kind": 1}},
		{"tag", memd.Query{Query: "kumquat", Tags: []string{"fruit", "red"}}, memd.EmptyAllFiltered, map[string]int{"tag": 1}},
		{"part of a tag", memd.Query{Query: "kumquat", Tags: []string{"frui"}}, memd.EmptyAllFiltered, map[string]int{"tag": 1}},
		{"tier", memd.Query{Query: "kumquat", Tiers: []memd.Tier{memd.Long}}, memd.EmptyAllFiltered, map[string]int{"tier": 1}},
		{"namespace", memd.Query{Query: "damson"}, memd.EmptyAllFiltered, map[string]int{"namespace": 1}},
		{"access", memd.Query{Query: "quince"}, memd.EmptyAllFiltered, map[string]int{"access": 1}},
		{"note's kind", memd.Query{Query: "medlar", SessionID: "s1", Kinds: []memd.Kind{memd.Rule}}, memd.EmptyAllFiltered, map[string]int{"kind": 1}},
		{"note's tag", memd.Query{Query: "medlar", SessionID: "s1", Tags: []string{"red"}}, memd.EmptyAllFiltered, map[string]int{"tag": 1}},
		{"note's tier", memd.Query{Query: "medlar", SessionID: "s1", Tiers: []memd.Tier{memd.Long}}, memd.EmptyAllFiltered, map[string]int{"tier": 1}},
		{"found", memd.Query{Query: "kumquat"}, "", map[string]int{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plain := h.recall(test.query)
			if plain.EmptyReason != test.reason || plain.Filtered != nil {
				t.Errorf("reason %q, filtered %v without explain; want %q", plain.EmptyReason, plain.Filtered, test.reason)
			}
			test.query.Explain = true
			answer := h.recall(test.query)
			if answer.EmptyReason != test.reason || !reflect.DeepEqual(answer.Filtered, test.counts) {
				t.Errorf("reason %q, filtered %v; want %q, %v", answer.EmptyReason, answer.Filtered, test.reason, test.counts)
			}
		})
	}
}

// A caller learns nothing of rows that it may not see: every answer is the one
// of a store in which they hold other words.
func TestHiddenRowsLeaveNoTrace(t *testing.T) {
	ann := memd.Caller{Name: "ann", Role: memd.RoleWrite, Namespaces: []string{"default", "user"}, Access: []string{"it"}}
	build := func(word string) *house {
		h := newHouse(t)
		h.put(englishFiller(30)...)
		h.put(
			short("Anns kumquat"), short("Anns kumquat at work", in("user")), short("For it: kumquat", restricted("it")),
			short(word+" in another namespace", in("project/x")),
			long("hidden", word+" under another's tag", restricted("board")),
			short(word+" in the archive", archived, in("project/x")),
			long("gone", word, in("team/y"), stale),
		)
		for i := range 20 {
			h.put(short(word+" hidden away", restricted("board"), importance(1+i%10)))
		}
		if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: word}); err != nil {
			t.Fatal(err)
		}
		return h
	}
	with, without := build("damson"), build("medlar")
	for _, query := range []string{"damson", "damson kumquat", "kumquat", "hidden", "another"} {
		q := memd.Query{Query: query, SessionID: "s1", Access: []string{"board", "it"}, IncludeArchive: true, Explain: true, Limit: ptr(2)}
		a, b := with.recallAs(ann, q), without.recallAs(ann, q)
		if query == "damson kumquat" {
			// The one trace: weights are of the whole corpus, so scores shift
			// together with the number of rows that hold a word.
			for _, hits := range [][]memd.Hit{a.Results, b.Results} {
				for i := range hits {
					hits[i].Score, hits[i].Breakdown = 0, nil
				}
			}
			a.NextCursor, b.NextCursor = "", ""
		}
		if got, want := asJSON(t, a), asJSON(t, b); got != want {
			t.Errorf("%q\n got %s\nwant %s", query, got, want)
		}
	}
	for _, query := range []string{"damson", "kumquat", ""} {
		req := memd.ContextRequest{Query: query, SessionID: "s1", Access: []string{"board", "it"}, Namespaces: []string{"user", "default"}}
		a, errA := with.engine.Context(context.Background(), ann, req)
		b, errB := without.engine.Context(context.Background(), ann, req)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got, want := asJSON(t, a), asJSON(t, b); got != want {
			t.Errorf("context of %q\n got %s\nwant %s", query, got, want)
		}
	}
	// A namespace that the caller may not see is refused, whether or not it
	// holds anything.
	for _, ns := range []string{"project/x", "project/void"} {
		_, err := with.engine.Recall(context.Background(), ann, memd.Query{Query: "damson", Namespaces: []string{ns}})
		checkRefusal(t, err, memd.CodeForbidden, "namespace")
		_, err = with.engine.Context(context.Background(), ann, memd.ContextRequest{Namespaces: []string{ns}})
		checkRefusal(t, err, memd.CodeForbidden, "namespace")
	}
}

// An administrator confined to namespaces owns no session but those it opened.
func TestConfinedAdminSeesNoOtherNotes(t *testing.T) {
	h := newHouse(t)
	ann := memd.Caller{Name: "ann", Role: memd.RoleWrite}
	note, err := h.tiers.Note(context.Background(), ann, "s1", memd.Note{Summary: "Kumquat is on the desk"})
	if err != nil {
		t.Fatal(err)
	}
	confined := memd.Caller{Name: "confined", Role: memd.RoleAdmin, Namespaces: []string{memd.DefaultNamespace}, AllAccess: true}
	q := memd.Query{Query: "kumquat", SessionID: "s1", Explain: true}
	answer := h.recallAs(confined, q)
	if len(answer.Results) != 0 || answer.EmptyReason != memd.EmptyNoMatch || len(answer.Filtered) != 0 {
		t.Errorf("recall: %d results, reason %q, filtered %v", len(answer.Results), answer.EmptyReason, answer.Filtered)
	}
	out, err := h.engine.Context(context.Background(), confined, memd.ContextRequest{Query: "kumquat", SessionID: "s1"})
	if err != nil || len(out.Included)+len(out.LeftOut) != 0 || out.Text != "" {
		t.Errorf("context: %+v, %v", out, err)
	}
	wantIDs(t, h.recallAs(root, q).Results, note.ID)
}
