package recall

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"memd/store"
	"memd/store/terms"
)

// termsOf are the terms of a query. Characters of longer runs are among them
// only where it is a sentence, stop words and all: a short one names a word, and
// rows that hold its characters scattered are not about it.
func termsOf(query string) []terms.Term {
	all := terms.Query(query, maxTerms)
	chars := 0
	for _, t := range all {
		if t.Char {
			chars++
		}
	}
	if chars >= charsFrom {
		return all
	}
	return slices.DeleteFunc(all, func(t terms.Term) bool { return t.Char })
}

// clausesOf takes a query of several sentences apart: the places of the terms
// of each among the query's. A query of one sentence, or of too many, has none.
func clausesOf(query string, all []terms.Term) [][]int {
	sentences := strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune("。？！?!;；\n", r) })
	if len(sentences) < 2 || len(sentences) > maxClauses {
		return nil
	}
	place := make(map[string]int, len(all))
	for i, t := range all {
		place[t.Text] = i
	}
	var clauses [][]int
	for _, sentence := range sentences {
		var clause []int
		for _, t := range terms.Query(sentence, maxTerms) {
			if i, known := place[t.Text]; known {
				clause = append(clause, i)
			}
		}
		if len(clause) > 0 {
			clauses = append(clauses, clause)
		}
	}
	if len(clauses) < 2 {
		return nil
	}
	return clauses
}

// halves are the parts of a long text of so many code points of which every two
// neighbours are a passage; one no longer than two passages has none.
func halves(text string, chars int) iter.Seq[string] {
	return func(yield func(string) bool) {
		size := passageSize(store.Unspaced(text, chars))
		if chars <= size*2 {
			return
		}
		for text != "" {
			end := after(text, size/2)
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// passageSize is how many code points a passage has.
func passageSize(unspaced bool) int {
	if unspaced {
		return passageChars / 3
	}
	return passageChars
}

// after is where the first n code points of text end.
func after(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}
