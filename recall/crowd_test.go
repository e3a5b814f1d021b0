package recall_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// A crowd is a store of rows made by chance, over several databases, with all
// that an order depends on: fewer than a recall reads of each tier, so that
// explain, which reads them all, gives the whole order.
const (
	crowdDatabases = 3
	crowdRows      = 420 // of each
)

var (
	plain    = strings.Fields("deploy cluster schema rollback gateway ledger quorum heron watchdog kumquat writer cache replica lease budget vector session cursor shard snapshot payroll mondays freeze release pipeline token socket kernel")
	stops    = strings.Fields("the of a is and to in what how was it for")
	wholes   = strings.Fields("E_SIG_47 parse_frame src/api/x.go make-all GB/s v1.2.3 sig 47 x.go")
	unspaced = strings.Fields("数据库 迁移 看门狗 误杀 设备 重启 缓存 超时 日志 周一 部署 禁止 的 了")
)

// talk is a text of so many words, English and Chinese ones as chance has it.
func talk(rng *rand.Rand, words int, han bool) string {
	var b strings.Builder
	for i := range words {
		pick := func(from []string) string { return from[min(rng.IntN(len(from)), rng.IntN(len(from)))] }
		switch n := rng.IntN(12); {
		case han && n < 10:
			b.WriteString(pick(unspaced))
			if rng.IntN(7) == 0 {
				b.WriteString("。")
			}
			continue
		case n < 4:
			b.WriteString(pick(stops))
		case n < 5:
			b.WriteString(pick(wholes))
		case n < 6:
			b.WriteString(pick(unspaced))
		case n < 7:
			fmt.Fprintf(&b, "word%d", rng.IntN(60))
		default:
			b.WriteString(pick(plain))
		}
		if i%9 == 8 {
			b.WriteString(".")
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

// crowdRow makes the nth row. With sessions the rows of short and archive lend
// each other relevance.
func crowdRow(rng *rand.Rand, n int, sessions bool) memd.Memory {
	words, han := 2+rng.IntN(18), rng.IntN(4) == 0
	switch rng.IntN(9) {
	case 0: // with passages
		words = 90 + rng.IntN(150)
	case 1:
		words = 1
	}
	text := fmt.Sprintf("%s %d", talk(rng, words, han), n)
	if rng.IntN(40) == 0 {
		text += strings.Repeat(" "+plain[rng.IntN(4)], 61+rng.IntN(4))
	}
	m := short(text, importance(1+rng.IntN(10)), daysAgo(rng.IntN(60)), accessed(rng.IntN(20)))
	switch rng.IntN(7) {
	case 0, 1:
		m = long(fmt.Sprintf("%s/%d", plain[rng.IntN(len(plain))], n), text, importance(1+rng.IntN(10)), daysAgo(rng.IntN(100)),
			ofKind([]memd.Kind{memd.Fact, memd.Rule, memd.Preference}[rng.IntN(3)]))
		if rng.IntN(3) == 0 {
			m.Why, m.HowToApply = talk(rng, 12, han), talk(rng, 80, false)
		}
	case 2:
		m.Tier = memd.Archive
	}
	if m.Tier != memd.Long && sessions && rng.IntN(3) > 0 {
		m.SessionID = fmt.Sprint("talk-", rng.IntN(12))
	}
	m.Namespace = places[rng.IntN(len(places))]
	switch rng.IntN(9) {
	case 0:
		m.Tags = append(labels[:1:1], plain[rng.IntN(len(plain))])
	case 1:
		m.Access = []string{"secret"}
	case 2:
		m.ExpiresAt = memd.At(start.AddDate(0, 0, rng.IntN(9)-4))
	case 3:
		m.Stale, m.StaleReason = true, memd.StaleSourceChanged
	case 4:
		m.Source, m.SourceStatus, m.Owner = "docs/"+plain[rng.IntN(len(plain))]+".md#x", memd.SourceOK, plain[rng.IntN(len(plain))]
	}
	return m
}

// crowdRows makes the rows of a database: some say what others said in another
// namespace, and some stand under a key that another has.
func crowdOf(rng *rand.Rand, from int, sessions bool, before []memd.Memory) (rows []memd.Memory) {
	taken := map[string]bool{}
	for _, m := range before {
		taken[m.Namespace+" "+m.MemoryKey] = true
	}
	for i := range crowdRows {
		m := crowdRow(rng, from+i, sessions)
		if all := append(before[:len(before):len(before)], rows...); len(all) > 0 && rng.IntN(5) == 0 {
			twin := all[rng.IntN(len(all))]
			if rng.IntN(2) == 0 && m.Tier == memd.Long && twin.Tier == memd.Long {
				m.MemoryKey = twin.MemoryKey
			} else {
				m.Summary, m.Why, m.HowToApply = twin.Summary, twin.Why, twin.HowToApply
				if rng.IntN(3) == 0 { // alike but for white space
					m.Summary = strings.Replace(m.Summary, " ", strings.Repeat(" ", 1+rng.IntN(3000)), 1)
				}
			}
		}
		if m.Tier == memd.Long && taken[m.Namespace+" "+m.MemoryKey] {
			continue
		}
		taken[m.Namespace+" "+m.MemoryKey] = true
		rows = append(rows, m)
	}
	return rows
}

func newCrowd(t testing.TB, seed uint64, sessions bool) *house {
	h := newHouse(t)
	rng := rand.New(rand.NewPCG(seed, seed))
	var rows []memd.Memory
	for n := range crowdDatabases {
		if n > 0 {
			if _, err := h.store.Rollover(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		more := crowdOf(rng, n*crowdRows, sessions, rows)
		h.put(more...)
		rows = append(rows, more...)
	}
	for range 20 {
		if _, err := h.tiers.Note(context.Background(), root, "s", memd.Note{Summary: talk(rng, 8, false)}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// reopenedIn opens the store of a house anew until a test ends. The one that it
// had before is closed.
func (h *house) reopenedIn(t testing.TB, noIndex bool) *house {
	t.Helper()
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	budgets := configs.DefaultBudgets()
	budgets.ShortRows = 1 << 20
	s, err := store.Open(context.Background(), store.Options{Dir: h.dir, Budgets: budgets, Now: h.clock.Now, NoIndex: noIndex})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &house{t: t, dir: h.dir, clock: h.clock, store: s, tiers: tiers.New(s), engine: recall.New(s, nil)}
}

// crowdQuestion makes a question of any kind.
func crowdQuestion(rng *rand.Rand) memd.Query {
	maybe := func(n int) bool { return rng.IntN(n) == 0 }
	q := memd.Query{IncludeArchive: maybe(2)}
	switch rng.IntN(10) {
	case 0:
		q.Query = plain[rng.IntN(len(plain))]
	case 1:
		q.Query = talk(rng, 4, true)
	case 2:
		q.Query = "what is the " + stops[rng.IntN(len(stops))]
	case 3:
		q.Query = talk(rng, 5, false) + "? " + talk(rng, 6, false) + "; " + talk(rng, 4, true) + "！" + talk(rng, 3, false)
	case 4:
		q.Query = wholes[rng.IntN(len(wholes))] + " " + wholes[rng.IntN(len(wholes))]
	case 5:
		q.Query = unspaced[rng.IntN(len(unspaced))]
	case 6:
		q.Query = talk(rng, 40, maybe(2))
	case 7:
		q.Query = "deploy? cluster?" // of common words, sentence by sentence
	default:
		q.Query = "why is the " + talk(rng, 5, false)
	}
	if maybe(2) {
		q.Namespaces = append([]string{}, places...)
		rng.Shuffle(len(places), func(i, j int) { q.Namespaces[i], q.Namespaces[j] = q.Namespaces[j], q.Namespaces[i] })
		q.Namespaces = q.Namespaces[:1+rng.IntN(len(places))]
	}
	if maybe(3) {
		q.Access = []string{"secret"}
	}
	if maybe(8) {
		q.Tags = labels[:1]
	}
	if maybe(8) {
		q.Kinds = []memd.Kind{memd.Fact, memd.Event}[:1+rng.IntN(2)]
	}
	if maybe(6) {
		q.Tiers = []memd.Tier{memd.Archive, memd.Short, memd.Long}[:1+rng.IntN(2)]
	}
	if maybe(3) {
		q.SessionID = "s"
	}
	return q
}
