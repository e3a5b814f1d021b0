package terms

import (
	"bytes"
	"unicode/utf8"
)

// Stemming: Porter's algorithm (M. F. Porter, "An algorithm for suffix
// stripping", 1980) in the variant of FTS5's porter tokenizer. It works on
// bytes, so every byte of a non-ASCII letter is a consonant; it leaves tokens
// under 3 or over 64 bytes alone; and it has "bli" and "logi" in step 2.
// github.com/blevesearch/go-porterstemmer counts code points instead and so
// differs on tokens such as "xoвing" and "straße".

const (
	minStemmed = 3
	maxStemmed = 64 // FTS5_PORTER_MAX_TOKEN
)

// rule replaces suffix by with.
type rule struct{ suffix, with string }

// The first rule whose suffix fits decides, whether or not its condition then
// holds; so a longer suffix stands before the shorter it ends in.
var (
	step2 = [...]rule{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"},
		{"izer", "ize"}, {"logi", "log"}, {"bli", "ble"}, {"alli", "al"}, {"entli", "ent"},
		{"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"},
		{"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
		{"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
	}
	step3 = [...]rule{
		{"ical", "ic"}, {"ness", ""}, {"icate", "ic"}, {"iciti", "ic"}, {"ful", ""},
		{"ative", ""}, {"alize", "al"},
	}
	step4 = [...]rule{
		{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""}, {"able", ""},
		{"ible", ""}, {"ant", ""}, {"ement", ""}, {"ment", ""}, {"ent", ""}, {"ion", ""},
		{"ou", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""},
	}
)

// stem returns the stem of a folded token. It works in place: the result
// shares b's memory and is never longer. The first byte never changes.
func stem(b []byte) []byte {
	if len(b) < minStemmed || len(b) > maxStemmed || !stems(b) {
		return b
	}
	b = pastOrGerund(plural(b))
	if n := len(b) - 1; b[n] == 'y' && hasVowel(b[:n]) {
		b[n] = 'i'
	}
	b = replace(b, step2[:], 0)
	b = replace(b, step3[:], 0)
	b = replace(b, step4[:], 1)
	return final(b)
}

// stems reports whether a token may have another stem than itself: every rule
// is about an ending of ASCII letters.
func stems(token []byte) bool { return token[len(token)-1] < utf8.RuneSelf }

// plural is step 1a.
func plural(b []byte) []byte {
	n := len(b)
	switch {
	case b[n-1] != 's' || b[n-2] == 's':
		return b
	case n > 4 && bytes.HasSuffix(b, []byte("sses")), n > 3 && bytes.HasSuffix(b, []byte("ies")):
		return b[:n-2]
	}
	return b[:n-1]
}

// pastOrGerund is step 1b.
func pastOrGerund(b []byte) []byte {
	n := len(b)
	switch {
	case n > 3 && bytes.HasSuffix(b, []byte("eed")):
		if measure(b[:n-3]) > 0 {
			return b[:n-1]
		}
		return b
	case n > 2 && bytes.HasSuffix(b, []byte("ed")) && hasVowel(b[:n-2]):
		b = b[:n-2]
	case n > 3 && bytes.HasSuffix(b, []byte("ing")) && hasVowel(b[:n-3]):
		b = b[:n-3]
	default:
		return b
	}
	n = len(b)
	if n > 2 {
		switch string(b[n-2:]) {
		case "at", "bl", "iz":
			return append(b, 'e')
		}
	}
	last := b[n-1]
	switch {
	case n > 1 && last == b[n-2] && !isVowel(last) && last != 'l' && last != 's' && last != 'z':
		return b[:n-1]
	case measure(b) == 1 && endsCVC(b):
		return append(b, 'e')
	}
	return b
}

// final is step 5.
func final(b []byte) []byte {
	if n := len(b) - 1; b[n] == 'e' {
		if m := measure(b[:n]); m > 1 || m == 1 && !endsCVC(b[:n]) {
			b = b[:n]
		}
	}
	if n := len(b) - 1; n > 0 && b[n] == 'l' && b[n-1] == 'l' && measure(b[:n]) > 1 {
		b = b[:n]
	}
	return b
}

// replace applies the first rule that fits b, if what remains before the
// suffix measures more than over. Before "ion" it must also end in s or t.
func replace(b []byte, rules []rule, over int) []byte {
	for _, r := range rules {
		n := len(b) - len(r.suffix)
		if n <= 0 || string(b[n:]) != r.suffix {
			continue
		}
		if measure(b[:n]) > over && (r.suffix != "ion" || b[n-1] == 's' || b[n-1] == 't') {
			return append(b[:n], r.with...)
		}
		return b
	}
	return b
}

func isVowel(c byte) bool {
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'
}

// consonant reports whether c is one, after a consonant or not: y is a vowel
// after a consonant.
func consonant(c byte, afterConsonant bool) bool {
	return !isVowel(c) && !(afterConsonant && c == 'y')
}

// measure counts the vowel-consonant sequences of b, Porter's m.
func measure(b []byte) int {
	m, cons, vowel := 0, false, false
	for _, c := range b {
		cons = consonant(c, cons)
		if cons && vowel {
			m++
		}
		vowel = !cons
	}
	return m
}

// hasVowel is Porter's *v*.
func hasVowel(b []byte) bool {
	for i, c := range b {
		if !consonant(c, i > 0) {
			return true
		}
	}
	return false
}

// endsCVC is Porter's *o: b ends consonant-vowel-consonant, the last not w, x or y.
func endsCVC(b []byte) bool {
	n := len(b)
	if n < 3 || b[n-1] == 'w' || b[n-1] == 'x' || b[n-1] == 'y' {
		return false
	}
	var last [3]bool
	cons := false
	for _, c := range b {
		cons = consonant(c, cons)
		last = [3]bool{last[1], last[2], cons}
	}
	return last == [3]bool{true, false, true}
}
