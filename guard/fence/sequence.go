package fence

import (
	"strings"
	"unicode/utf8"
)

const esc = 0x1B

// sequence is the length of what s begins with that steers a terminal (ECMA-48,
// xterm), 0 for none. Of one that does not end it is the first character alone:
// then the rest is seen.
func sequence(s string) int {
	if s[0] != esc && s[0] != "\u009B"[0] {
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if r != esc {
		return introduced(s, n, r-'@') // where it is one character
	}
	if len(s) == n {
		return n
	}
	switch c := s[1]; {
	case ' ' <= c && c <= '/': // such as a choice of characters, ESC ( B
		if at := skip(s, 1, ' ', '/'); at < len(s) && '0' <= s[at] && s[at] <= '~' {
			return at + 1
		}
	case strings.IndexByte(`c78=>\`, c) >= 0:
		return 2
	default:
		if whole := introduced(s, 2, rune(c)); whole > 0 {
			return whole
		}
	}
	return n
}

// introduced is the length of a control sequence or control string whose
// introducer, of n bytes, is ESC and c or the one character for both; 0 for none.
func introduced(s string, n int, c rune) int {
	switch c {
	case '[':
		at := skip(s, n, '0', '?')
		at = skip(s, at, ' ', '/')
		if at < len(s) && '@' <= s[at] && s[at] <= '~' {
			return at + 1
		}
	case ']', 'P', 'X', '^', '_':
		return stringEnd(s, n)
	}
	return 0
}

// skip is the first index from at on whose byte is not from lo to hi.
func skip(s string, at int, lo, hi byte) int {
	for at < len(s) && lo <= s[at] && s[at] <= hi {
		at++
	}
	return at
}

// stringEnd is where a control string that begins at at has ended, 0 where another
// control character comes before its end.
func stringEnd(s string, at int) int {
	for i, r := range s[at:] {
		i += at
		switch {
		case r == '\a':
			return i + 1
		case r == '\u009C':
			return i + utf8.RuneLen(r)
		case r == esc && strings.HasPrefix(s[i+1:], `\`):
			return i + 2
		case r < ' ', 0x7F <= r && r < 0xA0:
			return 0
		}
	}
	return 0
}
