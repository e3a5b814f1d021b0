package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// body is a word of every text of whyHouse, which no why may tell.
const body = "zanzibar"

func (h *house) why(c memd.Caller, req memd.WhyRequest) memd.WhyAnswer {
	h.t.Helper()
	a, err := h.engine.Why(context.Background(), c, req)
	if err != nil {
		h.t.Fatalf("why of %s%s: %v", req.ID, req.MemoryKey, err)
	}
	return a
}

// keep writes a long row as root.
func (h *house) keep(key, summary string, edits ...func(*memd.RememberLongTerm)) memd.Written {
	h.t.Helper()
	req := memd.RememberLongTerm{MemoryKey: key, Summary: summary + " " + body, Source: "AGENTS.md#commands"}
	for _, edit := range edits {
		edit(&req)
	}
	return h.did(h.tiers.RememberLongTerm(context.Background(), root, req))
}

// say writes a short row as root.
func (h *house) say(summary string, edits ...func(*memd.Remember)) memd.Written {
	h.t.Helper()
	req := memd.Remember{Summary: summary + " " + body, RawContent: "raw " + body}
	for _, edit := range edits {
		edit(&req)
	}
	return h.did(h.tiers.Remember(context.Background(), root, req))
}

func (h *house) did(w memd.Written, err error) memd.Written {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (h *house) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) patch(id string, p memd.Patch) {
	h.t.Helper()
	h.did(h.tiers.Patch(context.Background(), root, id, p))
}

func (h *house) rollOver() string {
	h.t.Helper()
	r, err := h.store.Rollover(context.Background())
	h.ok(err)
	return r.File
}

// whyHouse is a store with a memory for each reason, over several databases. It
// returns their ids by name.
func whyHouse(t testing.TB) (*house, map[string]string) {
	h := newHouse(t)
	ctx := context.Background()
	id := map[string]string{}
	inUser := func(r *memd.RememberLongTerm) { r.Namespace = "user" }
	id["deploy"] = h.keep("deploy/how", "Deploy with kumquat", func(r *memd.RememberLongTerm) { r.Why, r.Tags = body, []string{"ops"} }).ID
	id["old"] = h.keep("port", "The port was damson").ID
	id["elsewhere"] = h.keep("mine", "My medlar", inUser).ID
	for i := range 12 {
		h.say(fmt.Sprint("quince number ", i), func(r *memd.Remember) { r.Importance = ptr(9) })
		h.keep(fmt.Sprint("loquat/", i), fmt.Sprint("loquat number ", i))
		h.say(fmt.Sprint("rowan berries of sorbus aucuparia number ", i))
	}
	id["outranked"] = h.say("quince at last", func(r *memd.Remember) { r.Importance = ptr(1) }).ID
	h.rollOver()
	id["new"] = h.keep("port", "The port is medlar now").ID
	id["restricted"] = h.keep("pay", "The pay of pomelo", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }).ID
	id["cold"] = h.say("a cold tamarind").ID
	h.did(h.tiers.Archive(ctx, root, id["cold"]))
	id["trap"] = h.keep("trap", "the durian trap", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall }).ID
	h.patch(id["trap"], memd.Patch{ResolvedAt: memd.Some(h.store.Now())})
	id["note"] = h.did(h.tiers.Note(ctx, root, "s1", memd.Note{Summary: "a note of lychee " + body})).ID
	id["soon"] = h.keep("soon", "soon over: jujube").ID
	h.patch(id["soon"], memd.Patch{ExpiresAt: memd.Some(memd.At(h.clock.Now().Add(time.Minute)))})
	id["stale"] = h.keep("loquat/stale", "loquat that went stale", func(r *memd.RememberLongTerm) { r.Importance = ptr(10) }).ID
	id["floor"] = h.keep("rowan", "berries").ID
	id["twin"] = h.say("twice the same feijoa").ID
	id["twin in user"] = h.say("twice the same feijoa", func(r *memd.Remember) { r.Namespace = "user" }).ID
	h.keep("both", "both of carambola")
	id["both in user"] = h.keep("both", "both of carambola, in user", inUser).ID
	second := h.rollOver()
	id["forgotten"] = h.say("a forgotten cherimoya").ID
	h.ok(h.tiers.Forget(ctx, root, id["forgotten"]))
	id["lost key"] = h.keep("lost", "a forgotten sapote").ID
	h.ok(h.tiers.ForgetKey(ctx, root, "", "lost"))
	h.keep("by/hand", "deleted by hand")
	id["gone"] = h.say("it will be gone").ID
	h.shell(`DELETE FROM long WHERE memory_key = 'by/hand'; DELETE FROM short WHERE id = '` + id["gone"] + `'`)
	id["pruned"] = h.say("it will be pruned").ID
	h.clock.Advance(time.Minute)
	h.ok(h.store.Update(ctx, func(tx *store.Tx) error {
		_, err := h.tiers.PruneRow(tx, store.Candidate{ID: id["pruned"], Tier: memd.Short, Namespace: memd.DefaultNamespace}, h.store.Now())
		return err
	}))
	h.sql(second, `UPDATE long SET stale = 1, stale_reason = 'source_changed' WHERE memory_key = 'loquat/stale'`)
	h.clock.Advance(time.Hour)
	return h, id
}

// sql runs SQL in the sqlite3 shell on a database below the folder.
func (h *house) sql(file, query string) string {
	h.t.Helper()
	out, err := exec.Command("sqlite3", "-bail", "-cmd", ".timeout 5000", filepath.Join(h.dir, file), query).CombinedOutput()
	if err != nil {
		h.t.Fatalf("sqlite3: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// Every reason, of rows in any database.
func TestWhyReasons(t *testing.T) {
	h, id := whyHouse(t)
	for _, test := range []struct {
		name   string
		req    memd.WhyRequest
		reason memd.WhyReason
		rank   int
		says   string // in the detail
	}{
		{"a head in a historical database", memd.WhyRequest{Query: "kumquat", MemoryKey: "deploy/how"}, memd.WhyReturned, 1, "place 1 of 1"},
		{"by its id", memd.WhyRequest{Query: "kumquat", ID: id["deploy"]}, memd.WhyReturned, 1, ""},
		{"a key's new version", memd.WhyRequest{Query: "medlar", MemoryKey: "port"}, memd.WhyReturned, 1, ""},
		{"its old version", memd.WhyRequest{Query: "damson", ID: id["old"]}, memd.WhySuperseded, 0, "by version 2 (" + id["new"] + ")"},
		{"another namespace, by key", memd.WhyRequest{Query: "medlar", MemoryKey: "mine"}, memd.WhyNamespace, 0, "namespace user"},
		{"another namespace, by id", memd.WhyRequest{Query: "medlar", ID: id["elsewhere"]}, memd.WhyNamespace, 0, "namespace user"},
		{"that namespace", memd.WhyRequest{Query: "medlar", MemoryKey: "mine", Namespaces: []string{"user"}}, memd.WhyReturned, 1, ""},
		{"tags that are not named", memd.WhyRequest{Query: "pomelo", MemoryKey: "pay"}, memd.WhyAccess, 0, "hr"},
		{"tags that are", memd.WhyRequest{Query: "pomelo", MemoryKey: "pay", Access: []string{"hr"}}, memd.WhyReturned, 1, ""},
		{"an archived row", memd.WhyRequest{Query: "tamarind", ID: id["cold"]}, memd.WhyTierClosed, 0, "include_archive"},
		{"a resolved pitfall", memd.WhyRequest{Query: "durian", MemoryKey: "trap"}, memd.WhyTierClosed, 0, "include_archive"},
		{"a note without its session", memd.WhyRequest{Query: "lychee", ID: id["note"]}, memd.WhyTierClosed, 0, "session"},
		{"a note of another session", memd.WhyRequest{Query: "lychee", ID: id["note"], SessionID: "s2"}, memd.WhyTierClosed, 0, "another session"},
		{"a note of the session", memd.WhyRequest{Query: "lychee", ID: id["note"], SessionID: "s1"}, memd.WhyReturned, 1, ""},
		{"expired", memd.WhyRequest{Query: "jujube", MemoryKey: "soon"}, memd.WhyExpired, 0, "2026-11-30"},
		{"stale", memd.WhyRequest{Query: "loquat", MemoryKey: "loquat/stale"}, memd.WhyStale, 13, "fresh"},
		{"below the floor", memd.WhyRequest{Query: "berries of sorbus aucuparia", MemoryKey: "rowan"}, memd.WhyBelowFloor, 13, "match floor"},
		{"outranked", memd.WhyRequest{Query: "quince", ID: id["outranked"]}, memd.WhyOutranked, 13, "place 13 of 13"},
		{"overridden", memd.WhyRequest{Query: "carambola", ID: id["both in user"], Namespaces: []string{"default", "user"}}, memd.WhyOverridden, 0, "namespace default"},
		{"the other way round", memd.WhyRequest{Query: "carambola", ID: id["both in user"], Namespaces: []string{"user", "default"}}, memd.WhyReturned, 1, ""},
		{"a duplicate", memd.WhyRequest{Query: "feijoa", ID: id["twin in user"], Namespaces: []string{"default", "user"}}, memd.WhyDuplicate, 0, id["twin"]},
		{"no match", memd.WhyRequest{Query: "persimmon", MemoryKey: "deploy/how"}, memd.WhyNoMatch, 0, "1 terms"},
		{"no terms", memd.WhyRequest{Query: "?!", MemoryKey: "deploy/how"}, memd.WhyNoMatch, 0, "no terms"},
		{"no query", memd.WhyRequest{MemoryKey: "deploy/how"}, memd.WhyNotAsked, 0, "not asked"},
		{"no query, and barred", memd.WhyRequest{ID: id["old"]}, memd.WhySuperseded, 0, ""},
		{"never written, by key", memd.WhyRequest{Query: "kumquat", MemoryKey: "no/such"}, memd.WhyNeverWritten, 0, ""},
		{"never written, by id", memd.WhyRequest{Query: "kumquat", ID: "no-such"}, memd.WhyNeverWritten, 0, ""},
		{"forgotten, by id", memd.WhyRequest{Query: "cherimoya", ID: id["forgotten"]}, memd.WhyForgotten, 0, "on 2026-11-30"},
		{"forgotten, by key", memd.WhyRequest{Query: "sapote", MemoryKey: "lost"}, memd.WhyForgotten, 0, id["lost key"]},
		{"deleted by hand", memd.WhyRequest{Query: "hand", MemoryKey: "by/hand"}, memd.WhyDeletedByHand, 0, "version 1"},
		{"gone", memd.WhyRequest{Query: "gone", ID: id["gone"]}, memd.WhyGone, 0, "last written on 2026-11-30"},
		{"pruned", memd.WhyRequest{Query: "pruned", ID: id["pruned"]}, memd.WhyGone, 0, "pruned by groom on 2026-11-30"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := h.why(root, test.req)
			if a.Reason != test.reason || a.Rank != test.rank || a.Returned != (test.reason == memd.WhyReturned) || !strings.Contains(a.Detail, test.says) {
				t.Errorf("%s at rank %d, returned %v: %s; want %s at %d, %q", a.Reason, a.Rank, a.Returned, a.Detail, test.reason, test.rank, test.says)
			}
			checkChain(t, a)
			q := memd.Query{Query: test.req.Query, Namespaces: test.req.Namespaces, Access: test.req.Access, SessionID: test.req.SessionID}
			returned := false
			for i, hit := range h.recall(q).Results {
				if hit.ID == a.ID {
					returned = i+1 == a.Rank
				}
			}
			if returned != a.Returned {
				t.Errorf("a recall returns it: %v; why says %v, at rank %d", returned, a.Returned, a.Rank)
			}
			if again := h.why(root, test.req); asJSON(t, again) != asJSON(t, a) {
				t.Error("asked again, the answer is another")
			}
		})
	}
	h.ok(h.store.FlushAccess(context.Background()))
	if n := h.sql(store.ActiveName, `SELECT count(*) FROM access_log`); n != "0" {
		t.Errorf("a why counted %s accesses", n)
	}
}

// checkChain wants seven questions in their order, each answered by yes, no or
// unknown, and no text of a memory.
func checkChain(t *testing.T, a memd.WhyAnswer) {
	t.Helper()
	if len(a.Questions) != 7 {
		t.Fatalf("%d questions", len(a.Questions))
	}
	for i, q := range a.Questions {
		word, rest, cut := strings.Cut(q.Answer, ": ")
		if q.N != i+1 || q.Question == "" || q.Evidence == nil || !cut || rest == "" || word != "yes" && word != "no" && word != "unknown" {
			t.Errorf("question %d: %+v", i+1, q)
		}
	}
	if text, _ := json.Marshal(a); strings.Contains(string(text), body) {
		t.Errorf("the answer tells a body: %s", text)
	}
}

// A why's ranks are the places of a recall.
func TestWhyAgreesWithRecall(t *testing.T) {
	h, _ := whyHouse(t)
	for _, query := range []string{"loquat", "quince", "berries of sorbus aucuparia", "number", body, "port medlar. Which quince?"} {
		results := h.ask(query).Results
		if len(results) < 2 {
			t.Fatalf("%q finds %d", query, len(results))
		}
		for i, hit := range results {
			if a := h.why(root, memd.WhyRequest{Query: query, ID: hit.ID}); a.Rank != i+1 || a.Returned != (i < 10) {
				t.Errorf("%q: place %d has rank %d, returned %v (%s)", query, i+1, a.Rank, a.Returned, a.Reason)
			}
		}
	}
}

// Whoever may not know of a memory is answered as if it had never been written,
// whatever became of it.
func TestWhyTellsNothingOfTheHidden(t *testing.T) {
	h, id := whyHouse(t)
	ctx := context.Background()
	ann := memd.Caller{Name: "ann", Role: memd.RoleWrite, Namespaces: []string{"default"}, Access: []string{"it"}}
	hr := func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} }
	names := map[string]memd.WhyRequest{
		"a restricted key":           {MemoryKey: "pay"},
		"a restricted row":           {ID: id["restricted"]},
		"a key of another namespace": {MemoryKey: "mine"},
		"a row of another namespace": {ID: id["elsewhere"]},
		"a note of another caller":   {ID: id["note"], SessionID: "s1"},
		"a row that is gone":         {ID: id["gone"]},
		"a row that was pruned":      {ID: id["pruned"]},
	}
	hide := func(name, key string, then func(w memd.Written)) {
		w := h.keep(key, "hidden pomelo of "+key, hr)
		then(w)
		names[name+", by key"], names[name+", by id"] = memd.WhyRequest{MemoryKey: key}, memd.WhyRequest{ID: w.ID}
	}
	hide("forgotten", "f", func(memd.Written) { h.ok(h.tiers.ForgetKey(ctx, root, "", "f")) })
	hide("deleted by hand", "d", func(memd.Written) { h.shell(`DELETE FROM long WHERE memory_key = 'd'`) })
	hide("superseded", "s", func(memd.Written) { h.keep("s", "hidden again", hr) })
	hide("archived", "a", func(w memd.Written) {
		h.keep("a", "hidden trap", hr, func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
		h.patch(h.why(root, memd.WhyRequest{MemoryKey: "a"}).ID, memd.Patch{ResolvedAt: memd.Some(h.store.Now())})
	})
	hide("expired", "e", func(w memd.Written) {
		h.patch(w.ID, memd.Patch{ExpiresAt: memd.Some(memd.At(h.clock.Now().Add(time.Minute)))})
		h.clock.Advance(2 * time.Minute)
	})
	check := func(t *testing.T) {
		for name, req := range names {
			req.Query, req.Access = "pomelo medlar", []string{"hr", "it"}
			never := req
			if never.ID != "" {
				never.ID = "01999999-0000-7000-8000-000000000000"
			} else {
				never.MemoryKey = "never"
			}
			hidden, absent := h.why(ann, req), h.why(ann, never)
			hidden.ID, hidden.MemoryKey = absent.ID, absent.MemoryKey
			if got, want := asJSON(t, hidden), asJSON(t, absent); got != want {
				t.Errorf("%s\n got %s\nwant %s", name, got, want)
			}
			if shown := h.why(root, req); shown.Reason == memd.WhyNeverWritten {
				t.Errorf("%s: the administrator is told nothing", name)
			}
		}
	}
	t.Run("readable", check)
	// What is known of what was open is told to whoever sees its namespace.
	for _, req := range []memd.WhyRequest{{MemoryKey: "lost"}, {ID: id["forgotten"]}} {
		if a := h.why(ann, req); a.Reason != memd.WhyForgotten {
			t.Errorf("%+v: %s", req, a.Reason)
		}
	}
	if a := h.why(ann, memd.WhyRequest{Query: "kumquat", MemoryKey: "deploy/how"}); a.Reason != memd.WhyReturned {
		t.Errorf("an open row: %s", a.Reason)
	}
	for _, req := range []memd.WhyRequest{{MemoryKey: "mine", Namespaces: []string{"user"}}, {MemoryKey: "no", Namespaces: []string{"user"}}} {
		_, err := h.engine.Why(ctx, ann, req)
		checkRefusal(t, err, memd.CodeForbidden, "namespace")
	}
}

// Nothing is said of what may stand in a database that cannot be read, but its
// name; to whoever asks and for whatever name.
func TestWhyOfUnreadable(t *testing.T) {
	dir := t.TempDir()
	h := openUnchecked(t, dir)
	inside := h.keep("inside", "inside it")
	hidden := h.keep("hidden", "hidden in it", func(r *memd.RememberLongTerm) { r.Access = []string{"hr"} })
	file := h.rollOver()
	h.keep("outside", "outside of it")
	h.ok(h.store.Close())
	path := filepath.Join(dir, file)
	h.ok(os.Rename(path, path+".away"))
	h = openUnchecked(t, dir)
	ann := memd.Caller{Name: "ann", Role: memd.RoleRead}
	for _, c := range []memd.Caller{root, ann} {
		var answers []string
		for _, req := range []memd.WhyRequest{
			{MemoryKey: "inside"}, {ID: inside.ID}, {MemoryKey: "hidden"}, {ID: hidden.ID}, {MemoryKey: "never"}, {ID: "never"},
		} {
			req.Query = "inside"
			a := h.why(c, req)
			checkChain(t, a)
			if a.Reason != memd.WhyUnavailable || !strings.Contains(a.Detail, file) || !strings.HasPrefix(a.Questions[3].Answer, "unknown: ") {
				t.Errorf("%s asks for %s%s: %s, %s", c.Name, req.ID, req.MemoryKey, a.Reason, a.Detail)
			}
			a.ID, a.MemoryKey = "", ""
			answers = append(answers, asJSON(t, a))
		}
		for _, a := range answers {
			if a != answers[0] {
				t.Errorf("%s\n got %s\nwant %s", c.Name, a, answers[0])
			}
		}
	}
	if a := h.why(root, memd.WhyRequest{Query: "outside", MemoryKey: "outside"}); a.Reason != memd.WhyReturned || !strings.Contains(strings.Join(a.Questions[3].Evidence, "\n"), file) {
		t.Errorf("what can be read: %s, %+v", a.Reason, a.Questions[3])
	}
}

// openUnchecked is a house that may be damaged at its end.
func openUnchecked(t *testing.T, dir string) *house {
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &house{t: t, dir: dir, store: s, tiers: tiers.New(s), engine: recall.New(s, nil)}
}
