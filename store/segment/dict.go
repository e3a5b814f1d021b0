package segment

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"
)

// blockTerms is the number of terms of a block of the dictionary.
const blockTerms = 16

// dictionary tells where the posting list of a term lies in a blob of them, in
// the order of the terms.
type dictionary struct {
	blocks []block
	data   []byte // entries, of all blocks
}

// block is a run of terms that begins with one in full.
type block struct {
	head uint64 // of its first term
	data uint64 // where its entries begin
	list uint64 // where the list of its first term begins
}

// entry is a term in the dictionary. There it is five parts: three varints, of
// the bytes it shares with the term before (0 for the first of a block), of
// those it has beyond, and of its postings; those bytes; and a varint of the
// bytes of its list.
type entry struct {
	shared int
	rest   []byte
	df     int
	size   int
}

// dictionaryOf makes the dictionary of terms in ascending order; list returns
// the number of postings of a term and the bytes of its list.
func dictionaryOf(sorted []string, list func(term string) (df, size int)) dictionary {
	d := dictionary{blocks: make([]block, 0, (len(sorted)+blockTerms-1)/blockTerms)}
	at, before := 0, ""
	for i, term := range sorted {
		if i%blockTerms == 0 {
			d.blocks = append(d.blocks, block{head: headOf(term), data: uint64(len(d.data)), list: uint64(at)})
			before = ""
		}
		df, size := list(term)
		shared := sharedPrefix(before, term)
		d.data = appendEntry(d.data, entry{shared: shared, rest: []byte(term[shared:]), df: df, size: size})
		at += size
		before = term
	}
	d.data = exact(d.data)
	return d
}

// find returns the number of a term's postings and where its list lies.
func (d *dictionary) find(term string) (df, from, to int) {
	i := d.block(term)
	if i < 0 {
		return 0, 0, 0
	}
	r := d.reader(i)
	same := 0 // bytes that term shares with the entry before, which is less
	for from = int(d.blocks[i].list); len(r.data) > 0; {
		e := r.entry()
		if e.shared < same { // differs from the entry before where term does not, and is more
			break
		}
		if e.shared == same {
			n := sharedPrefix(e.rest, term[same:])
			same += n
			switch {
			case n == len(e.rest) && same == len(term):
				return e.df, from, from + e.size
			case n < len(e.rest) && (same == len(term) || e.rest[n] > term[same]):
				return 0, 0, 0
			}
		}
		from += e.size
	}
	return 0, 0, 0
}

// block returns the last block that does not begin beyond term, -1 if none.
func (d *dictionary) block(term string) int {
	head := headOf(term)
	i, found := slices.BinarySearchFunc(d.blocks, term, func(b block, term string) int {
		if b.head != head {
			return cmp.Compare(b.head, head)
		}
		r := reader{d.data[b.data:]}
		first := r.entry().rest
		switch {
		case string(first) < term:
			return -1
		case string(first) > term:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return i
}

// headOf returns the first 8 bytes of a term as a number: where those of two
// terms differ, they are ordered alike.
func headOf(term string) uint64 {
	var head [8]byte
	copy(head[:], term)
	return binary.BigEndian.Uint64(head[:])
}

func sharedPrefix[A, B []byte | string](a A, b B) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func appendEntry(data []byte, e entry) []byte {
	data = binary.AppendUvarint(data, uint64(e.shared))
	data = binary.AppendUvarint(data, uint64(len(e.rest)))
	data = binary.AppendUvarint(data, uint64(e.df))
	data = append(data, e.rest...)
	return binary.AppendUvarint(data, uint64(e.size))
}

// reader reads entries off data.
type reader struct{ data []byte }

// reader reads the entries of a block.
func (d *dictionary) reader(i int) reader {
	if i+1 < len(d.blocks) {
		return reader{d.data[d.blocks[i].data:d.blocks[i+1].data]}
	}
	return reader{d.data[d.blocks[i].data:]}
}

func (r *reader) entry() entry {
	var e entry
	e.shared = r.number()
	rest := r.number()
	e.df = r.number()
	e.rest, r.data = r.data[:rest], r.data[rest:]
	e.size = r.number()
	return e
}

func (r *reader) number() int {
	if b := r.data[0]; b < 0x80 { // nearly always
		r.data = r.data[1:]
		return int(b)
	}
	v, size := binary.Uvarint(r.data)
	r.data = r.data[size:]
	return int(v)
}

// bytes is what the dictionary holds.
func (d *dictionary) bytes() int { return cap(d.blocks)*int(unsafe.Sizeof(block{})) + cap(d.data) }
