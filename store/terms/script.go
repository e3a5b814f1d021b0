package terms

import (
	"strconv"
	"unicode"
)

// wordRune reports whether r belongs to a word of normalised text: FTS5 keeps
// it, and it is no symbol, mark or punctuation that FTS5's older tables do not
// know as such.
func wordRune(r rune) bool {
	switch {
	case r < 0x80 || r > unicode.MaxRune || !tokenRune(r):
		return 0 <= r && r < 0x80 && isAlnum(byte(r))
	case unicode.IsLetter(r):
		return true
	}
	return !unicode.In(r, unicode.M, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) && !symbol(r)
}

// gramRune reports whether r is of a script written without spaces between
// words, which is indexed by characters and bigrams.
func gramRune(r rune) bool {
	if 0x4E00 <= r && r <= 0x9FFF { // Han, by far the commonest
		return true
	}
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, // Thai, Lao
		0x1000 <= r && r <= 0x109F,   // Myanmar
		0x1100 <= r && r <= 0x11FF,   // Hangul jamo
		0x1780 <= r && r <= 0x17FF,   // Khmer
		0x3005 <= r && r <= 0x3007,   // 々 〆 〇
		0x3021 <= r && r <= 0x3035,   // Hangzhou numerals, kana repeat marks
		0x3038 <= r && r <= 0x30FF,   // kana
		0x3105 <= r && r <= 0x31FF,   // Bopomofo, compatibility jamo, Ainu kana
		0x3400 <= r && r <= 0x9FFF,   // Han
		0xA960 <= r && r <= 0xA97F,   // Hangul jamo
		0xA9E0 <= r && r <= 0xA9FF,   // Myanmar
		0xAA60 <= r && r <= 0xAA7F,   // Myanmar
		0xAC00 <= r && r <= 0xD7FF,   // Hangul
		0xF900 <= r && r <= 0xFAFF,   // Han compatibility
		0x1AFF0 <= r && r <= 0x1B16F, // kana
		0x20000 <= r && r <= 0x3FFFD: // Han
		return wordRune(r)
	}
	return false
}

// symbol reports whether r is an emoji or other symbol to be indexed by its
// code point: category So, and the emoji planes as far as they are newer than
// Go's tables. Lines and blocks are drawings, not words.
func symbol(r rune) bool {
	switch {
	case r < 0xA0, 0x2500 <= r && r <= 0x259F, r == 0xFFFC, r == 0xFFFD:
		return false
	case 0x1F000 <= r && r <= 0x1FAFF:
		return !unicode.In(r, unicode.Sk, unicode.N)
	}
	return unicode.Is(unicode.So, r)
}

// appendSymbol appends the token of a symbol: "u" and its hexadecimal code.
func appendSymbol(b []byte, r rune) []byte {
	return strconv.AppendInt(append(b, 'u'), int64(r), 16)
}

// joint says what stands between two words.
type joint uint8

const (
	apart  joint = iota // nothing that makes an identifier of them
	weak                // _ - . as in test-all: a name
	strong              // / : # @ + as in src/api/x.go: a path of names
)

// jointOf is the joint r makes; full-width forms and the Unicode hyphens count
// as their ASCII likeness.
func jointOf(r rune) joint {
	if 0xFF01 <= r && r <= 0xFF5E {
		r -= 0xFEE0
	}
	switch r {
	case '_', '-', '.', '\u2010', '\u2011':
		return weak
	case '/', ':', '#', '@', '+':
		return strong
	}
	return apart
}
