// Package personal finds numbers and addresses of people in texts: payment
// cards, Chinese resident identity numbers, IBANs, e-mail addresses and
// telephone numbers.
//
// What has a check digit is found by it. The rest is found by how it is written,
// and by a word near it that says what it is.
package personal

import (
	"cmp"
	"slices"
	"strings"

	"memd/guard/reading"
)

// Kind is a kind of personal data.
type Kind string

// The kinds there are.
const (
	Card  Kind = "card"
	ID    Kind = "cn-id"
	IBAN  Kind = "iban"
	Email Kind = "email"
	Phone Kind = "phone"
)

// Finding is personal data in a text.
type Finding struct {
	Kind       Kind
	Start, End int // in bytes of the text as it was given, on the bounds of runes
	// Sure is false for a number that may be another one: its digits fit, and no
	// word near it says what it is. It is worth a warning, and is no ground to
	// refuse or to change a text.
	Sure bool
}

// Scan returns the personal data in text, in the order in which it stands, and
// none that overlaps another. Full-width characters and invisible ones in
// between hide nothing.
func Scan(text string) []Finding {
	folded, _ := reading.Fold(text, "", func(string) int { return 0 })
	var all []Finding
	for _, find := range []func(string) []Finding{cards, ids, ibans, emails, phones} {
		for _, f := range find(folded.S) {
			if start, end, ok := folded.Original(f.Start, f.End); ok {
				all = append(all, Finding{f.Kind, start, end, f.Sure})
			}
		}
	}
	return apart(all)
}

// apart keeps of findings that overlap the sure one, then the long one, and
// returns what is left in order.
func apart(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	var kept []Finding
	for len(all) > 0 {
		n, end := 1, all[0].End // a run of findings that hang together
		for ; n < len(all) && all[n].Start < end; n++ {
			end = max(end, all[n].End)
		}
		kept = append(kept, best(all[:n])...)
		all = all[n:]
	}
	return kept
}

// best are those of a run that are left when each has shut out what overlaps it,
// in order.
func best(run []Finding) []Finding {
	slices.SortStableFunc(run, func(a, b Finding) int {
		if a.Sure != b.Sure {
			if a.Sure {
				return -1
			}
			return 1
		}
		return (b.End - b.Start) - (a.End - a.Start)
	})
	var kept []Finding
	for _, f := range run {
		if !slices.ContainsFunc(kept, func(k Finding) bool { return f.Start < k.End && k.Start < f.End }) {
			kept = append(kept, f)
		}
	}
	slices.SortFunc(kept, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	return kept
}

// Redact returns text with "[redacted:kind]" in the place of each finding, which
// are in order and do not overlap, as Scan returns them. Which to take out, and
// whether those that are not sure, is for the caller.
func Redact(text string, findings []Finding) string {
	var b strings.Builder
	kept := 0
	for _, f := range findings {
		b.WriteString(text[kept:f.Start])
		b.WriteString("[redacted:" + string(f.Kind) + "]")
		kept = f.End
	}
	b.WriteString(text[kept:])
	return b.String()
}

// number is a run of digits, with what may stand between them, in a text.
type number struct {
	start, end int
	digits     string // without what stands between
	groups     []int  // how many digits stand between two separators
	separators string // of it, in order
}

// maxGroups is how many separators of a number are kept: more than any that is
// looked for has, so that a table of digits costs no more than its length.
const maxGroups = 16

// numbers are the runs of digits of text that are parted by at most one of
// between, and that no letter, digit or part of a name stands beside.
func numbers(text, between string, least int) []number {
	var all []number
	for at := 0; at < len(text); {
		if !isDigit(text[at]) {
			at++
			continue
		}
		n := number{start: at}
		var digits strings.Builder
		group := 0
		end := at
		for end < len(text) {
			switch {
			case isDigit(text[end]):
				digits.WriteByte(text[end])
				group++
				end++
				continue
			case end+1 < len(text) && isDigit(text[end+1]) && strings.IndexByte(between, text[end]) >= 0:
				if len(n.groups) < maxGroups {
					n.separators += text[end : end+1]
				}
				n.groups = append(n.groups, group)
				group = 0
				end++
				continue
			}
			break
		}
		n.end, n.digits = end, digits.String()
		n.groups = append(n.groups, group)
		at = end
		if len(n.digits) >= least {
			all = append(all, n)
		}
	}
	return all
}

// standsAlone reports whether text[start:end] is no part of a word, a name, a
// path, an address or a longer number.
func standsAlone(text string, start, end int) bool {
	return !joins(text, start-1, start-2) && !joins(text, end, end+1)
}

// joins reports whether the byte at i joins a number to what stands beyond it,
// whose first byte is at next. What ends a sentence or a pair does not.
func joins(text string, i, next int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	if isAlnum(text[i]) || text[i] == '_' {
		return true
	}
	if strings.IndexByte("/\\@#&%$", text[i]) >= 0 {
		return true
	}
	return strings.IndexByte("-.+~", text[i]) >= 0 && next >= 0 && next < len(text) && isAlnum(text[next])
}

// near reports whether one of words, in lower case, stands within some dozen
// characters before a range, or right after it.
func near(text string, start, end int, words ...string) bool {
	before := strings.ToLower(text[max(0, start-48):start])
	after := strings.ToLower(text[end:min(len(text), end+24)])
	return slices.ContainsFunc(words, func(w string) bool { return hasWord(before, w) || hasWord(after, w) })
}

// hasWord reports whether a word stands in text, and not within a longer one
// where it is of letters.
func hasWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(word)
		if (i == 0 || !isAlnum(text[i-1]) || !isAlnum(word[0])) && (end == len(text) || !isAlnum(text[end]) || !isAlnum(word[len(word)-1])) {
			return true
		}
		at = i + 1
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }
