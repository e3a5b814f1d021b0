package segment

import (
	"maps"
	"slices"
)

// Frozen is an index that takes no more rows, in a few slices without pointers.
// It never changes and is safe for concurrent use.
type Frozen struct {
	rows  Rows
	dict  dictionary
	lists []byte // posting lists, in the order of their terms
}

// Freeze returns the index as it stands, in its compact form. Nothing is
// shared: g stays of use.
func (g *Growing) Freeze() *Frozen {
	sorted := slices.Sorted(maps.Keys(g.terms))
	size := 0
	for i := range g.lists {
		size += len(g.lists[i].data)
	}
	f := &Frozen{rows: g.rows.freeze(), lists: make([]byte, 0, size)}
	f.dict = dictionaryOf(sorted, func(term string) (df, size int) {
		l := &g.lists[g.terms[term]]
		from := len(f.lists)
		if isDense(int(l.n), f.rows.Len()) {
			f.lists = appendDense(f.lists, l.postings(), f.rows.Len())
		} else {
			f.lists = append(f.lists, l.data...)
		}
		return int(l.n), len(f.lists) - from
	})
	f.lists = exact(f.lists)
	return f
}

// Rows are the rows of the index.
func (f *Frozen) Rows() *Rows { return &f.rows }

// DF is in how many rows a term stands, in text or labels.
func (f *Frozen) DF(term string) int {
	df, _, _ := f.dict.find(term)
	return df
}

// Postings returns these rows.
func (f *Frozen) Postings(term string) Postings {
	df, from, to := f.dict.find(term)
	return Postings{data: f.lists[from:to], n: df, dense: df > 0 && isDense(df, f.rows.Len())}
}

// Bytes is about how much memory the index holds.
func (f *Frozen) Bytes() int { return f.rows.bytes() + f.dict.bytes() + cap(f.lists) }
