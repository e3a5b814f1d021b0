package recall_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memd"
)

// manyMatches fills a house with rows that a query finds in every tier.
func manyMatches(h *house) memd.Query {
	h.t.Helper()
	h.put(englishFiller(300)...)
	for i := range 12 {
		h.put(long(fmt.Sprintf("rule.%d", i), fmt.Sprintf("Deploy rule %d of the billing service", i), importance(1+i%10), daysAgo(i*12)),
			short(fmt.Sprintf("部署规则 %d: deploy", i), archived))
	}
	for i := range 5 {
		if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: fmt.Sprintf("deploy note %d", i)}); err != nil {
			h.t.Fatal(err)
		}
	}
	return memd.Query{Query: "deploy of billing service tests", SessionID: "s1", IncludeArchive: true}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSameAnswerEveryTime(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	q.Limit, q.Explain = ptr(100), true
	want := asJSON(t, h.recall(q).Results)
	for i := range 200 {
		if got := asJSON(t, h.recall(q).Results); got != want {
			t.Fatalf("answer %d differs", i)
		}
	}
	h.clock.Advance(59 * time.Minute) // the same clock hour
	if asJSON(t, h.recall(q).Results) != want {
		t.Error("the answer differs within the hour")
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	again := openHouse(t, h.dir, h.clock)
	if asJSON(t, again.recall(q).Results) != want {
		t.Error("the answer differs after the store was opened again")
	}
}

// walk recalls page after page and calls between before each next one.
func walk(h *house, q memd.Query, between func()) []string {
	h.t.Helper()
	var all []string
	for page := 0; ; page++ {
		answer := h.recall(q)
		all = append(all, ids(answer.Results)...)
		if answer.NextCursor == "" || page > 100 {
			return all
		}
		q.Cursor = answer.NextCursor
		if between != nil {
			between()
		}
	}
}

func TestPagesWalkOneOrder(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	q.Limit = ptr(100)
	whole := walk(h, q, nil)
	if len(whole) < 200 {
		t.Fatalf("only %d results", len(whole))
	}
	q.Limit = ptr(7)
	if got := walk(h, q, nil); !slices.Equal(got, whole) {
		t.Error("pages of 7 walk another order than pages of 100")
	}
	q.MaxChars = ptr(300)
	if got := walk(h, q, nil); !slices.Equal(got, whole) {
		t.Error("pages of 300 characters walk another order than pages of 100")
	}
}

// While others write and hours pass, every row that was there is met once and
// in its place. New rows may come between.
func TestPagesHoldWhileOthersWrite(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	q.Limit = ptr(100)
	whole := walk(h, q, nil)
	q.Limit = ptr(7)
	n := 0
	walked := walk(h, q, func() {
		n++
		h.clock.Advance(20 * time.Minute)
		h.put(
			short(fmt.Sprintf("deploy number %d of the billing service and its tests", n)),
			short(fmt.Sprintf("another matter %d", n)),
			long(fmt.Sprintf("late.%d", n), "billing"),
		)
	})
	old := slices.DeleteFunc(slices.Clone(walked), func(id string) bool { return !slices.Contains(whole, id) })
	if !slices.Equal(old, whole) {
		t.Errorf("the walk met %d of the %d rows, or in another order", len(old), len(whole))
	}
	slices.Sort(walked)
	if len(slices.Compact(walked)) != len(walked) {
		t.Error("the walk met a row twice")
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	h := newHouse(t)
	q := manyMatches(h)
	q.Limit = ptr(5)
	cursor := h.recall(q).NextCursor
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string, change func(*memd.Query)) {
		t.Run(name, func(t *testing.T) {
			bad := q
			bad.Cursor = cursor
			change(&bad)
			_, err := h.engine.Recall(context.Background(), root, bad)
			checkRefusal(t, err, memd.CodeInvalidRequest, "cursor")
		})
	}
	encode := base64.RawURLEncoding.EncodeToString
	refused("another query", func(q *memd.Query) { q.Query = "deploy" })
	refused("other namespaces", func(q *memd.Query) { q.Namespaces = []string{"user"} })
	refused("another session", func(q *memd.Query) { q.SessionID = "s2" })
	refused("other tiers", func(q *memd.Query) { q.Tiers = []memd.Tier{memd.Short} })
	refused("no base64", func(q *memd.Query) { q.Cursor = "!" })
	refused("empty inside", func(q *memd.Query) { q.Cursor = "AAAA" })
	refused("cut", func(q *memd.Query) { q.Cursor = encode(raw[:len(raw)-1]) })
	if bytes.Contains(raw, []byte(`"n":`)) {
		t.Error("the cursor shows what the corpus counts, rows of others included")
	}
	for i := range raw {
		raw[i] ^= 1
		bad := q
		bad.Cursor = encode(raw)
		raw[i] ^= 1
		h.refused(bad, memd.CodeInvalidRequest, "cursor")
	}
	if other := (memd.Caller{Name: "other", Role: memd.RoleRead}); true {
		bad := q
		bad.Cursor = cursor
		_, err := h.engine.Recall(context.Background(), other, bad)
		checkRefusal(t, err, memd.CodeInvalidRequest, "cursor")
	}
}

func TestBoundsOfARequest(t *testing.T) {
	h := newHouse(t)
	h.put(short("kumquat"))
	h.refused(memd.Query{Query: "x", Limit: ptr(0)}, memd.CodeInvalidRequest, "limit")
	h.refused(memd.Query{Query: "x", Limit: ptr(101)}, memd.CodeInvalidRequest, "limit")
	h.refused(memd.Query{Query: "x", MaxChars: ptr(0)}, memd.CodeInvalidRequest, "max_chars")
	h.refused(memd.Query{Query: "x", MaxChars: ptr(-1)}, memd.CodeInvalidRequest, "max_chars")
	h.refused(memd.Query{Query: strings.Repeat("好", memd.MaxQueryChars+1)}, memd.CodeTooLarge, "query")
	h.refused(memd.Query{Query: "x", Tiers: []memd.Tier{"meta"}}, memd.CodeInvalidRequest, "tiers")
	h.refused(memd.Query{Query: "x", Kinds: []memd.Kind{"gossip"}}, memd.CodeInvalidRequest, "kinds")
	h.refused(memd.Query{Query: "x", Namespaces: []string{"Upper"}}, memd.CodeInvalidRequest, "namespace")
	h.refused(memd.Query{Query: "x", SessionID: strings.Repeat("s", memd.MaxNameChars+1)}, memd.CodeTooLarge, "session_id")
	h.recall(memd.Query{Query: strings.Repeat("好", memd.MaxQueryChars)})
	wantIDs(t, h.recall(memd.Query{Query: "kumquat", Limit: ptr(100)}).Results, "01900000-0000-7000-8000-000000000001")
	_, err := h.engine.Recall(context.Background(), memd.Caller{Name: "nobody"}, memd.Query{Query: "x"})
	checkRefusal(t, err, memd.CodeForbidden, "")
}

func TestMaxCharsCountsCodePoints(t *testing.T) {
	h := newHouse(t)
	h.put(
		long("a", "金柑 🍊 果酱", because("因为🍊", "煮 🔥"), func(m *memd.Memory) { m.RawContent = strings.Repeat("原", 30) }),
		short("金柑🍊"+strings.Repeat("长", 40)), short("金柑 🍊"))
	for _, raw := range []bool{false, true} {
		for max := 1; max <= 120; max++ {
			q := memd.Query{Query: "金柑", MaxChars: ptr(max), IncludeRaw: raw}
			answer := h.recall(q)
			if len(answer.Results) == 0 {
				t.Fatalf("nothing within %d characters", max)
			}
			used := 0
			for i, hit := range answer.Results {
				body := hit.Summary + hit.Why + hit.HowToApply + hit.RawContent
				if !utf8.ValidString(body) {
					t.Fatalf("cut within a character at %d", max)
				}
				used += utf8.RuneCountInString(body)
				if hit.Shortened && i > 0 {
					t.Errorf("result %d is shortened", i)
				}
			}
			if used > max {
				t.Fatalf("%d characters, at most %d were asked for", used, max)
			}
			if met := walk(h, q, nil); len(met) != 3 {
				t.Fatalf("pages of %d characters meet %d rows, want 3", max, len(met))
			}
		}
	}
}

func TestRawContentOnlyWhereAsked(t *testing.T) {
	h := newHouse(t)
	h.put(short("kumquat", func(m *memd.Memory) { m.RawContent = "the whole log" }))
	if raw := h.recall(memd.Query{Query: "kumquat"}).Results[0].RawContent; raw != "" {
		t.Errorf("raw_content %q without include_raw", raw)
	}
	if raw := h.recall(memd.Query{Query: "kumquat", IncludeRaw: true}).Results[0].RawContent; raw != "the whole log" {
		t.Errorf("raw_content %q with include_raw", raw)
	}
}
