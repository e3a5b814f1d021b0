package static

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold appends the form under which a word of a text and one of a table are
// the same: compatibility forms resolved, lower case, one kind of apostrophe
// and of sigma. Accents stay, since tables tell résumé from resume.
func fold(dst []byte, word string) []byte {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return foldUnicode(dst, word)
		}
	}
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func foldUnicode(dst []byte, word string) []byte {
	var lower []byte
	for _, r := range norm.NFKC.String(word) {
		switch r {
		case '’':
			r = '\''
		case 'ς':
			r = 'σ'
		default:
			r = unicode.ToLower(r)
		}
		lower = utf8.AppendRune(lower, r)
	}
	// A capital may have no composed form where its small letter has one.
	return norm.NFC.Append(dst, lower...)
}

// class is what a character does to the words of a text.
type class uint8

const (
	gap      class = iota // keeps words apart
	letter                // belongs to a word
	joiner                // belongs to a word between two letters
	unspaced              // is of a script without spaces between words
	symbol                // is a word by itself, as emoji are
)

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return letter
		case r == '\'', r == '-', r == '_', r == '.', r == '/':
			return joiner
		}
		return gap
	}
	switch {
	case r == '’', r == '‑', r == '·':
		return joiner
	case r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar),
		r == 'ー', r == 'ｰ':
		return unspaced
	case unicode.In(r, unicode.L, unicode.N, unicode.M):
		return letter
	case unicode.Is(unicode.So, r):
		return symbol
	}
	return gap
}
