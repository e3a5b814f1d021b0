package terms

import "slices"

// This file mirrors FTS5's unicode61 tokenizer with remove_diacritics=2, so
// that Go makes the very tokens SQLite makes of a raw column. Its two tables
// were read out of FTS5 itself; TestUnicode61Tables checks every code point
// and rewrites unicode61_table.go under -update.

// folds maps a code point to its lower-case form without diacritics.
var folds = func() map[rune]rune {
	m := make(map[rune]rune, len(foldPairs)/4)
	var from rune
	for _, r := range foldPairs {
		if from == 0 {
			from = r
			continue
		}
		m[from], from = r, 0
	}
	return m
}()

// decode reads the code point s starts with as FTS5 does (its READ_UTF8),
// which differs from Go on malformed bytes: a stray continuation byte stands
// for itself, a lead byte takes every continuation byte that follows, and the
// result may lie beyond Unicode. s is not empty.
func decode(s string) (r rune, size int) {
	c, size := uint32(s[0]), 1
	if c < 0xC0 {
		return rune(c), size
	}
	switch {
	case c < 0xE0:
		c &= 0x1F
	case c < 0xF0:
		c &= 0x0F
	case c < 0xF8:
		c &= 0x07
	case c < 0xFC:
		c &= 0x03
	case c == 0xFD:
		c = 1
	default:
		c = 0
	}
	for size < len(s) && s[size]&0xC0 == 0x80 {
		c = c<<6 | uint32(s[size]&0x3F)
		size++
	}
	if c < 0x80 || c&0xFFFFF800 == 0xD800 || c&0xFFFFFFFE == 0xFFFE {
		c = 0xFFFD
	}
	return rune(c), size
}

// tokenRune reports whether unicode61 takes r into a token: letters, numbers,
// private use, and whatever was unassigned when its tables were made, newer
// emoji among it.
func tokenRune(r rune) bool {
	switch {
	case 0 <= r && r < 0x80:
		return isAlnum(byte(r))
	case 0x4E00 <= r && r <= 0x9FFF, 0xAC00 <= r && r <= 0xD7A3: // most CJK, without a search
		return true
	}
	i, found := slices.BinarySearch(separators[:], r)
	if found {
		i++
	}
	return i%2 == 0
}

// diacritic reports whether unicode61 drops r inside a token. All other
// combining marks split tokens.
func diacritic(r rune) bool {
	const low, high = 0x08029FDF, 0x000361F8 // bit i: U+0300+i, U+0320+i
	switch {
	case 0x300 <= r && r < 0x320:
		return low>>(r-0x300)&1 != 0
	case 0x320 <= r && r <= 0x331:
		return high>>(r-0x320)&1 != 0
	}
	return false
}

// appendFolded appends r, a token rune or a diacritic, as the index holds it.
func appendFolded(b []byte, r rune) []byte {
	switch {
	case 'A' <= r && r <= 'Z':
		return append(b, byte(r)|0x20)
	case 0 <= r && r < 0x80:
		return append(b, byte(r))
	case diacritic(r):
		return b
	}
	if r < 0x2E80 || r >= 0xA640 { // nothing folds between: most CJK
		if f, ok := folds[r]; ok {
			r = f
		}
	}
	switch {
	case 0 <= r && r < 0x80:
		return append(b, byte(r))
	case 0 <= r && r < 0x800:
		return append(b, 0xC0|byte(r>>6), 0x80|byte(r&0x3F))
	case 0 <= r && r < 0x10000:
		return append(b, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	// Also for what decode reads beyond Unicode: FTS5 cuts it to four bytes.
	return append(b, 0xF0|byte(r>>18&7), 0x80|byte(r>>12&0x3F), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
}

func isAlnum(b byte) bool { return isLower(b) || isUpper(b) || '0' <= b && b <= '9' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
