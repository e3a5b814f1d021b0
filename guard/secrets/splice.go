package secrets

import (
	"strings"

	"memd/guard/reading"
)

// spliced is the lines of v in which strings are put together of several, or
// go on behind a backslash, with what parts them left out: "a" + "b", 'a' . 'b'
// and a\ with b in the next line become ab. It is false without any.
func (v view) spliced() (view, bool) {
	b := reading.Builder{Of: v.Text}
	kept := 0 // up to where v was copied
	for at := 0; at < len(v.S); {
		i := strings.IndexAny(v.S[at:], "\"'`\\")
		if i < 0 {
			break
		}
		start := at + i
		end := seam(v.S, start)
		if end < 0 {
			at = start + 1
			continue
		}
		line := kept + strings.LastIndexByte(v.S[kept:start], '\n') + 1
		b.Keep(line, start)
		kept, at = end, end
	}
	if kept == 0 {
		return view{}, false
	}
	rest := strings.IndexByte(v.S[kept:], '\n')
	if rest < 0 {
		rest = len(v.S) - kept
	}
	b.Keep(kept, kept+rest)
	return view{b.Text()}, true
}

// maxSeam is how much stands between two strings that are put together at most,
// in bytes.
const maxSeam = 60

// seam is where the string goes on that ends, or breaks off, at at; -1 where it
// does not.
func seam(text string, at int) int {
	rest := text[at+1 : min(len(text), at+maxSeam)]
	after := strings.TrimLeft(rest, " \t\r")
	if text[at] == '\\' {
		if at == 0 || text[at-1] <= ' ' || !strings.HasPrefix(after, "\n") {
			return -1 // a command goes on with another word
		}
		return at + 1 + len(rest) - len(strings.TrimLeft(after, " \t\r\n"))
	}
	after = strings.TrimLeft(rest, " \t\r\n\\")
	operator := 0
	for _, o := range []string{"+", "..", ".", "&", "||", "~", "<>", "++"} {
		if strings.HasPrefix(after, o) {
			operator = len(o)
			break
		}
	}
	joined := strings.TrimLeft(after[operator:], " \t\r\n\\")
	if operator == 0 && !strings.Contains(rest[:len(rest)-len(after)], "\n") {
		return -1
	}
	if joined == "" || joined[0] != text[at] && (operator == 0 || strings.IndexByte("\"'`", joined[0]) < 0) {
		return -1
	}
	// Of an opening quote the string before it is empty, and of a closing one not.
	if at == 0 || text[at-1] <= ' ' || text[at-1] == '=' || text[at-1] == '(' {
		return -1
	}
	return at + 1 + len(rest) - len(joined) + 1
}
