package secrets

import (
	"strings"
	"unicode/utf8"

	"memd/guard/reading"
)

// maxDecode is how many encodings may lie around a secret.
const maxDecode = 2

// view is a text as rules read it.
type view struct{ reading.Text }

// views are the ways in which text is read: as it stands, folded; what stands
// around a break, without it; and what is encoded, decoded.
func (r *rules) views(text string) []view {
	folded, invisible := reading.Fold(text, "", r.mark)
	first := view{folded}
	all := []view{first}
	if invisible {
		// A character that is not seen may stand in a token or between two.
		spaced, _ := reading.Fold(text, " ", r.mark)
		all = append(all, view{spaced})
	}
	if joined, ok := first.joined(); ok {
		all = append(all, joined)
	}
	if spliced, ok := first.spliced(); ok {
		all = append(all, spliced)
	}
	if cells, ok := first.cells(); ok {
		all = append(all, cells)
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

// inToken holds the bytes that tokens are made of.
func inToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+/_=-.~", c) >= 0
}

// joined is what stands around the breaks that part a token: the words at both
// sides, or more of them, with what comes before them in their line. It is
// false without any.
func (v view) joined() (view, bool) {
	b := reading.Builder{Of: v.Text}
	for at := 0; ; {
		i := strings.IndexByte(v.S[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		left, right := bounds(v.S, at-1)
		if right == 0 {
			continue
		}
		start := wordStart(v.S, left)
		end := wordEnd(v.S, right)
		if !worthJoining(v.S[start:left], v.S[right:end]) {
			continue
		}
		lineStart := strings.LastIndexByte(v.S[:start], '\n') + 1
		lineStart = max(lineStart, start-120)
		for lineStart < start && !utf8.RuneStart(v.S[lineStart]) {
			lineStart++
		}
		b.Keep(lineStart, left)
		for {
			b.Keep(right, end)
			if end >= len(v.S) || v.S[end] == ' ' {
				break
			}
			nl := strings.IndexByte(v.S[end:], '\n')
			if nl < 0 || nl > 4 {
				break
			}
			left, next := bounds(v.S, end+nl)
			if next == 0 || left != end || wordEnd(v.S, next)-next < 4 {
				break
			}
			right, end = next, wordEnd(v.S, next)
			at = right
		}
		b.Put("\n", max(end-1, 0), max(end, 1))
	}
	return view{b.Text()}, b.Len() > 0
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
// they are long, one of them is no word, and the second is none for sure.
func worthJoining(head, tail string) bool {
	odd := func(s string) bool { return strings.ContainsAny(s, "0123456789_") }
	word := strings.Trim(tail, digits) == tail && nameLike(tail)
	return len(head) >= 6 && len(tail) >= 4 && len(head)+len(tail) >= 20 && (odd(head) || odd(tail)) && !word
}

const (
	digits       = "0123456789"
	alphanumeric = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)
