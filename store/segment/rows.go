package segment

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Row is what the index holds of a row beside its terms.
type Row struct {
	RID       int64
	Namespace string
	Chars     int  // code points of the summary, at most 1<<31-1
	Unspaced  bool // the summary is mostly of a script without spaces
	Grouped   bool // the row belongs to a session; only whether any does is kept
}

// Rows are the rows of an index. The methods that take the ordinal of a row
// panic where there is none of that ordinal.
type Rows struct {
	rids    []int64
	spaces  []int32  // ordinals of namespaces
	chars   []uint32 // Chars<<1, plus 1 where Unspaced
	grouped bool     // whether any row belongs to a session
	names   []string // of the namespaces, in order of appearance
	texts   int      // bytes of names, with their headers

	// Rows added by ascending rid need nothing to be found by. Otherwise
	// growing rows have last, and frozen ones byRID.
	last  map[int64]int32 // the last row with a rid
	byRID []int32         // ordinals, by rid and then by themselves
}

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.rids) }

// RID returns the rid of a row.
func (r *Rows) RID(row int) int64 { return r.rids[row] }

// Chars returns the code points of a row's summary.
func (r *Rows) Chars(row int) int { return int(r.chars[row] >> 1) }

// Unspaced reports whether a row's summary is mostly of a script without
// spaces.
func (r *Rows) Unspaced(row int) bool { return r.chars[row]&1 != 0 }

// Grouped reports whether any row belongs to a session.
func (r *Rows) Grouped() bool { return r.grouped }

// NamespaceOf returns the place of a row's namespace in Namespaces.
func (r *Rows) NamespaceOf(row int) int { return int(r.spaces[row]) }

// Namespace returns the namespace of a row.
func (r *Rows) Namespace(row int) string { return r.names[r.spaces[row]] }

// Namespaces returns the namespaces that occur, in order of appearance. They
// are not the caller's to change.
func (r *Rows) Namespaces() []string { return slices.Clip(r.names) }

// Row returns all of a row.
func (r *Rows) Row(row int) Row {
	return Row{
		RID: r.RID(row), Namespace: r.Namespace(row),
		Chars: r.Chars(row), Unspaced: r.Unspaced(row),
	}
}

// Find returns the last row added with a rid.
func (r *Rows) Find(rid int64) (row int, ok bool) {
	switch {
	case r.last != nil:
		row, ok := r.last[rid]
		return int(row), ok
	case r.byRID != nil:
		i := sort.Search(len(r.byRID), func(i int) bool { return r.rids[r.byRID[i]] > rid }) - 1
		if i < 0 || r.rids[r.byRID[i]] != rid {
			return 0, false
		}
		return int(r.byRID[i]), true
	}
	i := sort.Search(len(r.rids), func(i int) bool { return r.rids[i] > rid }) - 1
	if i < 0 || r.rids[i] != rid {
		return 0, false
	}
	return i, true
}

// add adds a row whose namespace is names[space].
func (r *Rows) add(row Row, space int32) {
	n := len(r.rids)
	if n == math.MaxInt32 {
		panic("segment: too many rows")
	}
	chars := uint32(min(max(row.Chars, 0), math.MaxInt32)) << 1
	if row.Unspaced {
		chars |= 1
	}
	if r.last == nil && n > 0 && row.RID < r.rids[n-1] {
		r.last = make(map[int64]int32, n+1)
		for i, rid := range r.rids {
			r.last[rid] = int32(i)
		}
	}
	if r.last != nil {
		r.last[row.RID] = int32(n)
	}
	r.grouped = r.grouped || row.Grouped
	r.rids = append(r.rids, row.RID)
	r.spaces = append(r.spaces, space)
	r.chars = append(r.chars, chars)
}

// freeze returns a compact copy.
func (r *Rows) freeze() Rows {
	f := Rows{
		rids: exact(r.rids), spaces: exact(r.spaces), chars: exact(r.chars), names: exact(r.names), texts: r.texts, grouped: r.grouped,
	}
	if r.last == nil {
		return f
	}
	f.byRID = make([]int32, len(r.rids))
	for i := range f.byRID {
		f.byRID[i] = int32(i)
	}
	slices.SortFunc(f.byRID, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.rids[a], r.rids[b]), cmp.Compare(a, b))
	})
	return f
}

// exact copies s without room to grow.
func exact[T any](s []T) []T {
	out := make([]T, len(s))
	copy(out, s)
	return out
}

const (
	stringBytes = 16 // a string beside its text
	// mapBytes is about what an entry of a map takes beside its key and value:
	// its share of free places and of control bytes.
	mapBytes = 24
)

// bytes is about what the rows hold.
func (r *Rows) bytes() int {
	return 8*cap(r.rids) + 4*(cap(r.spaces)+cap(r.chars)+cap(r.byRID)) +
		len(r.last)*(8+4+mapBytes) + r.texts
}
