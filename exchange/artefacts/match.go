package artefacts

import (
	"cmp"
	"slices"
	"strings"

	"memd"
	"memd/store/terms"
)

// entry is an item and where it rests.
type entry struct {
	*Item
	source string
	digest string
	lines  []string     // of the file, that it stands in
	row    *memd.Memory // that stands for it, nil for none
}

// How alike two wordings must be to be taken for one thing that was changed: within a
// section, and where it moved to another one of the file.
const (
	alike      = 0.4
	alikeMoved = 0.8
)

// maxPairs bounds the pairs of a file that are compared by their words.
const maxPairs = 100_000

// match gives items the rows that stand for them, and returns the rows that none
// does. Of what is said word for word the row is clear. A row of the same section
// whose words are most alike is that of an item which was changed; so it keeps its
// key, whatever is added, removed or reordered around it. Rows are of one file.
func match(entries []*entry, rows []*memd.Memory) (left []*memd.Memory) {
	left = slices.Clone(rows)
	slices.SortFunc(left, func(a, b *memd.Memory) int { return strings.Compare(a.MemoryKey, b.MemoryKey) })
	take := func(e *entry, i int) {
		e.row = left[i]
		left = slices.Delete(left, i, i+1)
	}
	byDigest := map[string][]*memd.Memory{}
	for _, row := range left {
		d := digestOf(row)
		byDigest[d] = append(byDigest[d], row)
	}
	for _, e := range entries {
		if same := byDigest[e.digest]; len(same) > 0 {
			byDigest[e.digest] = same[1:]
			take(e, slices.Index(left, same[0]))
		}
	}
	for _, p := range pairs(entries, left) {
		if i := slices.Index(left, p.row); i >= 0 && p.entry.row == nil {
			take(p.entry, i)
		}
	}
	return left
}

// pair is an item and a row that may be of one thing.
type pair struct {
	*entry
	row   *memd.Memory
	score float64
	moved bool
}

// pairs lists what may belong together, the most alike of the same section first.
func pairs(entries []*entry, rows []*memd.Memory) []pair {
	var open []*entry
	for _, e := range entries {
		if e.row == nil {
			open = append(open, e)
		}
	}
	if len(open)*len(rows) > maxPairs {
		return nil
	}
	var all []pair
	known := map[string]map[string]bool{}
	of := func(text string) map[string]bool {
		if known[text] == nil {
			known[text] = termsOf(text)
		}
		return known[text]
	}
	for _, e := range open {
		for _, row := range rows {
			p := pair{entry: e, row: row, moved: row.Source != e.source}
			p.score = dice(of(e.says()), of(bare(row.Summary, e.before)))
			if p.moved && p.score >= alikeMoved || !p.moved && p.score >= alike && !gone(row) {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int {
		if a.moved != b.moved {
			return map[bool]int{false: -1, true: 1}[a.moved]
		}
		return cmp.Compare(b.score, a.score)
	})
	return all
}

// gone reports whether a row is already marked as one that its source lacks.
func gone(row *memd.Memory) bool { return row.Stale && row.StaleReason == memd.StaleSourceMissing }

// bare is what a summary says behind its headings, which are before, or those of
// another section.
func bare(summary, before string) string {
	if rest, ok := strings.CutPrefix(summary, before); ok && before != "" {
		return rest
	}
	if at := strings.Index(summary, ": "); at > 0 && at <= 4*maxBefore && before != "" {
		return summary[at+2:]
	}
	return summary
}

// maxTerms bounds what of a wording is compared.
const maxTerms = 500

// termsOf are the terms of a text as the index has them, so without endings; of Chinese
// the characters and their pairs. Words that say little count only where there is no other.
func termsOf(text string) map[string]bool {
	all, telling := map[string]bool{}, map[string]bool{}
	for _, t := range terms.Query(text, maxTerms) {
		all[t.Text] = true
		if !t.Stop {
			telling[t.Text] = true
		}
	}
	if len(telling) > 0 {
		return telling
	}
	return all
}

// dice is how alike two sets are, from 0 to 1: twice what they share, of all they hold.
func dice(a, b map[string]bool) float64 {
	shared := 0
	for term := range a {
		if b[term] {
			shared++
		}
	}
	if len(a)+len(b) == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}
