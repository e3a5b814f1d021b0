package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/embedding/embeddingtest"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/store/terms"
	"memd/store/vectorfill"
	"memd/tiers"
)

// Of the stores that are compared: the same rows in one database, in 5, and in
// as many as there are at most, with some to retire.
const (
	segments    = 21
	segmentRows = 200
	retired     = 5
)

// mirror is a house whose rows also stand in others, over more databases.
type mirror struct {
	name   string
	every  int // segments from rollover to rollover
	house  *house
	budget func(*configs.Budgets)
}

// rewrite runs fn as one write in every mirror.
func rewrite(t *testing.T, mirrors []*mirror, fn func(*store.Tx) error) {
	t.Helper()
	for _, m := range mirrors {
		if err := m.house.store.Update(context.Background(), fn); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
	}
}

// reopen starts every mirror anew.
func reopen(t *testing.T, mirrors []*mirror) {
	t.Helper()
	for _, m := range mirrors {
		h := m.house
		if err := h.store.Close(); err != nil {
			t.Fatal(err)
		}
		h.store = memtest.Store(t, h.dir, h.clock, m.budget)
		h.tiers, h.engine = tiers.New(h.store), recall.New(h.store, nil)
	}
}

// Which database a row sits in changes neither its score nor its place
// (contract section 6.6): not where it was written, not after it was changed,
// archived, revived or moved, nor after a compaction or a retirement.
func TestRolloverInvariance(t *testing.T) { invariance(t, nil, 1) }

// Vectors move with their rows, and change nothing of that.
func TestRolloverInvarianceOfVectors(t *testing.T) {
	invariance(t, embeddingtest.Hashed{Name: "h", Size: 64}, 6)
}

// invariance asks a share of the questions, with an embedder's vectors or none.
func invariance(t *testing.T, e embedding.Embedder, share int) {
	clock := memtest.NewClock()
	mirrors := []*mirror{{name: "one database", every: segments}, {name: "5 databases", every: 5}, {name: "21 databases", every: 1}}
	for _, m := range mirrors {
		m.budget = func(b *configs.Budgets) { b.ShortRows, b.LongRows = 1<<20, 1<<20 }
		m.house = &house{t: t, dir: t.TempDir(), clock: clock}
		m.house.store = memtest.Store(t, m.house.dir, clock, m.budget)
	}
	saga := newSaga()
	for n := range segments {
		clock.Advance(time.Minute)
		rewrite(t, mirrors, func(tx *store.Tx) error { return saga.write(tx, n) })
		for _, m := range mirrors {
			if (n+1)%m.every == 0 && n+1 < segments {
				if _, err := m.house.store.Rollover(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	reopen(t, mirrors)
	embed(t, mirrors, e)
	compare(t, "written", mirrors, rng, 30/share)

	rewrite(t, mirrors, saga.change)
	embed(t, mirrors, e)
	compare(t, "changed", mirrors, rng, 120/share)

	for _, m := range mirrors {
		if _, err := m.house.store.Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, "compacted", mirrors, rng, 12/share)

	rewrite(t, mirrors, saga.leaveOwed)
	last := mirrors[len(mirrors)-1]
	last.budget = func(b *configs.Budgets) {
		b.ShortRows, b.LongRows, b.HistoryFiles = 1<<20, 1<<20, segments-1-retired
	}
	reopen(t, mirrors)
	for _, m := range mirrors {
		m.house.engine.WithEmbedder(e, time.Minute)
	}
	if _, err := last.house.store.MakeRoom(context.Background()); err != nil {
		t.Fatal(err)
	}
	stats, err := last.house.store.Stats(context.Background())
	if err != nil || len(stats.Databases) != segments-retired {
		t.Fatalf("%d databases are left after the retirement, error %v", len(stats.Databases), err)
	}
	compare(t, "retired", mirrors, rng, 40/share)
}

// embed gives every row of the mirrors that has no vector one of the embedder's.
func embed(t *testing.T, mirrors []*mirror, e embedding.Embedder) {
	t.Helper()
	if e == nil {
		return
	}
	for _, m := range mirrors {
		if err := vectorfill.Write(context.Background(), m.house.dir, e); err != nil {
			t.Fatal(err)
		}
		m.house.engine.WithEmbedder(e, time.Minute)
	}
	rewrite(t, mirrors, func(*store.Tx) error { return nil }) // so that they are seen
}

// compare asks the mirrors the same questions and wants the same answers.
func compare(t *testing.T, when string, mirrors []*mirror, rng *rand.Rand, questions int) {
	t.Helper()
	deep, found := 0, 0 // questions beyond the depth of a recall, and results
	for n := range questions {
		q := makeQuestion(rng)
		var want, first string
		for i, m := range mirrors {
			got, hits, matches := answers(t, m.house, q, n)
			if i == 0 {
				want, first = got, m.name
				found += hits
				if matches > 1000 {
					deep++
				}
			} else if got != want {
				t.Fatalf("%s, question %d, %+v:\n%s answers otherwise than %s\n%s", when, n, q, m.name, first, difference(got, want))
			}
		}
	}
	if found < questions || deep < questions/10 {
		t.Errorf("%s: %d results, %d questions with more matches than are scored: the test shows little", when, found, deep)
	}
}

// difference is where two texts part.
func difference(got, want string) string {
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	from := max(0, n-200)
	return fmt.Sprintf(" got ...%.400s\nwant ...%.400s", got[from:], want[from:])
}

// answers is all that one store answers to a question: a page or two of a recall
// with its scores, and by turns a context or a list. Beside it how much that
// was, and how many rows hold the question's first word.
func answers(t *testing.T, h *house, q memd.Query, n int) (text string, hits, matches int) {
	t.Helper()
	var all []any
	for range 1 + n%2 {
		answer := h.recall(q)
		q.Cursor = answer.NextCursor
		hits += len(answer.Results)
		all = append(all, answer.NextCursor != "")
		answer.NextCursor, answer.TookMS = "", 0 // sealed by each store's own key
		all = append(all, answer)
	}
	switch n % 4 {
	case 0:
		all = append(all, h.context(memd.ContextRequest{Query: q.Query, Namespaces: q.Namespaces, Access: q.Access, SessionID: q.SessionID}))
	case 1:
		req := memd.List{Limit: 50, Access: q.Access, Namespace: append(q.Namespaces, memd.DefaultNamespace)[0]}
		if len(q.Tiers) > 0 {
			req.Tier = q.Tiers[0]
		}
		if len(q.Tags) > 0 {
			req.Tag = q.Tags[0]
		}
		page, err := h.tiers.List(context.Background(), root, req)
		if err != nil {
			t.Fatal(err)
		}
		page.NextCursor = ""
		all = append(all, page)
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	err = h.store.View(context.Background(), func(v *store.View) error {
		counts, err := v.DocFreqs([]string{terms.Query(q.Query, 1)[0].Text})
		matches = counts[0]
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), hits, matches
}

// Words of the rows, the commonest first.
var (
	latin  = strings.Fields("deploy cluster watchdog kumquat rollback schema heron gateway ledger quorum E_SIG_47 parse_frame pkg/x.go v1.2.3 node.js")
	han    = strings.Fields("修复 设备 重启 数据库 迁移 看门狗 误杀 缓存 超时 日志")
	places = strings.Fields("default project/x agent/bob")
	labels = strings.Fields("ci ops 数据 draft")
)

// some picks n words, commoner ones more often.
func some(rng *rand.Rand, from []string, n int) string {
	var words []string
	for range n {
		words = append(words, from[min(rng.IntN(len(from)), rng.IntN(len(from)))])
	}
	return strings.Join(words, " ")
}

// makeQuestion makes one of words rare and common, under filters.
func makeQuestion(rng *rand.Rand) memd.Query {
	maybe := func(n int) bool { return rng.IntN(n) == 0 }
	q := memd.Query{Query: "deploy", Limit: ptr(1 + rng.IntN(100)), Explain: maybe(4), IncludeArchive: maybe(2), IncludeRaw: maybe(9)}
	switch rng.IntN(8) {
	case 0:
	case 1:
		q.Query += " " + some(rng, han, 1)
	case 2, 3:
		q.Query = some(rng, latin[1:], 1+rng.IntN(5))
	case 4, 5:
		q.Query = some(rng, han, 1+rng.IntN(3))
	default:
		q.Query = "why does the " + some(rng, latin[1:], 2) + " " + some(rng, han, 1) + fmt.Sprint(" ", rng.IntN(segments*segmentRows))
	}
	if maybe(2) {
		q.Namespaces = append([]string{}, places...)
		rng.Shuffle(len(places), func(i, j int) { q.Namespaces[i], q.Namespaces[j] = q.Namespaces[j], q.Namespaces[i] })
		q.Namespaces = q.Namespaces[:1+rng.IntN(len(places))]
	}
	if maybe(3) {
		q.Access = []string{"secret"}
	}
	if maybe(6) {
		q.Tags = labels[:1]
	}
	if maybe(6) {
		q.Kinds = []memd.Kind{memd.Fact, memd.Rule, memd.Event}[:1+rng.IntN(3)]
	}
	if maybe(6) {
		q.Tiers = []memd.Tier{memd.Archive, memd.Short, memd.Long}[:1+rng.IntN(2)]
	}
	if maybe(3) {
		q.SessionID = "s"
	}
	return q
}
