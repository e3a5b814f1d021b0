package terms

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const words = `
deploying deployed deploys deployment generalizations generalization café naïve data2vec running runner
runs ran possessives possess possesses caresses ponies ties caress cats feed agreed plastered bled motoring
sing conflated troubled sized hopping tanned falling hissing fizzed failing filing happy sky relational
conditional rational valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli
vietnamization predication operator feudalism decisiveness hopefulness callousness formaliti sensitiviti
sensibiliti triplicate formative formalize electriciti electrical hopeful goodness revival allowance
inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption
homologou communism activate angulariti homologous effective bowdlerize probate rate cease controll roll
apology archaeology psychology yes yyes yyy syzygy toy enjoying enjoys boy crying cried flies dying lies
as is us bus gas ass ies sses eed ed ing s es ae oed bing bed being beed zed king kings thing things
skies news inning outing herring proceed exceed succeed 1990s 2nd 42 42s b2bs x86ing q1ed u1f60e u1f9ed
watchdogs databases migrations indices matrices analyses Straße ÉCOLE øre Łódź Ελλάδα ελλάδας Москва
привет москвыing xoвing вoping жжed oвed ïng ёed 漢字ing 漢字s ｄｅｐｌｏｙｉｎｇ ﬁling ½ing x²s
serializable deserialization idempotency idempotent authentication authenticated authorizing caching cached
caches retries retrying retried configured configuration configurable compiling compiler compilers
embeddings embedding vectors tokenizers tokenized tokenization supercalifragilisticexpialidocious
`

// FTS5 itself is the judge of every stem.
func TestStemAgreesWithFTS5(t *testing.T) {
	x := newIndex(t)
	list := strings.Fields(words)
	list = append(list, strings.Repeat("a", 62)+"s", strings.Repeat("b", 63)+"s", strings.Repeat("b", 64)+"s")
	suffixes := []string{"s", "es", "ed", "ing", "ies", "y", "e", "ll", "eed"}
	for _, step := range [][]rule{step2[:], step3[:], step4[:]} {
		for _, r := range step {
			suffixes = append(suffixes, r.suffix)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aeiouybcdlstzwxnmrkв漢é7")
	for range 6000 {
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		for range rng.IntN(3) {
			b.WriteString(suffixes[rng.IntN(len(suffixes))])
		}
		if w := b.String(); w != "" {
			list = append(list, w)
		}
	}
	want := x.tokens(strings.Join(list, " "))
	if len(want) != len(list) {
		t.Fatalf("%d words, %d tokens", len(list), len(want))
	}
	var raw tokenList
	for i, w := range list {
		raw.tokenise(w)
		if got := string(stem(raw.next())); got != want[i] {
			t.Errorf("%q: stem %q, FTS5 makes %q", w, got, want[i])
		}
	}
}

// Raw tokens must agree on any bytes, malformed ones included.
func TestRawTokensAgreeWithFTS5(t *testing.T) {
	x := newIndex(t)
	texts := []string{
		"it's a don't-care: O'Neill's “quoted”—dash", "a\x00b c\x00", "\xff\xfe\xc3", "caf\xc3\xa9\x80\x80 x",
		"\xed\xa0\xbd\xed\xb8\x80 surrogates", "\xaa\xb5 stray \xb2", "\xf8\x88\x80\x80\x80 \xfc\x84\x80\x80\x80\x80 \xfd\xbf\xbf\xbf\xbf\xbf",
		"\xc0\x80 \xc1\xbf \xe0\x80\x80 overlong", "हिन्दी ภาษาไทย ខ្មែរ မြန်မာ", "e\u0301a\u0323o\u0338u \u0301x", "🚀 x🤖y 👍🏽", "か\u3099き",
		"\U000F0000\U00100000\U0010FFFF \uFFFE\uFFFF\uE000",
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := make([]byte, rng.IntN(40))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		var raw tokenList
		raw.tokenise(text)
		var got []string
		for token := raw.next(); token != nil; token = raw.next() {
			got = append(got, string(stem(append([]byte(nil), token...))))
		}
		want := x.tokens(text)
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q: tokens %q, FTS5 makes %q", text, got, want)
		}
	}
}
