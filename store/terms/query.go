package terms

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Query splits a query into its distinct terms, in order of first appearance,
// and at most limit of them. Where there are more, stop words go first, then
// parts of identifiers that stand whole beside them and characters of longer
// runs, then the shortest terms, which are likely the commonest. Any bytes are data; an empty result means
// that nothing in them can be searched for.
//
// A run of an unspaced script yields its bigrams and its characters. A part of
// one letter is left to the whole.
func Query(text string, limit int) []Term {
	if limit <= 0 {
		return nil
	}
	var terms []Term
	index := map[string]int{} // by Text
	var buf []byte
	l := lexer{emit: func(token []byte, r role) {
		if r&reading == 0 || len(token) > maxWord ||
			r&(part|whole) == part && utf8.RuneCount(token) == 1 {
			return
		}
		buf = append(buf[:0], token...)
		buf = stem(buf)
		stop, isPart, isChar := isStop(token), r&part != 0, r&inRun != 0
		i, seen := index[string(buf)]
		if !seen {
			text := string(buf)
			index[text] = len(terms)
			terms = append(terms, Term{
				Text: text, Match: `"` + string(token) + `"`,
				Stop: stop, Whole: r&whole != 0, Part: isPart, Char: isChar,
			})
			return
		}
		t := &terms[i]
		t.Stop, t.Whole, t.Part = t.Stop && stop, t.Whole || r&whole != 0, t.Part && isPart
		t.Char = t.Char && isChar
	}}
	l.scan(text)
	return cut(terms, limit)
}

// cut keeps the limit terms that look rarest, in their order.
func cut(terms []Term, limit int) []Term {
	if len(terms) <= limit {
		return terms
	}
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(commonness(terms[a]), commonness(terms[b])),
			cmp.Compare(len(terms[b].Text), len(terms[a].Text)),
			cmp.Compare(a, b),
		)
	})
	kept := order[:limit]
	slices.Sort(kept)
	for i, from := range kept {
		terms[i] = terms[from]
	}
	return terms[:limit:limit]
}

// commonness puts wholes before plain words, parts and stop words.
func commonness(t Term) int {
	switch {
	case t.Stop:
		return 3
	case t.Whole:
		return 0
	case t.Part, t.Char:
		return 2
	}
	return 1
}
