package recall_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/recall"
	"memd/store/terms"
)

// FuzzRecall: any bytes are a query. Nothing in them is syntax, the only error
// is the documented one on length, and what comes back holds a term of the
// query. The index in memory and SQLite's give the same answer.
func FuzzRecall(f *testing.F) {
	for _, query := range []string{
		"", " ", "don't", "pre-edit", "C++", "GB/s", "a:b", `"quoted" and 'quoted'`, `"`, `""`, "(", ")", "((a) OR", "NEAR", "NEAR(a b, 2)",
		"AND", "OR NOT", "a AND NOT b", "*", "a*", "^", "^deploy", "-deploy", "+deploy", "{summary}: deploy", "summary:deploy", "deploy\x00watchdog",
		"\xff\xfe", "caf\xc3", "é", "e\u0301", "🚀", "👨‍👩‍👧", "重", "简洁", "ｗａｔｃｈｄｏｇ", "%", "_", "\\", "';DROP TABLE short;--",
		"why can we not deploy on Monday then?", "为什么周一不能部署?", strings.Repeat("a", 20000), strings.Repeat("重 ", 10000),
		strings.Repeat("部署", 10000), manyTerms(5000), strings.Repeat("x", memd.MaxQueryChars+1),
	} {
		f.Add([]byte(query))
	}
	h := fuzzHouse(f)
	bare := fuzzHouse(f).reopenedIn(f, true)
	if err := h.store.Index(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query []byte) {
		q := memd.Query{Query: string(query), SessionID: "s1", Limit: ptr(100), IncludeArchive: true, Explain: true, Touch: new(bool)}
		answer, err := h.engine.Recall(context.Background(), root, q)
		if utf8.RuneCountInString(q.Query) > memd.MaxQueryChars {
			checkRefusal(t, err, memd.CodeTooLarge, "query")
			return
		}
		if err != nil {
			t.Fatalf("%.80q: %v", query, err)
		}
		if len(answer.Degraded) > 0 {
			t.Fatalf("%.80q degraded %v", query, answer.Degraded)
		}
		if got, want := unnamed(t, answer), unnamed(t, (&house{t: t, engine: bare.engine}).recall(q)); got != want {
			t.Fatalf("%.80q: by the index in memory\n%s", query, difference(got, want))
		}
		asked := terms.Query(q.Query, 1<<20)
		for _, hit := range answer.Results {
			if !holdsAny(asked, hit.Memory) {
				t.Errorf("%.80q found %q, which holds no term of it", query, hit.Summary)
			}
		}
		out, err := h.engine.Context(context.Background(), root, memd.ContextRequest{Query: q.Query, SessionID: "s1"})
		if err != nil {
			t.Fatalf("context of %.80q: %v", query, err)
		}
		checkContext(t, memd.ContextRequest{}, out)
	})
}

// manyTerms is a text of n distinct terms.
func manyTerms(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(nthTerm(i) + " ")
	}
	return b.String()
}

// nthTerm is short, so that 5,000 are no longer than a query may be.
func nthTerm(n int) string { return "t" + strconv.FormatInt(int64(n), 36) }

// fuzzHouse is a house of two databases with rows that tempt a parser.
func fuzzHouse(f *testing.F) *house {
	f.Helper()
	h := newHouse(f)
	h.put(
		short("Don't pre-edit the C++ file; a:b at 3 GB/s 🚀"), short("修复watchdog误杀设备重启", tagged("重启", "café")),
		short("NEAR AND OR NOT near and or not"), short("term17 term4711 (quoted) naïve"),
		long("deploy/freeze", "No deploy on Mondays 周一禁止部署", because("payroll", "wait for Tuesday")),
		short("e\u0301clair"), long("style", "回答要简洁", ofKind(memd.Preference)),
	)
	if _, err := h.store.Rollover(context.Background()); err != nil {
		f.Fatal(err)
	}
	h.put(englishFiller(60)...)
	if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "a note: deploy 🚀 * ^ (重)"}); err != nil {
		f.Fatal(err)
	}
	return h
}

// unnamed is an answer without what no two stores have in common: the ids of
// notes, cursors and the time it took.
func unnamed(t *testing.T, answer memd.Answer) string {
	t.Helper()
	answer.TookMS, answer.NextCursor = 0, ""
	answer.Results = slices.Clone(answer.Results)
	for i := range answer.Results {
		if answer.Results[i].Tier == memd.Transient {
			answer.Results[i].ID = ""
		}
	}
	out, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The work that a query causes is bounded, however long it is and however many
// terms it has.
func TestLongQueriesReadNoMore(t *testing.T) {
	h := newCrowd(t, 51, false)
	var crowd []memd.Memory
	for i := range recall.MaxScored + 200 {
		crowd = append(crowd, short(nthTerm(i)+" "+nthTerm(i+1)+" deploy"))
	}
	h.put(crowd...)
	words := manyTerms(recall.MaxScored + 200)
	queries := map[string]string{
		"20,000 letters":       strings.Repeat("a", 20000),
		"20,000 characters":    strings.Repeat("部署数据库迁移", 20000/7),
		"one word repeated":    strings.Repeat("deploy ", 20000/7),
		"5,000 terms":          manyTerms(5000),
		"terms of every row":   words,
		"sentences":            strings.Repeat("deploy cluster? ", 1000),
		"the longest there is": strings.Repeat("deploy 部署 a.b/c_d ", memd.MaxQueryChars)[:memd.MaxQueryChars],
	}
	most := 0
	for _, indexed := range []bool{false, true} {
		if indexed {
			if err := h.store.Index(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for name, query := range queries {
			for _, limit := range []int{1, 100} {
				read, asked, err := h.engine.Read(t.Context(), root, memd.Query{Query: query, Limit: &limit, IncludeArchive: true})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if asked > recall.MaxTerms {
					t.Errorf("%s: %d terms are looked for", name, asked)
				}
				for tier, n := range read {
					most = max(most, n)
					if n > recall.MaxScored {
						t.Errorf("%s: %d %s rows are read", name, n, tier)
					}
				}
			}
		}
	}
	if most < recall.MaxScored {
		t.Errorf("at most %d rows of a tier are read: the test shows little", most)
	}
}

func holdsAny(asked []terms.Term, m memd.Memory) bool {
	tf := make([]int, len(asked))
	counter := terms.NewCounter(asked)
	for _, text := range append([]string{m.Summary, m.Why, m.HowToApply, m.MemoryKey, string(m.Kind), m.Source, m.Owner}, m.Tags...) {
		counter.Count(text, tf)
	}
	return slices.Max(tf) > 0
}

// Ordinary questions in both languages find their rows.
func TestOrdinaryQuestions(t *testing.T) {
	h := newHouse(t)
	h.put(englishFiller(100)...)
	h.put(chineseFiller(100)...)
	rows := map[string]string{
		"monday":   h.put(long("deploy.freeze", "No deploys on Mondays: payroll runs"))[0],
		"watchdog": h.put(short("修复watchdog误杀设备重启"))[0],
		"style":    h.put(long("style", "回答要简洁", ofKind(memd.Preference)))[0],
		"cafe":     h.put(short("Lunch at the Café Möwe"))[0],
		"cxx":      h.put(short("The C++ build reads at 3 GB/s"))[0],
	}
	for query, want := range map[string]string{
		"why can we not deploy on Monday then?":  "monday",
		"Why don't we deploy on mondays?":        "monday",
		"简洁":                                     "style",
		"回答应该怎么样?简洁吗":                            "style",
		"重":                                      "watchdog",
		"watchdog":                               "watchdog",
		"设备为什么会重启?":                              "watchdog",
		"ｗａｔｃｈｄｏｇ":                               "watchdog",
		"cafe mowe":                              "cafe",
		"CAFE\u0301":                             "cafe",
		"C++":                                    "cxx",
		"how many GB/s?":                         "cxx",
		"NEAR(watchdog, 3) AND \"nothing\" OR *": "watchdog",
		strings.Repeat("lorem ipsum ", 2500) + "möwe":   "cafe",
		"what (on earth) is \"wrong\" with: the-möwe?!": "cafe",
	} {
		results := h.ask(query).Results
		if len(results) == 0 {
			t.Errorf("%.60q finds nothing", query)
			continue
		}
		if results[0].ID != rows[want] {
			t.Errorf("%.60q finds %q first", query, results[0].Summary)
		}
	}
}
