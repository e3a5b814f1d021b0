package personal

import (
	"slices"
	"strings"
)

// cards finds payment cards: the prefix of an issuer, a length that it gives
// out, and the check digit of Luhn (ISO/IEC 7812). One number in ten has a right
// check digit by chance, so a number that nothing near it calls a card is not
// sure, and one that is written in the groups of a card is.
func cards(text string) []Finding {
	var found []Finding
	for _, n := range numbers(text, " -", 13) {
		if !isCard(n) || !standsAlone(text, n.start-numbered(text, n.start), n.end) || mixedSeparators(n) {
			continue
		}
		start := n.start - numbered(text, n.start)
		switch grouped := cardGroups(n.groups); {
		case nearCard(text, n) && (len(n.groups) == 1 || grouped), grouped:
			found = append(found, Finding{Card, start, n.end, true})
		case len(n.groups) == 1:
			found = append(found, Finding{Card, start, n.end, false})
		}
	}
	for _, n := range numbers(text, " -.\n", 13) {
		if len(n.groups) > 1 {
			found = append(found, cardsWithin(text, n)...)
		}
	}
	return found
}

// isCard reports whether a number is one of a card that somebody may have.
func isCard(n number) bool {
	return len(n.digits) >= 13 && len(n.digits) <= 19 && issued(n.digits) && luhn(n.digits) && !allAlike(n.digits) && !published(n.digits, testCards)
}

func nearCard(text string, n number) bool {
	return near(text, n.start, n.end, cardWords()...)
}

func cardWords() []string {
	return []string{"card", "cards", "visa", "mastercard", "amex", "unionpay", "pan", "cc", "卡", "银联", "信用"}
}

// numbered is 1 where a "#" stands before a number that a word for cards calls so,
// as in "card #4…", and else 0.
func numbered(text string, start int) int {
	if start == 0 || text[start-1] != '#' {
		return 0
	}
	before := strings.ToLower(strings.TrimRight(text[max(0, start-25):start-1], " \t:."))
	for _, no := range []string{"number", "no", "nr"} {
		before = strings.TrimRight(strings.TrimSuffix(before, no), " \t.")
	}
	i := strings.LastIndexAny(before, " \t\n")
	if slices.ContainsFunc(cardWords(), func(w string) bool { return before[i+1:] == w || w[0] >= 0x80 && strings.HasSuffix(before, w) }) {
		return 1
	}
	return 0
}

// cardsWithin finds cards that stand beside other numbers, are parted by dots or
// go on in the next line. Without a word for cards near them they are found only
// where the whole row is cards.
func cardsWithin(text string, row number) []Finding {
	var found []Finding
	groups := groupsOf(text, row)
	whole := true
	for i := 0; i < len(groups); {
		n, used := cardAt(text, groups[i:])
		named := used > 0 && nearCard(text, n)
		if used == 0 || !named && strings.Trim(n.separators, " -") != "" {
			whole = false
			i++
			continue
		}
		found = append(found, Finding{Card, n.start, n.end, named || used > 1})
		if !named {
			found[len(found)-1].Kind = "" // told by the whole
		}
		i += used
	}
	kept := found[:0]
	for _, f := range found {
		if f.Kind == Card || whole {
			f.Kind = Card
			kept = append(kept, f)
		}
	}
	return kept
}

// groupsOf are the runs of digits that a number is put together of.
func groupsOf(text string, n number) []number {
	var all []number
	for at, i := n.start, 0; i < len(n.groups); i++ {
		end := at + n.groups[i]
		all = append(all, number{start: at, end: end, digits: text[at:end], groups: []int{end - at}})
		at = end + 1
	}
	return all
}

// maxParts is how many groups a card has at most.
const maxParts = 5

// cardAt is the card that begins with the first of groups, and how many of them it
// takes; 0 where none does.
func cardAt(text string, groups []number) (card number, used int) {
	n := number{start: groups[0].start}
	for k := 0; k < min(len(groups), maxParts); k++ {
		g := groups[k]
		if k > 0 {
			n.separators += text[g.start-1 : g.start]
		}
		n.digits += g.digits
		n.groups = append(n.groups, len(g.digits))
		n.end = g.end
		parts := len(n.groups) == 1 || cardGroups(n.groups) && oneKind(n.separators) || n.separators == "\n"
		if parts && isCard(n) && edge(text, n.start-1, n.start-2) && edge(text, n.end, n.end+1) && (n.separators != "\n" || k+1 == len(groups)) {
			card, used = n, k+1
		}
	}
	return card, used
}

// oneKind reports whether the same stands between all groups; a line may break at
// a space.
func oneKind(separators string) bool {
	separators = strings.ReplaceAll(separators, "\n", " ")
	return strings.Trim(separators, separators[:1]) == ""
}

// edge reports whether the byte at i sets a card apart from what is beyond it.
func edge(text string, i, next int) bool { return !joins(text, i, next) }
