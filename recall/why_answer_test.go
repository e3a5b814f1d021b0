package recall_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/guard/fence"
	"memd/tiers"
)

// The whole answer to a question, of a store that is given.
func TestWhyWhole(t *testing.T) {
	h := newHouse(t)
	h.put(
		long("deploy/how", "Deploy with kumquat", tagged("ops"), importance(7)),
		long("deploy/when", "Deploy on Mondays, with kumquat as well", daysAgo(100)),
		short("we ate a kumquat"),
	)
	h.clock.Advance(24 * 3600e9)
	got, err := json.MarshalIndent(h.why(root, memd.WhyRequest{Query: "deploy kumquat", MemoryKey: "deploy/when"}), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if want := wholeAnswer; string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

const wholeAnswer = `{
	"id": "01900000-0000-7000-8000-000000000002",
	"memory_key": "deploy/when",
	"namespace": "default",
	"returned": true,
	"rank": 2,
	"reason": "returned",
	"detail": "it comes back at place 2 of 3",
	"questions": [
		{
			"n": 1,
			"question": "Is it in an authoritative artefact?",
			"answer": "unknown: nobody could look at its source",
			"evidence": [
				"source AGENTS.md",
				"stored status unchecked"
			]
		},
		{
			"n": 2,
			"question": "Is it a long-term row with a stable key?",
			"answer": "yes: it is the current version of its key",
			"evidence": [
				"id 01900000-0000-7000-8000-000000000002",
				"tier long",
				"namespace default",
				"kind fact",
				"created 2026-08-22",
				"key deploy/when",
				"version 1 of 1, 1 of them kept"
			]
		},
		{
			"n": 3,
			"question": "Has it source, verified date, importance and tags?",
			"answer": "no: it has no tags",
			"evidence": [
				"importance 5",
				"source AGENTS.md",
				"verified date 2026-08-22T02:00:00.000Z"
			]
		},
		{
			"n": 4,
			"question": "Would this query recall it?",
			"answer": "yes: it comes back at place 2 of 3",
			"evidence": [
				"matched keyword, metadata",
				"over the match floor",
				"/context: included"
			]
		},
		{
			"n": 5,
			"question": "What outranks it, and by which terms of the score?",
			"answer": "yes: 1 row stands before it",
			"evidence": [
				"its score 21.5971 = authority +24.0000, stale -3.0000, keyword +0.4034, metadata +0.1650, importance +0.0202, source +0.0085",
				"place 1: 01900000-0000-7000-8000-000000000001 (long, key deploy/how), score 24.6875: stale +3.0000, keyword +0.0751, importance +0.0141, source +0.0011"
			]
		},
		{
			"n": 6,
			"question": "Is it stale, and did groom mark it?",
			"answer": "yes: by its age, and groom has not marked it yet",
			"evidence": [
				"verified 2026-08-22T02:00:00.000Z",
				"kind fact stays fresh for 90 days",
				"source status unchecked",
				"no whole groom has ended yet"
			]
		},
		{
			"n": 7,
			"question": "Which guard should have refused it?",
			"answer": "no: each guard would let it pass today; forget it, write a new version, or note the harm as a pitfall",
			"evidence": [
				"missing_source lets it pass",
				"source_grammar lets it pass",
				"memory_key lets it pass",
				"kind lets it pass",
				"namespace lets it pass",
				"reasons lets it pass",
				"labels lets it pass",
				"access lets it pass",
				"fence_echo lets it pass",
				"budgets lets it pass",
				"secret_detected, personal_data and not_durable_fact were not asked: nothing looks at texts"
			]
		}
	]
}`

// What question 4 says of a context is what a context makes of the row.
func TestWhyOfAContext(t *testing.T) {
	h := newHouse(t)
	big := strings.Repeat("kumquat and more of it ", 100)
	ids := h.put(
		long("rule", "never mind the weather", ofKind(memd.Rule)),
		long("big/1", big+"one", importance(9)), long("big/2", big+"two", importance(8)), long("big/3", big+"three", importance(7)),
		long("big/4", big+"four", importance(6)), long("big/5", big+"five"), short("damson"), short("plum", importance(8)),
	)
	out, err := h.engine.Context(context.Background(), root, memd.ContextRequest{Query: "kumquat"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ids[6]: "not considered"}
	for _, ref := range out.Included {
		want[ref.ID] = "included"
	}
	reasons := map[memd.LeftOutReason]bool{}
	for _, ref := range out.LeftOut {
		reasons[ref.Reason] = true
		want[ref.ID] = "left out (" + string(ref.Reason) + ")"
		if ref.Reason == memd.LeftShortened {
			want[ref.ID] = "included, shortened"
		}
	}
	if !reasons[memd.LeftBudget] && !reasons[memd.LeftShortened] || len(want) != len(ids) {
		t.Fatalf("the context shows nothing: %v, %d rows", reasons, len(want))
	}
	for _, id := range ids {
		q := h.why(root, memd.WhyRequest{Query: "kumquat", ID: id}).Questions[3]
		if evidence := strings.Join(q.Evidence, "\n"); !strings.Contains(evidence, "/context: "+want[id]) {
			t.Errorf("%s: %q, want %q", id, evidence, want[id])
		}
	}
}

// The last question names each guard that would refuse the row today, by the
// configuration, and what those that take out or warn would do.
func TestWhyNamesGuards(t *testing.T) {
	const key, card = "ghp_" + "q7Xw2Lm9RtZ4kVb8" + "Ns3Hd6Yc1Gf5Pj0QaEuT", "4539 1488" + " 0343 6467"
	diff := "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n-kumquat\n+damson\n"
	blocking := configs.DefaultGuard()
	blocking.Derivable, blocking.Cards = configs.GuardBlock, configs.GuardBlock
	guards := func(h *house, g configs.Guard) func(*memd.Memory) []tiers.Guard { return h.tiers.WithGuard(g).Guards }
	good := long("good", "kumquat")
	for _, c := range []struct {
		guard string // that refuses, "" for none
		row   memd.Memory
		rules configs.Guard
		says  string // in the evidence
	}{
		{"", good, blocking, "not_durable_fact lets it pass"},
		{"missing_source", long("none", "kumquat", from(" ", memd.SourceNone)), blocking, ""},
		{"source_grammar", long("prose", "kumquat", from("v1.2.3", memd.SourceUnchecked)), blocking, ""},
		{"reasons", long("bare", "kumquat", ofKind(memd.Feedback)), blocking, ""},
		{"kind", long("odd", "kumquat", ofKind(memd.Task)), blocking, ""},
		{"budgets", long("vast", strings.Repeat("k", 12001)), blocking, ""},
		{"labels", long("labels", "kumquat", tagged("two\nlines")), blocking, ""},
		{"fence_echo", long("echo", fence.Open("0123456789abcdef")+"\nkumquat\n"+fence.Close("0123456789abcdef")), blocking, ""},
		{"secret_detected", long("secret", "the key is "+key), blocking, "refuses it: github-pat in summary"},
		{"", short("the key is " + key), blocking, "secret_detected would take out github-pat in summary"},
		{"personal_data", long("card", "the card "+card), blocking, "refuses it: card in summary"},
		{"", long("card2", "the card "+card), configs.DefaultGuard(), "personal_data would take out card in summary"},
		{"not_durable_fact", long("diff", diff), blocking, "refuses it: summary holds a diff"},
		{"", long("diff2", diff), configs.DefaultGuard(), "not_durable_fact would warn: summary holds a diff"},
	} {
		h := newHouse(t)
		h.engine.WithGuards(guards(h, c.rules))
		q := h.why(root, memd.WhyRequest{ID: h.put(c.row)[0]}).Questions[6]
		want := "yes: " + c.guard + " would refuse it today"
		if c.guard == "" {
			want = "no: each guard would let it pass today; forget it, write a new version, or note the harm as a pitfall"
		}
		evidence := strings.Join(q.Evidence, "\n")
		if q.Answer != want || !strings.Contains(evidence, c.says) || strings.Contains(evidence, key) || strings.Contains(evidence, card) {
			t.Errorf("%s %s: %+v", c.guard, c.row.MemoryKey, q)
		}
	}
}

func TestWhyRefuses(t *testing.T) {
	h := newHouse(t)
	for name, c := range map[string]struct {
		req   memd.WhyRequest
		code  memd.Code
		field string
	}{
		"neither":         {memd.WhyRequest{Query: "x"}, memd.CodeInvalidRequest, "memory_key"},
		"both":            {memd.WhyRequest{MemoryKey: "k", ID: "i"}, memd.CodeInvalidRequest, "id"},
		"no key":          {memd.WhyRequest{MemoryKey: "a b"}, memd.CodeInvalidRequest, "memory_key"},
		"a long id":       {memd.WhyRequest{ID: strings.Repeat("i", 201)}, memd.CodeInvalidRequest, "id"},
		"a bad namespace": {memd.WhyRequest{MemoryKey: "k", Namespaces: []string{"A"}}, memd.CodeInvalidRequest, "namespace"},
		"a long query":    {memd.WhyRequest{MemoryKey: "k", Query: strings.Repeat("x", memd.MaxQueryChars+1)}, memd.CodeTooLarge, "query"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.engine.Why(context.Background(), root, c.req)
			checkRefusal(t, err, c.code, c.field)
		})
	}
	_, err := h.engine.Why(context.Background(), memd.Caller{Name: "nobody"}, memd.WhyRequest{MemoryKey: "k"})
	checkRefusal(t, err, memd.CodeForbidden, "")
}

// A note under access tags shows as any row does: where the request names them.
func TestNotesUnderAccessTags(t *testing.T) {
	h := newHouse(t)
	note := h.did(h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "kumquat on the desk"}))
	h.patch(note.ID, memd.Patch{Access: memd.Some([]string{"hr"})})
	q := memd.Query{Query: "kumquat", SessionID: "s1"}
	wantIDs(t, h.recall(q).Results)
	out, err := h.engine.Context(context.Background(), root, memd.ContextRequest{SessionID: "s1"})
	if err != nil || len(out.Included) != 0 {
		t.Errorf("context: %+v, %v", out.Included, err)
	}
	if a := h.why(root, memd.WhyRequest{Query: "kumquat", ID: note.ID, SessionID: "s1"}); a.Reason != memd.WhyAccess {
		t.Errorf("why: %s", a.Reason)
	}
	q.Access = []string{"hr"}
	wantIDs(t, h.recall(q).Results, note.ID)
}
