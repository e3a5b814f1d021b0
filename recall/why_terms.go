package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"memd"
)

// part is one term of a score.
type part struct {
	name string
	by   float64
}

// partsOf are the terms of a breakdown, in its order.
func partsOf(b memd.Breakdown) []part {
	return []part{
		{"authority", b.Authority}, {"stale", b.Stale}, {"keyword", b.Keyword}, {"metadata", b.Metadata}, {"vector", b.Vector},
		{"neighbour", b.Neighbour}, {"importance", b.Importance}, {"recency", b.Recency}, {"access", b.Access}, {"source", b.Source},
		{"selected", b.Selected},
	}
}

// difference is by how much each term of a exceeds that of b.
func difference(a, b memd.Breakdown) []part {
	parts := partsOf(a)
	for i, other := range partsOf(b) {
		parts[i].by -= other.by
	}
	return parts
}

// wordsOf are those that count, the largest first, "" where none does.
func wordsOf(parts []part) string {
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(math.Abs(b.by), math.Abs(a.by)) })
	var words []string
	for _, p := range parts {
		if math.Abs(p.by) >= 0.00005 {
			words = append(words, fmt.Sprintf("%s %+.4f", p.name, p.by))
		}
	}
	return strings.Join(words, ", ")
}

// joined lists reasons for a match.
func joined(matched []memd.Match) string {
	words := make([]string, len(matched))
	for i, m := range matched {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}
