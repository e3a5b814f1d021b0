package groom

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"

	"memd"
	"memd/store"
)

// reason says why two rows are taken for the same.
type reason string

const (
	equalContent   reason = "equal_content"   // one content hash under two keys
	similarWording reason = "similar_wording" // the same statement in other words
)

// duplicate is a pair of heads of one namespace that say the same, for a person
// to choose between. The first is the one whose key comes first.
type duplicate struct {
	namespace string
	ids, keys [2]string
	reason    reason
}

// How alike two wordings must be, as shares of the words that either holds
// (Jaccard). Chosen on the pairs in duplicates_test.go: rewordings lie at
// 0.7 and above, or one holds all that the other says; what differs in a word or
// two that count lies below, or exchanges one word for another.
const (
	likeness     = 0.7
	containment  = 0.5 // where all words of one are among the other's
	exchange     = 0.9 // where one word stands in place of another
	fewestShared = 6   // weight of the words that both must hold: three words
)

// findDuplicates finds the heads that say the same as another of their
// namespace. Of several that do, each is paired with one, not with all, so that
// there are fewer pairs than rows.
func findDuplicates(ctx context.Context, s *store.Set) ([]duplicate, error) {
	f := newDuplicateFinder()
	err := s.EachHead(ctx, func(m memd.Memory, _ store.Head) error {
		f.add(&m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.find(ctx)
}

// duplicateFinder finds duplicates among rows that were added.
type duplicateFinder struct {
	lexicon *lexicon
	rows    []candidate
	groups  []int // by row: another of its group, itself if it is the first
	found   []duplicate
}

// candidate is what is kept of a row.
type candidate struct {
	namespace, key, id, hash string
	wording
	marks marks // of its words, by their ranks
}

func newDuplicateFinder() *duplicateFinder { return &duplicateFinder{lexicon: newLexicon()} }

// add takes a row into account. The order of rows does not matter.
func (f *duplicateFinder) add(m *memd.Memory) {
	f.rows = append(f.rows, candidate{namespace: m.Namespace, key: m.MemoryKey, id: m.ID, hash: m.ContentHash, wording: f.lexicon.read(m.Summary)})
}

// find returns the pairs, in the order of namespaces and keys. It fails only at the
// end of ctx.
func (f *duplicateFinder) find(ctx context.Context) ([]duplicate, error) {
	slices.SortFunc(f.rows, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.key, b.key), strings.Compare(a.id, b.id))
	})
	f.groups = make([]int, len(f.rows))
	for i := range f.groups {
		f.groups[i] = i
	}
	f.equals()
	if err := f.similar(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(f.found, func(a, b duplicate) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), slices.Compare(a.keys[:], b.keys[:]))
	})
	return f.found, nil
}

// equals pairs rows of equal content with the first of them.
func (f *duplicateFinder) equals() {
	first := map[[2]string]int{}
	for i, row := range f.rows {
		of := [2]string{row.namespace, row.hash}
		if j, seen := first[of]; seen {
			f.pair(j, i, equalContent)
		} else {
			first[of] = i
		}
	}
}

// similar pairs rows that say the same in other words. Only rows that share one
// of their rarest words are compared: two that have half of their words in common
// share one of the rarer half of each (prefix filtering; Bayardo, Ma and Srikant,
// "Scaling up all pairs similarity search", 2007). Equal numbers and identifiers
// are a condition, so rows with others never meet.
func (f *duplicateFinder) similar(ctx context.Context) error {
	known := f.rank()
	type place struct {
		namespace, exact string
		word             int
	}
	met := map[place][]int{}
	lately := make([]int, len(f.rows)) // by row: which row met it last, from 1
	for i := range f.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := &f.rows[i]
		for _, w := range row.words[:rarer(len(row.words))] {
			at := place{row.namespace, row.exact, w}
			for _, j := range met[at] {
				if lately[j] == i+1 || f.group(j) == f.group(i) {
					continue
				}
				lately[j] = i + 1
				if mayShare(&f.rows[j], row) && known.alike(f.rows[j].words, row.words) {
					f.pair(j, i, similarWording)
				}
			}
			met[at] = append(met[at], i)
		}
	}
	return nil
}

// rarer is how many of n words, the rarest first, must be looked at to meet every
// row that shares half of them.
func rarer(n int) int {
	if n == 0 {
		return 0
	}
	return n - int(math.Ceil(containment*float64(n))) + 1
}

// vocabulary is what is known of words, by their ranks.
type vocabulary struct {
	opposite []int // the word that denies it, or that it denies, -1 for none
	weights  []int // see weightOf
}

// rank renumbers the words of all rows, the rarest first.
func (f *duplicateFinder) rank() vocabulary {
	often := make([]int, len(f.lexicon.opposite))
	for _, row := range f.rows {
		for _, w := range row.words {
			often[w]++
		}
	}
	order, ranks := make([]int, len(often)), make([]int, len(often))
	for w := range order {
		order[w] = w
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(often[a], often[b]), cmp.Compare(a, b)) })
	for rank, w := range order {
		ranks[w] = rank
	}
	known := vocabulary{make([]int, len(often)), make([]int, len(often))}
	for w, other := range f.lexicon.opposite {
		known.weights[ranks[w]] = f.lexicon.weights[w]
		if known.opposite[ranks[w]] = -1; other >= 0 {
			known.opposite[ranks[w]] = ranks[other]
		}
	}
	for i := range f.rows {
		row := &f.rows[i]
		for k, w := range row.words {
			row.words[k] = ranks[w]
			row.marks.set(ranks[w])
		}
		slices.Sort(row.words)
	}
	return known
}

// marks are a bit for each word of a list; several words may have the same.
type marks [32]uint64

func (m *marks) set(word int) { m[word/64%len(m)] |= 1 << (word % 64) }

// mayShare tells of most pairs of long wordings that are not alike, for less than it
// takes to compare their words: a mark of one that the other has not is a word that
// the other has not.
func mayShare(a, b *candidate) bool {
	onlyA, onlyB := 0, 0
	for i := range a.marks {
		onlyA += bits.OnesCount64(a.marks[i] &^ b.marks[i])
		onlyB += bits.OnesCount64(b.marks[i] &^ a.marks[i])
	}
	return !tooFewShared(len(a.words), len(b.words), onlyA, onlyB)
}

// tooFewShared reports whether lists of so many words, of which at least so many are
// in one alone, share too few to be alike, where both have a word of their own.
func tooFewShared(a, b, onlyA, onlyB int) bool {
	return onlyA > 0 && onlyB > 0 && float64(min(a-onlyA, b-onlyB)) < likeness/(1+likeness)*float64(a+b)
}

// alike reports whether two sorted lists of words say the same: enough of them
// are in both, and none stands in one plainly and in the other denied.
func (v vocabulary) alike(a, b []int) bool {
	if !mayBeAlike(a, b) { // of most pairs that alone is told
		return false
	}
	onlyA, onlyB, weight := v.apart(a, b)
	shared, apart := len(a)-len(onlyA), len(onlyA)+len(onlyB)
	least := likeness
	switch {
	case len(onlyA) == 0 || len(onlyB) == 0:
		least = containment
	case v.oneWord(onlyA) && v.oneWord(onlyB):
		least = exchange
	}
	if weight < fewestShared && apart > 0 || shared == 0 || float64(shared) < least*float64(shared+apart) {
		return false
	}
	return !slices.ContainsFunc(onlyA, func(w int) bool { return slices.Contains(onlyB, v.opposite[w]) })
}

// mayBeAlike reports whether so many words of two sorted lists are in both as two
// that are alike have at least. It only counts, and no further than to where that
// is out of reach.
func mayBeAlike(a, b []int) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if float64(len(a)) < containment*float64(len(b)) {
		return false
	}
	onlyA, onlyB := 0, 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		// The rarest come first, and with them most of what differs.
		switch x, y := a[i], b[j]; {
		case x == y:
			i++
			j++
			continue
		case x < y:
			onlyA++
			i++
		default:
			onlyB++
			j++
		}
		if tooFewShared(len(a), len(b), onlyA, onlyB) {
			return false
		}
	}
	return true
}

// apart are the words of two sorted lists that the other has not, and the weight of
// those that both have.
func (v vocabulary) apart(a, b []int) (onlyA, onlyB []int, weight int) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			onlyA = append(onlyA, a[i])
			i++
		case b[j] < a[i]:
			onlyB = append(onlyB, b[j])
			j++
		default:
			weight += v.weights[a[i]]
			i++
			j++
		}
	}
	return append(onlyA, a[i:]...), append(onlyB, b[j:]...), weight
}

// oneWord reports whether some terms are what makes up a single word, and at least
// a character of one.
func (v vocabulary) oneWord(terms []int) bool {
	weight := 0
	for _, t := range terms {
		weight += v.weights[t]
	}
	return weight > 0 && weight <= 3
}

// pair notes that the rows i < j say the same.
func (f *duplicateFinder) pair(i, j int, why reason) {
	a, b := &f.rows[i], &f.rows[j]
	f.groups[f.group(j)] = f.group(i)
	f.found = append(f.found, duplicate{a.namespace, [2]string{a.id, b.id}, [2]string{a.key, b.key}, why})
}

// group is the row that stands for all that say the same as row i.
func (f *duplicateFinder) group(i int) int {
	for f.groups[i] != i {
		f.groups[i] = f.groups[f.groups[i]]
		i = f.groups[i]
	}
	return i
}
