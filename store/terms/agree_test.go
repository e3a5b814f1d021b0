package terms

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var agreeTexts = []string{
	"Why was the deployment of memd failing? It didn't find the café's naïve data2vec index.",
	"running runs runner; generalizations of the O'Reilly users' caches, 2nd edition, 99% of 1,000",
	"E_SIG_47 is raised by `make test-all` in src/api/x.go:342 at 10 GB/s with v1.2.3 (C++17, C#, F#, .NET)",
	"https://user@example.com:8080/a-b/c_d?x=1&y=2#frag sha256:deadbeef e.g. foo... --force-all",
	"parseURL, HTTPServer, URLs, iPhone, getHTTPResponseCode, XMLHttpRequest, aB, x86Asm, snake_case_Name",
	"修复watchdog误杀设备重启，然后用API（v2.0）迁移数据库。",
	"数据 库 迁移 的 了", "为什么数据库的迁移失败了？怎么办！", "用C++写test-all命令，GB/s很高🚀🚀",
	"Cafe\u0301 re\u0301sume\u0301 o\u0323u\u031b A\u030angstro\u0308m", "Việt Nam, Łódź, Straße, İstanbul, ǅungla",
	"ＡＰＩ ｇａｔｅｗａｙ ｔｅｓｔ－ａｌｌ １２３ ﬁle x² ½ ㎏ ℃ ™ ㈱ Ⅷ ⑴",
	"サーバーが落ちた。ｻｰﾊﾞｰ か\u3099き ガッツ ひらがな", "안녕하세요 세상 \u1112\u1161\u11ab\u1100\u1173\u11af", "ภาษาไทยที่นี่ ກຂຄ ខ្មែរ မြန်မာ हिन्दी עברית العربية",
	"emoji 👍🏽 👩‍💻 ⚠️ 🇨🇳 🤖x🤖 foo🫠bar © ™ ° ├── █", "bidi \u2066foo\u2069 x\u200dy soft\u00adhyphen ₿ \u2e3c",
	"nul\x00in\x00side \xff\xfe bad \xc3 utf\xe6\x96 \xed\xa0\xbd\xed\xb8\x80 caf\xc3\xa9\x80\x80",
	`AND OR NOT NEAR(a b) "quoted" col:x* ^y {a b}: (x)`, strings.Repeat("x", 100) + " " + strings.Repeat("ab-", 40) + " " + strings.Repeat("a/", 150),
	"", " ", "的", "a", "-", "𠮷野家 㐀㐁 \U00030000\U00030001", "U+1F680 u1f680",
}

// checkAgreement checks that for every query term of queries, the index of
// text and Counter agree.
func checkAgreement(t *testing.T, x *index, text string, queries ...string) {
	t.Helper()
	x.set(text, Segment(text))
	vocab := x.vocab()
	for _, q := range queries {
		query := Query(q, 1<<20)
		tf := make([]int, len(query))
		NewCounter(query).Count(text, tf)
		for i, term := range query {
			if tf[i] != vocab[term.Text] {
				t.Errorf("%q in %q: counted %d, the index holds %d", term.Text, text, tf[i], vocab[term.Text])
			}
			if found := x.matches(term.Match); found != (tf[i] > 0) {
				t.Errorf("%s in %q: found %v, counted %d", term.Match, text, found, tf[i])
			}
			if q == text && tf[i] == 0 {
				t.Errorf("%q is a term of %q and yet not in it", term.Text, text)
			}
		}
	}
}

func TestIndexAndCounterAgree(t *testing.T) {
	x := newIndex(t)
	all := strings.Join(agreeTexts, "\n")
	for _, text := range agreeTexts {
		checkAgreement(t, x, text, text, all)
	}
}

// Texts put together at random from pieces that meet badly.
func TestRandomTextsAgree(t *testing.T) {
	pieces := strings.Fields(`a B is test All HTTP Server deploying generalizations s ed ing 7 42 v1 数 据库 迁移 的 が か ー ﾊﾞ 안녕 ภา
		é É ß İ я Ж ½ ² ﬁ ＡＰＩ ａ １ ℃ ™ 🚀 🤖 🏽 ⚠ ─ © ₿ - _ . / : # @ + － ／ ++ :: \ ' " ( * ^ ， 。 、 “ …`)
	pieces = append(pieces, " ", " ", "\n", "\x00", "\u0301", "\u0338", "\u3099", "\ufe0f", "\u200d", "\u2066",
		"\xff", "\xc3", "\x80", "\xe6\x96", "\u1112\u1161", "\U00100000", strings.Repeat("x", 60))
	rng := rand.New(rand.NewPCG(5, 6))
	random := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	x := newIndex(t)
	for range 400 {
		text := random()
		checkAgreement(t, x, text, text, random())
	}
}

// NFC, NFD, and the width of letters make no difference either way.
func TestFormsFindEachOther(t *testing.T) {
	x := newIndex(t)
	for _, forms := range [][]string{
		{"café", "cafe\u0301", "ＣＡＦÉ", "cafe"},
		{"API", "ＡＰＩ", "ａｐｉ"},
		{"ガード", "カ\u3099ート\u3099", "ｶﾞｰﾄﾞ"},
		{"한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"test-all", "testAll", "test_all", "ｔｅｓｔ－ａｌｌ", "TEST-ALL", "test.all"},
		{"C++", "c++", "Ｃ++"},
		{"数据🚀API", "数据 🚀 ＡＰＩ"},
	} {
		for _, text := range forms {
			x.set(text, Segment(text))
			for _, q := range forms {
				for _, term := range Query(q, 32) {
					if !term.Part && !x.matches(term.Match) {
						t.Errorf("%s, of %q, does not find %q", term.Match, q, text)
					}
				}
			}
		}
	}
}

// Every query of one or two characters finds exactly the texts that hold it.
func TestEveryShortChineseSubstring(t *testing.T) {
	x := newIndex(t)
	texts := []string{
		"数据库的迁移失败了，因为磁盘已经写满。", "修复watchdog误杀设备重启的问题", "重启以后，设备数据会丢失吗？",
		"为什么不用C++重写整个服务？性能只有2GB/s。", "人人为我，我为人人；天天向上。", "备份每天凌晨三点自动执行一次",
		"索引、向量与关键字：三路召回再融合", "他说：“先备份，再迁移。”", "设 备", "的",
	}
	substrings := map[string]bool{}
	for _, text := range texts {
		runes := []rune(text)
		for i, r := range runes {
			if !gramRune(r) {
				continue
			}
			substrings[string(r)] = true
			if i+1 < len(runes) && gramRune(runes[i+1]) {
				substrings[string(runes[i:i+2])] = true
			}
			substrings[string(r)+"据"] = true // most occur nowhere
		}
	}
	for _, text := range texts {
		x.set(text, Segment(text))
		for s := range substrings {
			terms := slices.DeleteFunc(Query(s, 32), func(t Term) bool { return t.Char })
			if len(terms) != 1 {
				t.Fatalf("%q: terms %v", s, terms)
			}
			if got, want := x.matches(terms[0].Match), strings.Contains(text, s); got != want {
				t.Errorf("%q in %q: found %v", s, text, got)
			}
			tf := []int{0}
			NewCounter(terms).Count(text, tf)
			if want := occurrences(text, s); tf[0] != want {
				t.Errorf("%q in %q: counted %d times, occurs %d times", s, text, tf[0], want)
			}
		}
	}
	t.Logf("%d substrings over %d texts", len(substrings), len(texts))
}

// occurrences counts overlapping ones too.
func occurrences(text, s string) int {
	n := 0
	for i := range text {
		if strings.HasPrefix(text[i:], s) {
			n++
		}
	}
	return n
}
