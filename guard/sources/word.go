package sources

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// findWord finds an anchor in a text of no form that memd knows: as a whole
// word; else, where it is a path such as scripts.test or /paths/users, its parts
// one after the other; else as the slug of a line, which is how a title is cited.
// Its section is the paragraph around it.
func findWord(text, anchor string) (at, end int, ok bool) {
	at = wordIn(text, anchor, 0)
	if at < 0 {
		at = partsIn(text, anchor)
	}
	if at < 0 {
		at = titleIn(text, anchor)
	}
	if at < 0 {
		return 0, 0, false
	}
	at, end = paragraph(text, at)
	return at, end, true
}

// wordIn returns where word stands whole in text, from a byte on, -1 if nowhere.
func wordIn(text, word string, from int) int {
	for from <= len(text) {
		n := strings.Index(text[from:], word)
		if n < 0 {
			return -1
		}
		at := from + n
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		if !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after)) {
			return at
		}
		from = at + 1
	}
	return -1
}

// inWord reports whether r goes on a word. Between characters that are written
// without spaces there is no telling, so each is a word.
func inWord(r rune) bool {
	return (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// partsIn returns where the last part of a path of words stands in text, after
// the others.
func partsIn(text, anchor string) int {
	parts := strings.FieldsFunc(anchor, func(r rune) bool { return r == '.' || r == '/' })
	if len(parts) == 0 || len(parts) == 1 && parts[0] == anchor {
		return -1
	}
	at := 0
	for n, part := range parts {
		if n > 0 {
			at += len(parts[n-1])
		}
		if at = wordIn(text, part, at); at < 0 {
			return -1
		}
	}
	return at
}

// titleIn returns where the line begins whose slug is the anchor.
func titleIn(text, anchor string) int {
	const marks = "-_"
	anchor = strings.Trim(slug(anchor), marks)
	if anchor == "" {
		return -1
	}
	at := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if strings.Trim(slug(strings.TrimSpace(line)), marks) == anchor {
			return at
		}
		at += len(line)
	}
	return -1
}

// paragraph is what stands between the blank lines around the byte at.
func paragraph(text string, at int) (start, end int) {
	start, end = lineStart(text, at), lineEnd(text, at)
	for start > 0 {
		before := lineStart(text, start-1)
		if strings.TrimSpace(text[before:start]) == "" {
			break
		}
		start = before
	}
	for end < len(text) {
		after := lineEnd(text, end)
		if strings.TrimSpace(text[end:after]) == "" {
			break
		}
		end = after
	}
	return start, end
}
