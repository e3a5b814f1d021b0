package segment

import (
	"encoding/binary"
	"math"
)

// maxCount is the count of a term that stands more often in the text of a row
// than mostCounted, however often: to BM25 it is nearly the same. Labels count
// to mostLabels.
const (
	maxCount    = math.MaxUint16
	mostCounted = 62
	mostLabels  = 3
)

// Postings are the rows that hold a term, in ascending order, with how often
// they do. It is a value; a copy goes on from where the original stood. The
// zero value is empty.
//
// A posting begins with a varint of twice the rows passed over since the one
// before, plus 1 if the term stands once in the text and not in the labels,
// which is most often so: one byte, in a list that has every 64th row or more.
// Otherwise a byte of counts follows, four times that in the text plus that in
// the labels. A dense list, of a term that stands in a third of the rows or
// more, is such a byte for every row, 0 for one without the term.
type Postings struct {
	data  []byte
	dense bool
	at    int // in data
	row   int // after the last one read
	n     int
}

// Len is how many there are in all, read or not.
func (p *Postings) Len() int { return p.n }

// Next returns the next row, and how often the term stands in its text, 65,535
// being more than 62, and in its labels, at most 3. At the end ok is false.
func (p *Postings) Next() (row, text, labels int, ok bool) {
	if p.at < len(p.data) && !p.dense {
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
	if p.dense {
		for p.at < len(p.data) {
			b := p.data[p.at]
			if p.at++; b != 0 {
				text, labels = counts(b)
				return p.at - 1, text, labels, true
			}
		}
	}
	if p.at >= len(p.data) {
		return 0, 0, 0, false
	}
	head := p.varint()
	row = p.row + int(head>>1)
	p.row = row + 1
	if head&1 == 1 {
		return row, 1, 0, true
	}
	text, labels = counts(p.data[p.at])
	p.at++
	return row, text, labels, true
}

// Counted is how an index gives a count in the text of a row.
func Counted(n int) int {
	if n > mostCounted {
		return maxCount
	}
	return n
}

// counts takes a byte of counts apart.
func counts(b byte) (text, labels int) {
	return Counted(int(b >> 2)), int(b & 3)
}

// countsByte is the reverse.
func countsByte(text, labels int) byte {
	return byte(min(text, mostCounted+1)<<2 | min(labels, mostLabels))
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
	return append(binary.AppendUvarint(data, head), countsByte(text, labels))
}

// isDense reports whether the list of a term in df of some rows is dense.
func isDense(df, rows int) bool { return df >= (rows+2)/3 }

// appendDense appends the dense list of what p still has, over some rows.
func appendDense(data []byte, p Postings, rows int) []byte {
	from := len(data)
	data = append(data, make([]byte, rows)...)
	for row, text, labels, ok := p.Next(); ok; row, text, labels, ok = p.Next() {
		data[from+row] = countsByte(text, labels)
	}
	return data
}

// Counts look up how often a term stands in rows of ascending ordinals. They
// are a value; the zero value has none.
type Counts struct {
	postings          Postings
	row, text, labels int // read ahead
	ended             bool
}

// Counts are those of the postings. Where the list is dense they cost the same
// for every row; otherwise they read up to it.
func (p Postings) Counts() Counts { return Counts{postings: p, row: -1} }

// In returns the counts of a row, as Next does, both 0 where the term does not
// stand in it. No row asked for before may be higher.
func (c *Counts) In(row int) (text, labels int) {
	if c.postings.dense {
		return counts(c.postings.data[row])
	}
	for c.row < row && !c.ended {
		var ok bool
		c.row, c.text, c.labels, ok = c.postings.Next()
		c.ended = !ok
	}
	if c.ended || c.row != row {
		return 0, 0
	}
	return c.text, c.labels
}
