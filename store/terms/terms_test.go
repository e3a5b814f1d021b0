package terms

import (
	"strings"
	"testing"
	"time"
)

func TestSegment(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"Plain prose, with 3 numbers and it's fine.", ""},
		{"foo. bar: (baz) - qux", ""},
		{"迁", ""}, // FTS5 makes 迁 itself
		{"迁移", "迁 移"},
		{"数据库", "数 数据 据 据库 库"},
		{"修复watchdog误杀", "修 修复 复 watchdog 误 误杀 杀"},
		{"用API，然后", "用 api 然 后"}, // FTS5 makes 然后
		{"ＡＰＩ gateway", "api"},
		{"ｻｰﾊﾞｰ", "サ サー ー ーバ バ バー ー"},
		{"か\u3099き", "が がき き"}, // NFD; FTS5 makes か and き
		{"cafe\u0301 café", ""},
		{"ﬁle x²", "file x2"},
		{"안녕 세상", "안 녕 세 상"},
		{"E_SIG_47", "esig47"},
		{"make test-all", "testall"},
		{"src/api/x.go", "xgo srcapixgo"},
		{"configs/limits.go:42", "limitsgo configslimitsgo42"},
		{"GB/s", "gbs"},
		{"v1.2.3,", "v123"},
		{"C++ and C#/F#; g++", "cplusplus csharp fsharp cf gplusplus"},
		{"c++17 a+b", "cplusplus c17 ab"},
		{"用C++写", "用 c cplusplus"},
		{".NET e.g. foo...", "eg"},
		{"parseURL HTTPServer URLs iPhone x86Asm E2E", "parse url http server phone x86 asm"},
		{"src/testAll.go", "test all testallgo srctestallgo"},
		{"ｔｅｓｔ－ａｌｌ", "test all testall"},
		{"a----b x::y", "xy"},
		{"ship 🚀 it ©", "u1f680 ua9"},
		{"foo🤖bar", "foo u1f916 bar"},
		{"👍🏽 ⚠️ 🇨🇳", "u1f44d u26a0 u1f1e8 u1f1f3"},
		{"25℃ Foo™", "ub0 c tm"},
		{"├── x │", ""},
		{"ภาษาไทย", "ภ ภา า าษ ษ ษา า าไ ไ ไท ท ทย ย"},
		{strings.Repeat("a", 40) + "-" + strings.Repeat("b", 40), ""},
		{strings.Repeat("x", 300), ""},
		{"\xff\x00\xfe", ""},
	} {
		if got := Segment(test.text); got != test.want {
			t.Errorf("Segment(%q)\n got %q\nwant %q", test.text, got, test.want)
		}
	}
	if got := Segment("test-all", "", "x", "数据"); got != "testall 数 据" {
		t.Errorf("several texts: %q", got)
	}
}

// show writes terms as text, with ! for Stop, * for Whole, . for Part.
func show(terms []Term) string {
	var out []string
	for _, t := range terms {
		s := t.Text
		if t.Stop {
			s += "!"
		}
		if t.Whole {
			s += "*"
		}
		if t.Part {
			s += "."
		}
		if t.Char {
			s += "'"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestQuery(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 32, ""},
		{"?! \x00 \xff ... \"", 32, ""},
		{"word", 0, ""},
		{"Why was the deployment failing?", 32, "why! wa! the! deploy fail"},
		{"deploying deploys DEPLOYED", 32, "deploi"},
		{"don't", 32, "don! t!"},
		{"迁", 32, "迁"},
		{"迁移", 32, "迁' 迁移 移'"},
		{"数据库的迁移是什么", 32, "数' 数据 据' 据库 库' 库的! 的!' 的迁! 迁' 迁移 移' 移是! 是!' 是什! 什!' 什么! 么!'"},
		{"目的", 32, "目' 目的 的!'"},
		{"目 目的", 32, "目 目的 的!'"},
		{"的", 32, "的!"},
		{"修复watchdog", 32, "修' 修复 复' watchdog"},
		{"ＷＡＴＣＨＤＯＧ", 32, "watchdog"},
		{"E_SIG_47", 32, "sig. 47. esig47*"},
		{"test-all", 32, "test. all!. testal*"},
		{"testall", 32, "testal"},
		{"all test-all", 32, "all! test. testal*"},
		{"src/api/x.go", 32, "src. api. go. xgo* srcapixgo*"},
		{"GB/s", 32, "gb*"},
		{"v1.2.3", 32, "v1. v123*"},
		{"C++", 32, "cplusplu*"},
		{"C# or C", 32, "csharp* or! c"},
		{".NET", 32, "net"},
		{"parseURL", 32, "parseurl* pars. url."},
		{"🚀", 32, "u1f680"},
		{"AND OR NOT NEAR(a b) col:x* ^y", 32, "and! or! not! near a! b col. colx* y"},
		{"the quick brown fox jumps", 3, "quick brown jump"},
		{"the test-all of it", 2, "test. testal*"},
		{"the test-all of it", 1, "testal*"},
	} {
		got := show(Query(test.text, test.limit))
		if got != test.want {
			t.Errorf("Query(%q, %d)\n got %s\nwant %s", test.text, test.limit, got, test.want)
		}
	}
}

func TestQueryMatchIsQuoted(t *testing.T) {
	for _, term := range Query("it's \"x\" foo-bar 数据 🚀 a*b(c) NEAR", 32) {
		inner := strings.TrimSuffix(strings.TrimPrefix(term.Match, `"`), `"`)
		if len(inner) != len(term.Match)-2 || strings.ContainsAny(inner, "\"\x00 ") {
			t.Errorf("unsafe expression %s", term.Match)
		}
	}
}

func TestCounter(t *testing.T) {
	query := Query("deploy test-all 迁移 c++", 32)
	counter := NewCounter(query)
	tf := make([]int, len(query))
	counter.Count("Deploy, deploys and deploying: run test-all, then testAll. 迁移 数据迁移了 C++ c", tf)
	counter.Count("deploy", tf)
	want := map[string]int{"deploi": 4, "test": 2, "all": 2, "testal": 2, "迁移": 2, "迁": 2, "移": 2, "cplusplu": 1}
	for i, term := range query {
		if tf[i] != want[term.Text] {
			t.Errorf("%s: %d, want %d", term.Text, tf[i], want[term.Text])
		}
	}
	if len(query) != len(want) {
		t.Errorf("terms %s", show(query))
	}
	NewCounter(nil).Count("nothing to count", nil)
}

func TestCounterForgets(t *testing.T) {
	query := Query("word", 1)
	counter := NewCounter(query)
	tf := make([]int, 1)
	for i := range 3 * maxCached {
		counter.Count("w"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+strings.Repeat("y", i/1300), tf)
	}
	counter.Count("words", tf)
	if tf[0] != 1 || len(counter.words.of) > maxCached {
		t.Errorf("tf %v, %d words remembered", tf, len(counter.words.of))
	}
}

func TestFold(t *testing.T) {
	for _, test := range []struct{ s, want string }{
		{"Deploy/Target", "deploy/target"},
		{"ＡＰＩ：１", "api:1"},
		{"Cafe\u0301", "café"},
		{"STRASSE", "strasse"},
		{"Straße", "strasse"},
		{"ｶﾞ", "ガ"},
		{"\xff", Fold("\xff")},
	} {
		if got := Fold(test.s); got != test.want {
			t.Errorf("Fold(%q) = %q, want %q", test.s, got, test.want)
		}
		if again := Fold(Fold(test.s)); again != Fold(test.s) {
			t.Errorf("Fold(%q) is not stable: %q", test.s, again)
		}
	}
}

// No two symbols may share a token after stemming.
func TestSymbolTokensDiffer(t *testing.T) {
	seen := map[string]rune{}
	for r := rune(0xA0); r < 0x20000; r++ {
		if !symbol(r) {
			continue
		}
		text := string(stem(appendSymbol(nil, r)))
		if other, ok := seen[text]; ok {
			t.Errorf("%U and %U are both %s", other, r, text)
		}
		seen[text] = r
	}
}

// Long texts take time in proportion, not more, with or without spaces.
func TestLongTexts(t *testing.T) {
	units := []string{
		"a", "a-", "a/", "A", "aB", "数", "数a", "🚀", "\xff", "e\u0301", "\u0301", "か\u3099", "a\u0323\u0338",
		"\x00", "ﷺ", "-", "+", "a+", "C++ ", "word ", "ภ\u0e34", "\xc3", "½", "a🤖",
	}
	check := func(name, text string) {
		start := time.Now()
		query := Query(text[:1<<15], 32)
		Segment(text)
		NewCounter(query).Count(text, make([]int, len(query)))
		// Seconds under the race detector, minutes where time is quadratic.
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%q repeated took %v", name, took)
		}
	}
	for _, unit := range units {
		check(unit, strings.Repeat(unit, 1<<17/len(unit)))
	}
	all := strings.Join(units, "")
	check("all", strings.Repeat(all, 1<<20/len(all)))
}

func TestStopWords(t *testing.T) {
	for _, w := range []string{"the", "why", "的", "什么", "了吗", "我的", "库的"} {
		if !isStop([]byte(w)) {
			t.Errorf("%s is no stop word", w)
		}
	}
	for _, w := range []string{"deploy", "数据", "在线", "了解", "目的", "", "不"} {
		if isStop([]byte(w)) {
			t.Errorf("%q is a stop word", w)
		}
	}
	if n := len(strings.Fields(englishStops)); n < 120 {
		t.Errorf("%d English stop words", n)
	}
}
