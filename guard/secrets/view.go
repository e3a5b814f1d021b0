package secrets

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// taken stands in a view where Redact took a secret out. It is no letter of any
// secret, so that what is on both sides of it is never one.
const taken = '\uFFFC'

// maxDecode is how many encodings may lie around a secret.
const maxDecode = 2

// view is a text as rules read it, and where each byte of it came from. In one
// without places the bytes are those of the text as it was given.
type view struct {
	text     string
	from, to []int32 // of the runes of the given text that made each byte
}

// original is the range of the given text that made text[start:end]. It is
// false for an empty one.
func (v view) original(start, end int) (int, int, bool) {
	if start >= end {
		return 0, 0, false
	}
	if v.from == nil {
		for start > 0 && !utf8.RuneStart(v.text[start]) {
			start--
		}
		for end < len(v.text) && !utf8.RuneStart(v.text[end]) {
			end++
		}
		return start, end, true
	}
	// Joined and decoded pieces stand in order, so the first and the last byte
	// bound the rest.
	from, to := int(v.from[start]), int(v.to[end-1])
	return from, to, from < to
}

// views are the ways in which text is read: as it stands, folded; what stands
// around a break, without it; and what is encoded, decoded.
func (r *rules) views(text string) []view {
	first, invisible := r.fold(text, "")
	all := []view{first}
	if invisible {
		// A character that is not seen may stand in a token or between two.
		spaced, _ := r.fold(text, " ")
		all = append(all, spaced)
	}
	if joined, ok := first.joined(); ok {
		all = append(all, joined)
	}
	for done, depth := 0, 0; depth < maxDecode; depth++ {
		upTo := len(all)
		for _, v := range all[done:upTo] {
			if decoded, ok := v.decoded(); ok {
				all = append(all, decoded)
			}
		}
		done = upTo
	}
	return all
}

// builder makes a view.
type builder struct {
	of       view
	text     []byte
	from, to []int32
}

// put appends text, made by the bytes start to end of the view before.
func (b *builder) put(text string, start, end int) {
	from, to := int32(start), int32(end)
	if b.of.from != nil {
		from, to = b.of.from[start], b.of.to[end-1]
	}
	b.text = append(b.text, text...)
	for range len(text) {
		b.from = append(b.from, from)
		b.to = append(b.to, to)
	}
}

// keep appends the bytes start to end as they are.
func (b *builder) keep(start, end int) {
	b.text = append(b.text, b.of.text[start:end]...)
	if b.of.from != nil {
		b.from = append(b.from, b.of.from[start:end]...)
		b.to = append(b.to, b.of.to[start:end]...)
		return
	}
	for at := start; at < end; {
		_, size := utf8.DecodeRuneInString(b.of.text[at:end])
		for range size {
			b.from = append(b.from, int32(at))
			b.to = append(b.to, int32(at+size))
		}
		at += size
	}
}

func (b *builder) view() view { return view{string(b.text), b.from, b.to} }

// fold writes compatible characters as plain ones (NFKC, rune by rune), puts
// between in the place of invisible ones, and taken in that of each mark of a
// redaction. It tells whether there was an invisible one.
func (r *rules) fold(text, between string) (folded view, invisible bool) {
	if plain(text) && !strings.Contains(text, markOpen) {
		return view{text: text}, false
	}
	b := builder{of: view{text: text}}
	b.text = make([]byte, 0, len(text))
	b.from, b.to = make([]int32, 0, len(text)), make([]int32, 0, len(text))
	for at := 0; at < len(text); {
		if n := r.mark(text[at:]); n > 0 {
			b.put(string(taken), at, at+n)
			at += n
			continue
		}
		c, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case c < utf8.RuneSelf:
			b.put(text[at:at+1], at, at+1)
		case unseen(c):
			b.put(between, at, at+size)
			invisible = true
		case c > 0xFF00 && c < 0xFF5F: // the full-width forms of ASCII
			b.put(string(c-0xFEE0), at, at+size)
		case c >= 0x4E00 && c <= 0x9FFF || c == utf8.RuneError: // most of Chinese stays as it is
			b.put(text[at:at+size], at, at+size)
		default:
			b.put(norm.NFKC.String(text[at:at+size]), at, at+size)
		}
		at += size
	}
	return b.view(), invisible
}

// plain reports whether text is ASCII.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unseen reports whether a character is not seen where it stands: joiners,
// directions, variation selectors, the soft hyphen.
func unseen(c rune) bool {
	if c >= 0x2E80 && c < 0xFB00 { // CJK
		return false
	}
	return unicode.In(c, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// inToken holds the bytes that tokens are made of.
func inToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+/_=-.~", c) >= 0
}

// joined is what stands around the breaks that part a token: the words at both
// sides, or more of them, with what comes before them in their line. It is
// false without any.
func (v view) joined() (view, bool) {
	b := builder{of: v}
	for at := 0; ; {
		i := strings.IndexByte(v.text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		left, right := bounds(v.text, at-1)
		if right == 0 {
			continue
		}
		start := wordStart(v.text, left)
		end := wordEnd(v.text, right)
		if !worthJoining(v.text[start:left], v.text[right:end]) {
			continue
		}
		lineStart := strings.LastIndexByte(v.text[:start], '\n') + 1
		lineStart = max(lineStart, start-120)
		for lineStart < start && !utf8.RuneStart(v.text[lineStart]) {
			lineStart++
		}
		b.keep(lineStart, left)
		for {
			b.keep(right, end)
			if end >= len(v.text) || v.text[end] == ' ' {
				break
			}
			nl := strings.IndexByte(v.text[end:], '\n')
			if nl < 0 || nl > 4 {
				break
			}
			left, next := bounds(v.text, end+nl)
			if next == 0 || left != end {
				break
			}
			right, end = next, wordEnd(v.text, next)
			at = right
		}
		b.put("\n", max(end-1, 0), max(end, 1))
	}
	return b.view(), len(b.text) > 0
}

// bounds are where the token before the break at nl ends and the one after it
// begins, past quotes, a plus or a backslash, and what indents; right is 0
// where no token stands at both sides.
func bounds(text string, nl int) (left, right int) {
	const quotes = "\"'`"
	left = len(strings.TrimRight(text[:nl], quotes+"+\\ \t\r"))
	right = len(text) - len(strings.TrimLeft(text[nl+1:], quotes+"+ \t\r.&>|#*"))
	if left == 0 || right >= len(text) || !inToken(text[left-1]) || !inToken(text[right]) {
		return 0, 0
	}
	if strings.ContainsAny(text[left:nl], quotes) != strings.ContainsAny(text[nl:right], quotes) {
		return 0, 0 // a string ends, or begins, and does not go on
	}
	return left, right
}

func wordStart(text string, end int) int {
	for end > 0 && inToken(text[end-1]) {
		end--
	}
	return end
}

func wordEnd(text string, start int) int {
	for start < len(text) && inToken(text[start]) {
		start++
	}
	return start
}

// worthJoining tells a token that was parted from two words of prose: together
// they are long, and one of them is no word.
func worthJoining(head, tail string) bool {
	odd := func(s string) bool { return strings.ContainsAny(s, "0123456789_") && len(s) >= 4 }
	return len(head)+len(tail) >= 20 && (odd(head) || odd(tail)) && len(head) >= 4
}
