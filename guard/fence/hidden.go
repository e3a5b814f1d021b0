package fence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readable is s without what shows nothing, reorders text or steers a terminal, with
// a line feed for each line ending, and with U+FFFD for each byte that is no UTF-8.
func readable(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	var last rune
	for s != "" {
		if n := lineEnding(s); n > 0 {
			b.WriteByte('\n')
			last, s = '\n', s[n:]
			continue
		}
		if n := sequence(s); n > 0 {
			s = s[n:]
			continue
		}
		n, r := character(last, s)
		if r >= 0 {
			b.WriteString(strings.ToValidUTF8(s[:n], "\uFFFD"))
			last = r
		}
		s = s[n:]
	}
	return b.String()
}

// Shown is s for a terminal: what readable takes out stands there by its number, so
// that whoever looks sees that it is there.
func Shown(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	var last rune
	for s != "" {
		n, r := character(last, s)
		if r < 0 {
			hidden, _ := utf8.DecodeRuneInString(s)
			fmt.Fprintf(&b, "<U+%04X>", hidden)
		} else {
			b.WriteString(strings.ToValidUTF8(s[:n], "\uFFFD"))
			last = r
		}
		s = s[n:]
	}
	return b.String()
}

// plainASCII reports whether s is of graphic ASCII characters, tabs and line feeds.
func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// lineEnding is the length of the line ending that s begins with, 0 for none
// (Unicode's newline guidelines, section 5.8).
func lineEnding(s string) int {
	if c := s[0]; c > '\r' && c != "\u0085"[0] && c != "\u2028"[0] {
		return 0
	}
	for _, end := range [...]string{"\r\n", "\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"} {
		if strings.HasPrefix(s, end) {
			return len(end)
		}
	}
	return 0
}

// character is the first character of s after last: its length, and the rune that
// the next one stands beside, -1 where it shows nothing there.
func character(last rune, s string) (n int, r rune) {
	r, n = utf8.DecodeRuneInString(s)
	switch {
	case common(r):
		return n, r
	case r == '\n' || r == '\t' || r == utf8.RuneError:
		return n, r
	case r == blackFlag:
		return n + flagTags(s[n:]), r
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point), unicode.Is(unicode.Bidi_Control, r):
		return n, -1
	case unicode.In(r, unicode.Mn, unicode.Me) && unicode.Is(unicode.Inherited, r) && !ignorable(r):
		return n, last // a mark of no script leaves the letter what it is
	case !ignorable(r):
		return n, r
	}
	next, size := utf8.DecodeRuneInString(s[n:])
	if size == 0 {
		next = 0 // the end, which is no character
	}
	if belongs(last, r, next) {
		return n, r
	}
	return n, -1
}

// ignorable reports whether r shows nothing by itself: Unicode's default ignorable
// characters, and what only formats.
func ignorable(r rune) bool {
	return !common(r) && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) && // visible signs above numbers
		(r < 0x13430 || r > 0x1343F) // which place hieroglyphs
}

// common reports whether r is one of the characters that most texts are made of,
// all of which show by themselves.
func common(r rune) bool {
	return ' ' <= r && r <= '~' || 0xC0 <= r && r <= 0x24F || 0x3001 <= r && r <= 0x30FF || 0x3400 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3 ||
		0xFF01 <= r && r <= 0xFF5E
}

const (
	zwnj, zwj = '\u200C', '\u200D'
	textStyle = '\uFE0E'
	emoji     = '\uFE0F'
	keycap    = '\u20E3'
	blackFlag = '\U0001F3F4'
	cancelTag = '\U000E007F'
)

// belongs reports whether an ignorable character does its work between last, which
// is shown, and next: one joiner after a letter of a script that needs them or
// between two emoji, one variation selector after a character that has variants.
// More of them at one place carry what no reader sees.
func belongs(last, r, next rune) bool {
	switch {
	case r == zwj && (pictographic(last) || last == emoji):
		return pictographic(next)
	case r == zwj, r == zwnj:
		return unicode.In(last, joining...)
	case r == emoji && (last == '#' || last == '*' || '0' <= last && last <= '9'):
		return next == keycap
	case r == emoji, r == textStyle:
		return pictographic(last) || unicode.In(last, unicode.Sm, unicode.Sk) && last > unicode.MaxASCII || strings.ContainsRune("‼⁉ℹ〰", last)
	case 0xFE00 <= r && r <= 0xFE06: // standardised variants
		return last > unicode.MaxASCII && unicode.In(last, unicode.L, unicode.S, unicode.P)
	case 0xE0100 <= r && r <= 0xE011F: // those of the ideographic variation database
		return unicode.Is(unicode.Han, last)
	case unicode.Is(unicode.Mongolian, r), r == '\u180E':
		return unicode.Is(unicode.Mongolian, last) && !ignorable(last)
	}
	return false
}

// joining are the scripts in which a joiner changes what is seen. Their marks are
// among them; those that they share, and the joiners, are of no script.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Javanese,
	unicode.Balinese,
}

// pictographic reports whether r may be part of an emoji: a symbol, a skin tone, or
// what a later Unicode has where the emoji stand.
func pictographic(r rune) bool {
	return unicode.Is(unicode.So, r) || 0x1F000 <= r && r <= 0x1FAFF || r == '↔'
}

// flagTags is the length of the tags that make a black flag that of a part of a
// country. There are three such flags; any other tags are a text that nobody sees.
func flagTags(s string) int {
	for _, part := range [...]string{"gbeng", "gbsct", "gbwls"} {
		tags := strings.Map(func(r rune) rune { return 0xE0000 + r }, part) + string(cancelTag)
		if strings.HasPrefix(s, tags) {
			return len(tags)
		}
	}
	return 0
}
