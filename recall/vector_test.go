package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/embedding"
	"memd/embedding/embeddingtest"
	"memd/internal/memtest"
	"memd/recall"
	"memd/store"
	"memd/store/vectorfill"
	"memd/tiers"
)

// topics is an embedder that knows what texts are about: all that name a word
// of one topic have one direction, and others none.
type topics [][]string

func (topics) Model() string { return "topics" }
func (topics) Dim() int      { return 16 }

func (k topics) Embed(_ context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, text := range texts {
		for n, words := range k {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
				v := make([]float32, 16)
				v[n] = 1
				all[i] = v
			}
		}
	}
	return all, nil
}

var trades = topics{{"automobile", "car"}, {"oven", "bread"}}

// embedded gives a house an embedder and its rows vectors.
func (h *house) embedded(e embedding.Embedder) {
	h.t.Helper()
	if err := vectorfill.Write(context.Background(), h.dir, e); err != nil {
		h.t.Fatal(err)
	}
	h.engine = recall.New(h.store, nil).WithEmbedder(e, time.Minute)
}

// A row that shares no word with the query is a match where its vector is near:
// a long one is over the floor, and its score is the sum of what is told.
func TestVectorFinds(t *testing.T) {
	h := newHouse(t)
	ids := h.put(long("garage", "fix the car here"), short("the car is red"), short("bread is warm"), short("a word of no topic"))
	h.embedded(trades)
	answer := h.recall(memd.Query{Query: "automobile", Explain: true})
	wantIDs(t, answer.Results, ids[0], ids[1])
	for _, hit := range answer.Results {
		b := *hit.Breakdown
		if !slices.Equal(hit.Matched, []memd.Match{memd.MatchVector}) || b.Vector <= 0 || b.Keyword != 0 || b.Sum() != hit.Score {
			t.Errorf("%s: matched %v, score %v, %+v", hit.ID, hit.Matched, hit.Score, b)
		}
	}
	if got := answer.Results[0].Breakdown.Authority; got != 24 {
		t.Errorf("the long row has authority %v", got)
	}
	if len(answer.Degraded) != 0 {
		t.Errorf("degraded %q", answer.Degraded)
	}
	got := h.context(memd.ContextRequest{Query: "automobile"})
	if len(got.Included) != 1 && len(got.Included) != 2 || got.Included[0].ID != ids[0] || len(got.Degraded) != 0 {
		t.Errorf("context includes %+v, degraded %q", got.Included, got.Degraded)
	}
}

// What is near and filtered is counted by its filter, and only what the caller
// may see under some request.
func TestVectorCountsWhatFiltersRemoved(t *testing.T) {
	h := newHouse(t)
	h.put(short("the car is red"), short("a car elsewhere", in("project/x")), short("a secret car", restricted("secret")),
		short("an automobile and a car", ofKind(memd.Rule)))
	h.embedded(trades)
	answer := h.recall(memd.Query{Query: "automobile", Kinds: []memd.Kind{memd.Pitfall}, Explain: true})
	want := map[string]int{"kind": 2, "namespace": 1, "access": 1}
	if len(answer.Results) != 0 || answer.EmptyReason != memd.EmptyAllFiltered || fmt.Sprint(answer.Filtered) != fmt.Sprint(want) {
		t.Errorf("%d results, reason %q, filtered %v, want %v", len(answer.Results), answer.EmptyReason, answer.Filtered, want)
	}
	stranger := memd.Caller{Name: "s", Role: memd.RoleRead, Namespaces: []string{memd.DefaultNamespace}}
	answer = h.recallAs(stranger, memd.Query{Query: "automobile", Kinds: []memd.Kind{memd.Pitfall}, Explain: true})
	if want := map[string]int{"kind": 2}; fmt.Sprint(answer.Filtered) != fmt.Sprint(want) {
		t.Errorf("a stranger is told %v, want %v", answer.Filtered, want)
	}
	if answer := h.recall(memd.Query{Query: "oven"}); answer.EmptyReason != memd.EmptyNoMatch {
		t.Errorf("nothing near: reason %q", answer.EmptyReason)
	}
}

// spoilt is an embedder that answers with err, or where that is nil with v, once
// gate is closed.
type spoilt struct {
	embedding.Embedder
	gate chan struct{}
	v    [][]float32
	err  error
}

func (s spoilt) Embed(context.Context, []string) ([][]float32, error) {
	if s.gate != nil {
		<-s.gate // whatever the deadline
	}
	return s.v, s.err
}

// An embedder that fails, lies or hangs leaves the other legs as they are.
func TestFailingEmbedderDegrades(t *testing.T) {
	h := newHouse(t)
	h.put(short("automobile club"), long("garage", "the automobile is fixed here"), short("the car is red"))
	plain := asJSON(t, h.ask("automobile").Results)
	plainContext := h.context(memd.ContextRequest{Query: "automobile"})
	if answer := h.ask("automobile"); len(answer.Degraded) != 0 {
		t.Errorf("without an embedder: degraded %q", answer.Degraded)
	}
	h.embedded(trades)
	gate := make(chan struct{})
	defer close(gate)
	for name, e := range map[string]embedding.Embedder{
		"fails":          spoilt{Embedder: trades, err: &embedding.Fault{Err: errors.New("down")}},
		"refuses":        spoilt{Embedder: trades, v: [][]float32{nil}, err: &embedding.Refused{Texts: map[int]error{0: embedding.ErrZero}}},
		"another length": spoilt{Embedder: trades, v: [][]float32{{1}}},
		"zero":           spoilt{Embedder: trades, v: [][]float32{make([]float32, 16)}},
		"no answer":      spoilt{Embedder: trades},
		"hangs":          spoilt{Embedder: trades, gate: gate},
	} {
		h.engine = recall.New(h.store, nil).WithEmbedder(e, time.Millisecond)
		answer := h.ask("automobile")
		if !slices.Equal(answer.Degraded, []string{"vector"}) || asJSON(t, answer.Results) != plain {
			t.Errorf("%s: degraded %q, results %s", name, answer.Degraded, asJSON(t, answer.Results))
		}
		got := h.context(memd.ContextRequest{Query: "automobile"})
		if !slices.Equal(got.Degraded, []string{"vector"}) || got.Text != plainContext.Text {
			t.Errorf("%s: context degraded %q", name, got.Degraded)
		}
	}
}

// Queries that the embedder still has hold up none that come later.
func TestHangingEmbedderPilesUpNothing(t *testing.T) {
	h := newHouse(t)
	h.put(short("automobile club"))
	gate := make(chan struct{})
	defer close(gate)
	h.engine = recall.New(h.store, nil).WithEmbedder(spoilt{Embedder: trades, gate: gate}, time.Millisecond)
	for range 40 {
		if answer := h.ask("automobile"); len(answer.Results) != 1 {
			t.Fatalf("%d results", len(answer.Results))
		}
	}
}

// Where sqlite-vec is missing the leg is out, and says so.
func TestNoVectorSearchDegrades(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Budgets: configs.DefaultBudgets(), Now: memtest.NewClock().Now, NoVectors: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &house{t: t, dir: dir, store: s, tiers: tiers.New(s), engine: recall.New(s, nil)}
	h.put(short("automobile club"), short("the car is red"))
	plain := asJSON(t, h.ask("automobile").Results)
	h.embedded(trades)
	answer := h.ask("automobile")
	if !slices.Equal(answer.Degraded, []string{"vector"}) || asJSON(t, answer.Results) != plain {
		t.Errorf("degraded %q, results %s", answer.Degraded, asJSON(t, answer.Results))
	}
}

// drifting is an embedder whose answers part a little from call to call, and
// which fails in the end.
type drifting struct {
	embedding.Embedder
	calls *atomic.Int64
}

func (d drifting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	n := d.calls.Add(1)
	if n > 3 {
		return nil, &embedding.Fault{Err: errors.New("down")}
	}
	v, err := d.Embedder.Embed(ctx, texts)
	for i := range v {
		rng := rand.New(rand.NewPCG(uint64(n), 0))
		for j := range v[i] {
			v[i][j] += float32(rng.NormFloat64()) / 4
		}
	}
	return v, err
}

// The order is the same every time, after a restart and over pages: the first
// one's vector counts, whatever the embedder says later.
func TestVectorOrderHolds(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	hashed := embeddingtest.Hashed{Name: "h", Size: 64}
	plain := asJSON(t, h.recall(q).Results)
	h.embedded(hashed)
	q.Limit, q.Explain = ptr(100), true
	want := asJSON(t, h.recall(q).Results)
	if want == plain {
		t.Fatal("the vectors change nothing")
	}
	for i := range 200 {
		if asJSON(t, h.recall(q).Results) != want {
			t.Fatalf("answer %d differs", i)
		}
	}
	q.Explain = false
	whole := walk(h, q, nil)
	q.Limit = ptr(7)
	if got := walk(h, q, nil); !slices.Equal(got, whole) {
		t.Error("pages of 7 walk another order than pages of 100")
	}
	first := drifting{hashed, new(atomic.Int64)}
	h.engine = recall.New(h.store, nil).WithEmbedder(first, time.Minute)
	q.Limit = ptr(100)
	one := walk(h, q, nil)
	first.calls.Store(0) // so that it drifts the same way once, and another way if asked again
	q.Limit = ptr(7)
	if got := walk(h, q, nil); !slices.Equal(got, one) {
		t.Error("an embedder that answers otherwise the next time moves the pages")
	}
	if n := first.calls.Load(); n != 1 {
		t.Errorf("the embedder was asked %d times for one walk", n)
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	again := openHouse(t, h.dir, h.clock)
	again.engine.WithEmbedder(hashed, time.Minute)
	q.Limit, q.Explain = ptr(100), true
	if asJSON(t, again.recall(q).Results) != want {
		t.Error("the answer differs after the store was opened again")
	}
}

// A first page without the leg is followed by others without it.
func TestPagesAfterAFailedLeg(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	q.Limit = ptr(7)
	whole := walk(h, q, nil)
	hashed := embeddingtest.Hashed{Name: "h", Size: 64}
	h.embedded(hashed)
	h.engine = recall.New(h.store, nil).WithEmbedder(spoilt{Embedder: hashed, err: errors.New("down")}, time.Minute)
	got := walk(h, q, func() { h.engine = recall.New(h.store, nil).WithEmbedder(hashed, time.Minute) })
	if !slices.Equal(got, whole) {
		t.Error("the leg that came back moves the pages")
	}
}

// Which database a row sits in changes neither its score nor its place where
// vectors count.
func TestVectorRolloverInvariance(t *testing.T) {
	const n = 420
	hashed := embeddingtest.Hashed{Name: "h", Size: 64}
	questions := []memd.Query{{Query: "why does the kumquat gateway deploy"}, {Query: "ledger"}, {Query: "quorum schema", Namespaces: []string{"project/x"}},
		{Query: "heron rollback", Tags: []string{"ci"}}, {Query: "watchdog 17", Tiers: []memd.Tier{memd.Long}}}
	var want string
	for _, files := range []int{1, 5, 21} {
		h := newHouse(t)
		rng := rand.New(rand.NewPCG(6, 6))
		for part := range files {
			var rows []memd.Memory
			for i := part * n / files; i < (part+1)*n/files; i++ {
				text := fmt.Sprint(some(rng, latin, 4), " ", i)
				m := short(text)
				switch i % 7 {
				case 0:
					m = long(fmt.Sprintf("key.%d", i), text)
				case 1:
					m.Namespace = "project/x"
				case 2:
					m.Tags = []string{"ci"}
				}
				rows = append(rows, m)
			}
			h.put(rows...)
			if part+1 < files {
				if _, err := h.store.Rollover(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
		h.embedded(hashed)
		var got string
		for _, q := range questions {
			q.Limit, q.Explain = ptr(100), true
			answer := h.recall(q)
			answer.TookMS = 0
			if !slices.ContainsFunc(answer.Results, func(hit memd.Hit) bool { return hit.Breakdown.Vector > 0 }) || len(answer.Degraded) > 0 {
				t.Errorf("%d databases: %q counts no vector, degraded %q", files, q.Query, answer.Degraded)
			}
			answer.NextCursor = ""
			got += asJSON(t, answer)
		}
		if want == "" {
			want = got
		} else if got != want {
			t.Errorf("%d databases answer otherwise than one\n%s", files, difference(got, want))
		}
	}
}

// A row that its vector finds lends as it does where its words find it, however
// many others hold fewer of them.
func TestNearRowsLend(t *testing.T) {
	h := newHouse(t)
	rows := []memd.Memory{
		short("the car and the ferry at the kumquat harbour", saidIn("a")),
		short("a kumquat too", saidIn("a")),
	}
	for n := range 250 {
		rows = append(rows, short(fmt.Sprintf("kumquat %d in a longer text, with further words that say nothing of it", n), saidIn(fmt.Sprint("s", n))))
	}
	put := h.put(rows...)
	h.embedded(trades)
	answer := h.recall(memd.Query{Query: "automobile ferry kumquat", Explain: true, Limit: ptr(100)})
	for _, hit := range answer.Results {
		if hit.ID == put[1] {
			// A session alone, of which it is the best, would lend a fifth of its own.
			if b := *hit.Breakdown; b.Neighbour <= 0.25*(b.Keyword+b.Metadata+b.Vector) {
				t.Errorf("it borrows nothing: %+v", b)
			}
			return
		}
	}
	t.Error("the row beside the near one is not among the first hundred")
}
