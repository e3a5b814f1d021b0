// Package terms turns text into index terms, once for the index and for the
// query, so that both always agree.
//
// The keyword index is an FTS5 table over the raw text columns and one more,
// seg, with the tokenizer "porter unicode61 remove_diacritics 2". SQLite
// tokenises the raw columns itself, so a hand edit is indexed at once. [Segment]
// computes seg: the tokens unicode61 cannot make, which are
//
//   - characters and overlapping bigrams of scripts written without spaces
//     (Han, kana, Hangul, Thai, Lao, Khmer, Myanmar), and words glued to them;
//   - words in their NFKC form, where the raw text holds another (full-width
//     letters, ligatures, half-width kana);
//   - identifiers kept whole (test-all as testall, C++ as cplusplus), and the
//     humps of camelCase ones;
//   - emoji and other symbols by code point (u1f680).
//
// [Query] makes the terms of a query, which match either kind of token, and
// [Counter] counts them in a text exactly as the index holds them: raw tokens
// and seg tokens together. [Indexer] emits all terms of a text, as often.
//
// Every function takes any bytes as data, never panics, and runs in time
// linear in its input. Nothing here touches a database.
package terms

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Term is one index term in the form it has in the index: folded and stemmed.
type Term struct {
	Text  string // as the index holds it, for vocabulary look-ups and for Counter
	Match string // an FTS5 expression: one quoted string, safe to hand to MATCH
	Stop  bool   // a stop word, English or Chinese; every occurrence in the query is
	Whole bool   // an identifier kept whole: E_SIG_47, test-all, src/api/x.go, GB/s
	Part  bool   // occurs in the query only as a part of an identifier
	Char  bool   // occurs in the query only as one character of a longer run of an unspaced script
}

const (
	// maxToken bounds a seg token, in bytes. Longer ones are left to FTS5's
	// own tokenizer.
	maxToken = 64
	// maxWord bounds a query term, in bytes before stemming.
	maxWord = 256
)

// Fold returns s in the form in which keys, tags and substrings are compared:
// NFKC, which also evens out width, and case-folded. Diacritics stay.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	// Folding can undo composition, hence NFKC again (UAX #15, NFKC_Casefold).
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
