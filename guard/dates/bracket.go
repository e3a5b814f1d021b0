package dates

import "strings"

// The form of what is put beside words: a day, a month, a year, or two days, as
// ISO 8601 has them.
//
//	Thursday (2026-12-03)    last month (2026-10)    next week (2026-12-07 to 2026-12-13)
//	周四（2026-12-03）        上个月（2026-10）         下周（2026-12-07 至 2026-12-13）
const (
	englishTo = " to "
	chineseTo = " 至 "
)

// written is a date, of two days where last is not "", in brackets as they stand
// behind a text that ends with a Chinese character, or another.
func written(first, last string, chinese bool) string {
	switch {
	case chinese && last != "":
		return "（" + first + chineseTo + last + "）"
	case chinese:
		return "（" + first + "）"
	case last != "":
		return " (" + first + englishTo + last + ")"
	}
	return " (" + first + ")"
}

// bracketed is how long a date in brackets is at the beginning of a text, 0 for none.
func bracketed(text string) int {
	rest := text
	switch {
	case strings.HasPrefix(rest, "("):
		rest = rest[1:]
	case strings.HasPrefix(rest, "（"):
		rest = rest[len("（"):]
	default:
		return 0
	}
	n := isoLen(rest)
	if n == 0 {
		return 0
	}
	rest = rest[n:]
	for _, between := range []string{englishTo, chineseTo, "/"} {
		if after, ok := strings.CutPrefix(rest, between); ok {
			if n = isoLen(after); n == 0 {
				return 0
			}
			rest = after[n:]
			break
		}
	}
	switch {
	case strings.HasPrefix(rest, ")"):
		rest = rest[1:]
	case strings.HasPrefix(rest, "）"):
		rest = rest[len("）"):]
	default:
		return 0
	}
	return len(text) - len(rest)
}

// isoLen is how long 2026, 2026-12 or 2026-12-03 is at the beginning of a text, 0
// where there is none.
func isoLen(text string) int {
	const form = "dddd-dd-dd"
	n := 0
	for n < len(form) && n < len(text) {
		digit := text[n] >= '0' && text[n] <= '9'
		if digit != (form[n] == 'd') || !digit && text[n] != '-' {
			break
		}
		n++
	}
	switch {
	case n < 4 || text[0] != '1' && text[0] != '2':
		return 0
	case n >= len(form):
		return len(form)
	case n >= len("dddd-dd"):
		return len("dddd-dd")
	}
	return 4
}

// Bare is a text without any date in brackets. Two texts that differ in those alone
// have the same; it costs little, and says nothing of where they stood.
func Bare(text string) string {
	if !strings.ContainsAny(text, "(（") {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		n := 0
		if text[at] == '(' || strings.HasPrefix(text[at:], "（") {
			n = bracketed(text[at:])
		} else if text[at] == ' ' && at+1 < len(text) {
			if n = bracketed(text[at+1:]); n > 0 {
				n++
			}
		}
		if n == 0 {
			b.WriteByte(text[at])
			n = 1
		}
		at += n
	}
	return b.String()
}
