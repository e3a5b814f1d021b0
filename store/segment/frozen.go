package segment

import (
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"unsafe"
)

// blockTerms is the number of terms of a block of the dictionary.
const blockTerms = 16

// Frozen is an index that takes no more rows, in a few slices without pointers.
// It never changes and is safe for concurrent use.
type Frozen struct {
	rows     Rows
	blocks   []block
	dict     []byte // entries, of all blocks
	postings []byte // lists, in the order of their terms
}

// block is a run of terms that begins with one in full.
type block struct {
	dict     uint64 // where its entries begin
	postings uint64 // where the lists of its terms begin
}

// entry is a term in the dictionary. There it is five parts: three varints, of
// the bytes it shares with the term before (0 for the first of a block), of
// those it has beyond, and of df; those bytes; and a varint of postings.
type entry struct {
	shared   int
	rest     []byte
	df       int
	postings int // bytes
}

// Freeze returns the index as it stands, in its compact form. Nothing is
// shared: g stays of use.
func (g *Growing) Freeze() *Frozen {
	sorted := slices.Sorted(maps.Keys(g.terms))
	f := &Frozen{rows: g.rows.freeze(), blocks: make([]block, 0, (len(sorted)+blockTerms-1)/blockTerms)}
	size, before := 0, ""
	for _, l := range g.lists {
		size += len(l.data)
	}
	f.postings = make([]byte, 0, size)
	for i, term := range sorted {
		if i%blockTerms == 0 {
			f.blocks = append(f.blocks, block{dict: uint64(len(f.dict)), postings: uint64(len(f.postings))})
			before = ""
		}
		l := &g.lists[g.terms[term]]
		shared := sharedPrefix(before, term)
		f.dict = appendEntry(f.dict, entry{shared: shared, rest: []byte(term[shared:]), df: int(l.n), postings: len(l.data)})
		f.postings = append(f.postings, l.data...)
		before = term
	}
	f.dict = exact(f.dict)
	return f
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func appendEntry(dict []byte, e entry) []byte {
	dict = binary.AppendUvarint(dict, uint64(e.shared))
	dict = binary.AppendUvarint(dict, uint64(len(e.rest)))
	dict = binary.AppendUvarint(dict, uint64(e.df))
	dict = append(dict, e.rest...)
	return binary.AppendUvarint(dict, uint64(e.postings))
}

// readEntry reads the entry that dict begins with, and its length.
func readEntry(dict []byte) (e entry, size int) {
	number := func() int {
		v, n := binary.Uvarint(dict[size:])
		size += n
		return int(v)
	}
	e.shared = number()
	rest := number()
	e.df = number()
	e.rest = dict[size : size+rest]
	size += rest
	e.postings = number()
	return e, size
}

// find returns the number of a term's postings and their bytes.
func (f *Frozen) find(term string) (df int, postings []byte) {
	i := sort.Search(len(f.blocks), func(i int) bool {
		first, _ := readEntry(f.dict[f.blocks[i].dict:])
		return string(first.rest) > term
	}) - 1
	if i < 0 {
		return 0, nil
	}
	from, at := f.blocks[i].dict, f.blocks[i].postings
	end := uint64(len(f.dict))
	if i+1 < len(f.blocks) {
		end = f.blocks[i+1].dict
	}
	var room [256]byte // as long as a term can be
	for current := room[:0]; from < end; {
		e, size := readEntry(f.dict[from:end])
		current = append(current[:e.shared], e.rest...)
		if string(current) >= term {
			if string(current) > term {
				break
			}
			return e.df, f.postings[at : at+uint64(e.postings)]
		}
		from, at = from+uint64(size), at+uint64(e.postings)
	}
	return 0, nil
}

// Rows are the rows of the index.
func (f *Frozen) Rows() *Rows { return &f.rows }

// DF is in how many rows a term stands, in text or labels.
func (f *Frozen) DF(term string) int {
	df, _ := f.find(term)
	return df
}

// Postings returns these rows.
func (f *Frozen) Postings(term string) Postings {
	df, data := f.find(term)
	return Postings{data: data, n: df}
}

// Bytes is about how much memory the index holds.
func (f *Frozen) Bytes() int {
	return f.rows.bytes() + cap(f.blocks)*int(unsafe.Sizeof(block{})) + cap(f.dict) + cap(f.postings)
}
