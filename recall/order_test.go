package recall_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
)

// Contract 6.1: only heads.

func TestSupersededVersionIsNotFound(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	req := memd.RememberLongTerm{MemoryKey: "db.port", Source: "AGENTS.md", Summary: "The database listens on the kumquat port"}
	if _, err := h.tiers.RememberLongTerm(ctx, root, req); err != nil {
		t.Fatal(err)
	}
	req.Summary = "The database listens on the damson port"
	head, err := h.tiers.RememberLongTerm(ctx, root, req)
	if err != nil {
		t.Fatal(err)
	}
	answer := h.recall(memd.Query{Query: "kumquat", Explain: true})
	if len(answer.Results) != 0 || answer.EmptyReason != memd.EmptyAllFiltered || answer.Filtered["superseded"] != 1 {
		t.Errorf("old wording: %d results, reason %q, filtered %v", len(answer.Results), answer.EmptyReason, answer.Filtered)
	}
	wantIDs(t, h.ask("damson").Results, head.ID)
	wantIDs(t, h.ask("database").Results, head.ID)

	// A head deleted by hand revives no older version.
	h.shell(`DELETE FROM long WHERE version = 2`)
	if n := len(h.ask("kumquat damson database").Results); n != 0 {
		t.Errorf("%d results after the head was deleted by hand, want none", n)
	}
}

func TestArchivedVersionUnderALaterOneIsNotFound(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	req := memd.RememberLongTerm{MemoryKey: "pit", Kind: memd.Pitfall, Source: "AGENTS.md", Summary: "Kumquat pitfall"}
	old, err := h.tiers.RememberLongTerm(ctx, root, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.tiers.Patch(ctx, root, old.ID, memd.Patch{ResolvedAt: memd.Some(start)}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.tiers.Archive(ctx, root, old.ID); err != nil {
		t.Fatal(err)
	}
	q := memd.Query{Query: "kumquat", IncludeArchive: true, Explain: true}
	wantIDs(t, h.recall(q).Results, old.ID)

	req.Summary = "Damson pitfall"
	if _, err := h.tiers.RememberLongTerm(ctx, root, req); err != nil {
		t.Fatal(err)
	}
	if answer := h.recall(q); len(answer.Results) != 0 || answer.Filtered["superseded"] != 1 {
		t.Errorf("%d results, filtered %v", len(answer.Results), answer.Filtered)
	}
}

func TestOneRowPerContent(t *testing.T) {
	h := newHouse(t)
	rows := h.put(
		short("Kumquat jam sets at 104 degrees", in("user")),
		long("jam", "Kumquat jam  sets at 104 degrees"), // but for white space the same
		short("Kumquat jam sets at 105 degrees"),
	)
	answer := h.recall(memd.Query{Query: "kumquat jam", Namespaces: []string{"default", "user"}, Explain: true})
	wantIDs(t, answer.Results, rows[1], rows[2])
	if answer.Filtered["duplicate"] != 1 {
		t.Errorf("filtered %v, want one duplicate", answer.Filtered)
	}
}

func TestEarlierNamespaceOverrides(t *testing.T) {
	h := newHouse(t)
	rows := h.put(
		long("editor", "Kumquat is the editor here", in("project/x")),
		long("editor", "Damson is the editor everywhere", in("user")),
		long("shell", "Kumquat shell", in("user")),
	)
	ask := func(query string, namespaces ...string) memd.Answer {
		return h.recall(memd.Query{Query: query, Namespaces: namespaces, Explain: true})
	}
	wantIDs(t, ask("editor", "project/x", "user").Results, rows[0])
	wantIDs(t, ask("editor", "user", "project/x").Results, rows[1])

	// The overriding row need not match.
	answer := ask("damson", "project/x", "user")
	if len(answer.Results) != 0 || answer.EmptyReason != memd.EmptyAllFiltered || answer.Filtered["overridden"] != 1 {
		t.Errorf("overridden: %d results, reason %q, filtered %v", len(answer.Results), answer.EmptyReason, answer.Filtered)
	}
	// Nor need it pass the filters; but it must be visible and live.
	if answer := h.recall(memd.Query{Query: "damson", Namespaces: []string{"project/x", "user"}, Kinds: []memd.Kind{memd.Fact}}); len(answer.Results) != 0 {
		t.Error("a filter lifted the override")
	}
	h.put(long("shell", "Damson shell", in("project/y"), restricted("secret")))
	wantIDs(t, ask("kumquat shell", "project/y", "user").Results, rows[2])
	h.put(long("shell", "Damson shell", in("project/z"), func(m *memd.Memory) { m.ExpiresAt = memd.At(start.Add(-time.Hour)) }))
	wantIDs(t, ask("kumquat shell", "project/z", "user").Results, rows[2])
}

// Contract 6.2: who sees what. More in leak_test.go.

func TestAccessTagsAreNamedAndHeld(t *testing.T) {
	h := newHouse(t)
	row := h.put(short("Kumquat payroll", restricted("hr", "board")))[0]
	holder := memd.Caller{Name: "holder", Role: memd.RoleRead, Access: []string{"hr", "board", "it"}}
	half := memd.Caller{Name: "half", Role: memd.RoleRead, Access: []string{"hr"}}
	for _, test := range []struct {
		caller memd.Caller
		named  []string
		finds  bool
	}{
		{root, nil, false},
		{root, []string{"hr"}, false},
		{root, []string{"board", "hr"}, true},
		{holder, nil, false},
		{holder, []string{"hr", "board", "it"}, true},
		{half, []string{"hr", "board"}, false},
	} {
		answer := h.recallAs(test.caller, memd.Query{Query: "kumquat", Access: test.named})
		if found := len(answer.Results) == 1 && answer.Results[0].ID == row; found != test.finds {
			t.Errorf("%s naming %v: found %t", test.caller.Name, test.named, found)
		}
	}
}

func TestNotesAreTheirSessions(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	ann := memd.Caller{Name: "ann", Role: memd.RoleWrite}
	bob := memd.Caller{Name: "bob", Role: memd.RoleWrite}
	note, err := h.tiers.Note(ctx, ann, "s1", memd.Note{Summary: "Kumquat is on the desk", TTL: "90s"})
	if err != nil {
		t.Fatal(err)
	}
	q := memd.Query{Query: "kumquat", SessionID: "s1"}
	wantIDs(t, h.recallAs(ann, q).Results, note.ID)
	wantIDs(t, h.recallAs(root, q).Results, note.ID)
	for name, answer := range map[string]memd.Answer{
		"another caller":        h.recallAs(bob, memd.Query{Query: "kumquat", SessionID: "s1", Explain: true}),
		"another session":       h.recallAs(ann, memd.Query{Query: "kumquat", SessionID: "s2", Explain: true}),
		"no session":            h.recallAs(ann, memd.Query{Query: "kumquat", Explain: true}),
		"no session, asked for": h.recallAs(ann, memd.Query{Query: "kumquat", Tiers: []memd.Tier{memd.Transient}, Explain: true}),
	} {
		if len(answer.Results) != 0 || answer.EmptyReason != memd.EmptyNoMatch || len(answer.Filtered) != 0 {
			t.Errorf("%s: %d results, reason %q, filtered %v", name, len(answer.Results), answer.EmptyReason, answer.Filtered)
		}
	}
	h.clock.Advance(91 * time.Second)
	if n := len(h.recallAs(ann, q).Results); n != 0 {
		t.Error("an expired note was found")
	}
}

func TestExpiredAndArchivedRows(t *testing.T) {
	h := newHouse(t)
	rows := h.put(
		short("Kumquat one", func(m *memd.Memory) { m.ExpiresAt = memd.At(start.Add(time.Hour)) }),
		short("Kumquat two", archived),
	)
	wantIDs(t, h.ask("kumquat").Results, rows[0])
	h.clock.Advance(time.Hour)
	answer := h.recall(memd.Query{Query: "kumquat", Explain: true})
	if answer.Filtered["expired"] != 1 || answer.Filtered["tier"] != 1 || answer.EmptyReason != memd.EmptyAllFiltered {
		t.Errorf("filtered %v, reason %q", answer.Filtered, answer.EmptyReason)
	}
	wantIDs(t, h.recall(memd.Query{Query: "kumquat", IncludeArchive: true}).Results, rows[1])
	wantIDs(t, h.recall(memd.Query{Query: "kumquat", Tiers: []memd.Tier{memd.Archive}}).Results, rows[1])
	if n := len(h.recall(memd.Query{Query: "kumquat", Tiers: []memd.Tier{memd.Short}, IncludeArchive: true}).Results); n != 0 {
		t.Error("include_archive widened tiers")
	}
}

// Contract 6.3 and 6.4: bands, floor, tilt. The pairs hold the rest.

func TestBands(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	h.put(englishFiller(60)...)
	rows := h.put(
		short("Kumquat in the attic", archived, importance(10)),
		short("Kumquat"),
		long("fruit", "Kumquat and very many other words that make this row long and thin", importance(1)),
		long("fruit.old", "Kumquat", stale),
	)
	note, err := h.tiers.Note(ctx, root, "s1", memd.Note{Summary: "kumquat kumquat kumquat"})
	if err != nil {
		t.Fatal(err)
	}
	q := memd.Query{Query: "kumquat", SessionID: "s1", IncludeArchive: true}
	wantIDs(t, h.recall(q).Results, rows[2], rows[3], note.ID, rows[0]) // rows[1] has the stale row's content
	for _, hit := range h.recall(q).Results {
		if hit.Stale != (hit.ID == rows[3]) {
			t.Errorf("%s: stale %t", hit.Summary, hit.Stale)
		}
	}
}

// A note may hold words that the corpus does not, and many of them; it stays
// in its band.
func TestNotesStayInTheirBand(t *testing.T) {
	h := newHouse(t)
	h.put(englishFiller(40)...)
	row := h.put(short("The service"))[0]
	var unheard strings.Builder
	for i := range 30 {
		fmt.Fprintf(&unheard, "word%d ", i)
	}
	note, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: unheard.String()})
	if err != nil {
		t.Fatal(err)
	}
	results := h.recall(memd.Query{Query: "service " + unheard.String(), SessionID: "s1", Limit: ptr(100)}).Results
	if results[0].ID != row || results[len(results)-1].ID != note.ID {
		t.Errorf("the note stands at %d of %d", slices.Index(ids(results), note.ID), len(results))
	}
}

// The 2 % test applies from 50 rows on, and 1 of 50 is 2 %.
func TestRareFromFiftyRows(t *testing.T) {
	for _, test := range []struct {
		rows int
		over bool
	}{{49, false}, {50, false}, {51, true}} {
		t.Run(fmt.Sprint(test.rows), func(t *testing.T) {
			h := newHouse(t)
			h.put(englishFiller(test.rows - 2)...)
			rows := h.put(long("k", "Kumquat"), short("damson cherry quince medlar"))
			results := h.ask("kumquat damson cherry quince medlar").Results
			if over := results[0].ID == rows[0]; over != test.over {
				t.Errorf("over the floor: %t", over)
			}
		})
	}
}

func TestStopWordsAlone(t *testing.T) {
	h := newHouse(t)
	rows := h.put(short("To be or not to be"), short("这是什么"), short("kumquat"))
	wantIDs(t, h.ask("or not to be").Results, rows[0])
	wantIDs(t, h.ask("什么").Results, rows[1])
	wantIDs(t, h.ask("or the kumquat").Results, rows[2])
}

func TestTiltIsAtMostAFifth(t *testing.T) {
	h := newHouse(t)
	full := h.put(short("Kumquat best", importance(10), accessed(1000), from("docs/a.md#b", memd.SourceOK), tagged("kumquat")),
		short("Kumquat worst of the lot, on and on", importance(1), daysAgo(300), from("docs/a.md", memd.SourceMissing)))
	results := h.recall(memd.Query{Query: "kumquat", Explain: true}).Results
	wantIDs(t, results, full...)
	for _, hit := range results {
		b := hit.Breakdown
		tilt := b.Importance + b.Recency + b.Access + b.Source
		if relevance := b.Keyword + b.Metadata; tilt < 0 || tilt > 0.2*relevance*(1+1e-12) {
			t.Errorf("tilt %g of relevance %g", tilt, relevance)
		}
	}
	if b := results[0].Breakdown; b.Importance+b.Recency+b.Access+b.Source < 0.2*(b.Keyword+b.Metadata)*(1-1e-9) {
		t.Error("the best of everything does not tilt by a fifth")
	}
}

// Contract 6.6: ties, and the order from the breakdowns alone.

func TestBreakdownsGiveTheOrder(t *testing.T) {
	h := newHouse(t)
	h.put(englishFiller(150)...)
	h.put(long("deploy.rule", "Deploy in the morning", ofKind(memd.Rule), stale), long("deploy.who", "Who may deploy the service"),
		short("An archived deploy", archived), short("Deploy", tagged("deploy"), accessed(4)))
	if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "deploy waits"}); err != nil {
		t.Fatal(err)
	}
	hits := h.recall(memd.Query{Query: "deploy of the billing service", SessionID: "s1", IncludeArchive: true, Explain: true, Limit: ptr(100)}).Results
	if len(hits) < 40 {
		t.Fatalf("only %d results", len(hits))
	}
	for _, hit := range hits {
		if sum := hit.Breakdown.Sum(); sum != hit.Score {
			t.Errorf("the terms of %s sum to %v, its score is %v", hit.ID, sum, hit.Score)
		}
	}
	sorted := slices.Clone(hits)
	slices.SortFunc(sorted, func(a, b memd.Hit) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(sorted, func(a, b memd.Hit) int {
		return cmp.Or(cmp.Compare(b.Breakdown.Sum(), a.Breakdown.Sum()), b.UpdatedAt.Compare(a.UpdatedAt.Time))
	})
	wantIDs(t, hits, ids(sorted)...)
}

func TestTiesBreakByTimeThenID(t *testing.T) {
	h := newHouse(t)
	at := func(minutes int) mod {
		return func(m *memd.Memory) { m.UpdatedAt = memd.At(start.Add(time.Duration(minutes) * time.Minute)) }
	}
	rows := h.put(short("kumquat 1", at(1)), short("kumquat 3", at(3)), short("kumquat 2", at(1)), short("kumquat 4", at(2)))
	wantIDs(t, h.ask("kumquat").Results, rows[1], rows[3], rows[0], rows[2])
}

// Contract 6.6: an access counts once a session and day, and changes no
// ranking before it is folded.
func TestAccessCounts(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	row := h.put(short("kumquat"))[0]
	count := func() int { return h.ask("kumquat").Results[0].AccessCount }
	touch := func(session string) {
		t.Helper()
		if _, err := h.engine.Recall(ctx, root, memd.Query{Query: "kumquat", SessionID: session}); err != nil {
			t.Fatal(err)
		}
	}
	h.ask("kumquat") // touch: false
	h.fold()
	if n := count(); n != 0 {
		t.Fatalf("access_count %d after touch: false", n)
	}
	for range 3 {
		touch("s1")
	}
	if _, err := h.engine.Context(ctx, root, memd.ContextRequest{Query: "kumquat", SessionID: "s1"}); err != nil {
		t.Fatal(err)
	}
	before := h.ask("kumquat").Results[0].Score
	if n := count(); n != 0 {
		t.Errorf("access_count %d before the fold", n)
	}
	h.fold()
	if n := count(); n != 1 {
		t.Errorf("access_count %d after one session's day, want 1", n)
	}
	if after := h.ask("kumquat").Results[0].Score; after <= before {
		t.Error("the fold changed no score")
	}
	touch("s1")
	touch("s2")
	h.fold()
	if n := count(); n != 2 {
		t.Errorf("access_count %d after a second session, want 2", n)
	}
	h.clock.Advance(24 * time.Hour)
	touch("s1")
	if _, err := h.tiers.Get(ctx, root, row); err != nil {
		t.Fatal(err)
	}
	h.fold()
	if n := count(); n != 4 {
		t.Errorf("access_count %d after the next day's recall and get, want 4", n)
	}
}
