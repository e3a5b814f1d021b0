package segment

import (
	"encoding/binary"
	"math"
)

// maxCount is where the count of a term in a row stops. To BM25 it is the same
// as any larger.
const maxCount = math.MaxUint16

// Postings are the rows that hold a term, in ascending order, with how often
// they do. It is a value; a copy goes on from where the original stood. The
// zero value is empty.
//
// A posting begins with a varint of twice the rows passed over since the one
// before, plus 1 if the term stands once in the text and not in the labels,
// which is most often so: one byte, in a list that has every 64th row or more.
// Otherwise a varint of the count in the text follows, times four, plus the
// count in the labels or 3 if it is 3 or more, and then a varint of what it
// has beyond 3.
type Postings struct {
	data []byte
	at   int // in data
	row  int // after the last one read
	n    int
}

// Len is how many there are in all, read or not.
func (p *Postings) Len() int { return p.n }

// Next returns the next row, and how often the term stands in its text and in
// its labels, at most 65,535 times each. At the end ok is false.
func (p *Postings) Next() (row, text, labels int, ok bool) {
	if p.at < len(p.data) {
		if b := p.data[p.at]; b&0x81 == 1 {
			p.at++
			row = p.row + int(b>>1)
			p.row = row + 1
			return row, 1, 0, true
		}
	}
	return p.next()
}

// next is Next for every form.
func (p *Postings) next() (row, text, labels int, ok bool) {
	if p.at >= len(p.data) {
		return 0, 0, 0, false
	}
	head := p.varint()
	row = p.row + int(head>>1)
	p.row = row + 1
	if head&1 == 1 {
		return row, 1, 0, true
	}
	counts := p.varint()
	text, labels = int(counts>>2), int(counts&3)
	if labels == 3 {
		labels += int(p.varint())
	}
	return row, text, labels, true
}

// varint reads one that is there: data is made by appendPosting alone.
func (p *Postings) varint() uint64 {
	b := p.data[p.at]
	p.at++
	if b < 0x80 {
		return uint64(b)
	}
	return p.long(b)
}

// long is varint for one that begins with b and goes on.
func (p *Postings) long(b byte) uint64 {
	v, size := binary.Uvarint(p.data[p.at:])
	p.at += size
	return v<<7 | uint64(b&0x7F)
}

// appendPosting appends the posting of a row that comes gap rows after the one
// before has ended. Not both counts are 0.
func appendPosting(data []byte, gap, text, labels int) []byte {
	head := uint64(gap) << 1
	if text == 1 && labels == 0 {
		return binary.AppendUvarint(data, head|1)
	}
	data = binary.AppendUvarint(data, head)
	data = binary.AppendUvarint(data, uint64(text)<<2|uint64(min(labels, 3)))
	if labels >= 3 {
		data = binary.AppendUvarint(data, uint64(labels-3))
	}
	return data
}
