package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/store/terms"
)

// FuzzRecall: any bytes are a query. Nothing in them is syntax, the only error
// is the documented one on length, and what comes back holds a term of the
// query.
func FuzzRecall(f *testing.F) {
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "term%d ", i)
	}
	for _, query := range []string{
		"", " ", "don't", "pre-edit", "C++", "GB/s", "a:b", `"quoted" and 'quoted'`, `"`, `""`, "(", ")", "((a) OR", "NEAR", "NEAR(a b, 2)",
		"AND", "OR NOT", "a AND NOT b", "*", "a*", "^", "^deploy", "-deploy", "+deploy", "{summary}: deploy", "summary:deploy", "deploy\x00watchdog",
		"\xff\xfe", "caf\xc3", "é", "e\u0301", "🚀", "👨‍👩‍👧", "重", "简洁", "ｗａｔｃｈｄｏｇ", "%", "_", "\\", "';DROP TABLE short;--",
		"why can we not deploy on Monday then?", "为什么周一不能部署?", strings.Repeat("a", 20000), strings.Repeat("重 ", 10000),
		strings.Repeat("部署", 10000), many.String(), strings.Repeat("x", memd.MaxQueryChars+1),
	} {
		f.Add([]byte(query))
	}
	h := newHouse(f)
	h.put(
		short("Don't pre-edit the C++ file; a:b at 3 GB/s 🚀"), short("修复watchdog误杀设备重启", tagged("重启", "café")),
		short("NEAR AND OR NOT near and or not"), short("term17 term4711 (quoted) naïve"),
		long("deploy/freeze", "No deploy on Mondays 周一禁止部署", because("payroll", "wait for Tuesday")),
		short("e\u0301clair"), long("style", "回答要简洁", ofKind(memd.Preference)),
	)
	h.put(englishFiller(60)...)
	if _, err := h.tiers.Note(context.Background(), root, "s1", memd.Note{Summary: "a note: deploy 🚀 * ^ (重)"}); err != nil {
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
