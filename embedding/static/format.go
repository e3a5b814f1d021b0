package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

const (
	magic       = "memdvec\n"
	version     = 1
	headerBytes = 96
	sumAt       = 64
	scoreAt     = 9 // in an entry of Unigram; in others the word is there
)

// Bounds of what a table may hold.
const (
	maxDim   = 4096
	maxRows  = 1 << 23
	maxWord  = 255 // bytes
	maxName  = 128 // bytes
	maxRun   = 16  // characters of a word in an unspaced script
	maxTotal = 1 << 40
)

// cut is how texts become words of the table.
type cut uint8

const (
	cutWords cut = iota
	cutWordPiece
	cutUnigram
	cuts
)

// flags say what is done to a text before it is cut. Tables of words need
// none: their texts and words are folded alike.
type flags uint8

const (
	flagLower   flags = 1 << iota // to lower case
	flagAccents                   // marks are taken off
	flagHan                       // every Chinese character is a word
	flagPunct                     // ASCII punctuation stands apart
	flagNFKC                      // compatibility forms are resolved
	allFlags    = flagLower | flagAccents | flagHan | flagPunct | flagNFKC
)

// header is the fixed part of a table.
type header struct {
	dim, rows, words, buckets, entries uint32
	cut                                cut
	flags                              flags
	longest, name                      uint8
	sum                                [sha256.Size]byte
}

var errNoTable = errors.New("this is no table of vectors")

// damaged is the error of a table that does not hold what it should.
func damaged(format string, args ...any) error {
	return fmt.Errorf("the table is damaged: "+format, args...)
}

func parseHeader(b []byte) (header, error) {
	var h header
	if len(b) < headerBytes || string(b[:len(magic)]) != magic {
		return h, errNoTable
	}
	u32 := binary.LittleEndian.Uint32
	if v := u32(b[8:]); v != version {
		return h, fmt.Errorf("the table is of version %d, and this memd reads version %d: make it anew from the model", v, version)
	}
	h = header{dim: u32(b[12:]), rows: u32(b[16:]), words: u32(b[20:]), buckets: u32(b[24:]), entries: u32(b[28:]),
		cut: cut(b[32]), flags: flags(b[33]), longest: b[34], name: b[35], sum: [sha256.Size]byte(b[sumAt:headerBytes])}
	within := func(x, most uint32) bool { return 1 <= x && x <= most }
	switch {
	case !within(h.dim, maxDim), !within(h.rows, maxRows), !within(h.words, maxRows), !within(h.buckets, maxRows), !within(uint32(h.name), maxName),
		h.cut >= cuts, h.flags&^allFlags != 0, h.longest == 0 && h.cut != cutWords, h.longest > maxRun && h.cut == cutWords,
		!bytes.Equal(b[36:sumAt], make([]byte, sumAt-36)):
		return h, damaged("its header makes no sense")
	}
	return h, nil
}

func (h header) bytes() []byte {
	b := append(make([]byte, 0, headerBytes), magic...)
	for _, x := range []uint32{version, h.dim, h.rows, h.words, h.buckets, h.entries} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	b = append(b, byte(h.cut), byte(h.flags), h.longest, h.name)
	b = append(b, make([]byte, sumAt-len(b))...)
	return append(b, h.sum[:]...)
}

// sections are where the parts of a file start; end is its size.
type sections struct{ vectors, component, directory, entries, name, end int64 }

func (h header) sections() sections {
	var s sections
	s.vectors = headerBytes
	s.component = s.vectors + int64(h.rows)*int64(h.dim)
	s.directory = s.component + 4*int64(h.dim)
	s.entries = s.directory + 4*(int64(h.buckets)+1)
	s.name = s.entries + int64(h.entries)
	s.end = s.name + int64(h.name)
	return s
}

// view is a table's file as its parts.
type view struct {
	header
	vectors, directory, list []byte // list holds the entries
	component                []float32
	worst                    float32 // of all scores, at most 0
	model                    string
}

// parse checks a whole file and takes it apart, so that nothing read of the
// view later is out of bounds.
func parse(b []byte) (*view, error) {
	h, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	s := h.sections()
	if int64(len(b)) != s.end {
		return nil, damaged("it has %d bytes instead of %d", len(b), s.end)
	}
	if sumOf(b) != h.sum {
		return nil, damaged("its checksum is not that of its content")
	}
	v := &view{header: h, vectors: b[s.vectors:s.component], directory: b[s.directory:s.entries], list: b[s.entries:s.name]}
	v.component = make([]float32, h.dim)
	for i := range v.component {
		v.component[i] = float32At(b[s.component:], 4*i)
		if !finite(v.component[i]) {
			return nil, damaged("its component is not finite")
		}
	}
	name := b[s.name:]
	if !utf8.Valid(name) {
		return nil, damaged("its name is no text")
	}
	v.model = fmt.Sprintf("%s@%x", name, h.sum[:6])
	return v, v.checkEntries()
}

// sumOf is the checksum of a file.
func sumOf(b []byte) [sha256.Size]byte {
	sum := sha256.New()
	sum.Write(b[:sumAt])
	sum.Write(make([]byte, sha256.Size))
	sum.Write(b[headerBytes:])
	return [sha256.Size]byte(sum.Sum(nil))
}

// checkEntries walks all entries: each lies within its bucket, and refers to a
// row that is there.
func (v *view) checkEntries() error {
	words, at := uint32(0), 0
	for bucket := range v.buckets {
		end := v.start(bucket + 1)
		if v.start(bucket) != at || end < at || end > len(v.list) {
			return damaged("bucket %d has no bounds", bucket)
		}
		for at < end {
			if end-at < v.head() || end-at < v.head()+int(v.list[at]) {
				return damaged("an entry of bucket %d runs beyond it", bucket)
			}
			e := v.entry(at)
			v.worst = min(v.worst, e.score)
			if e.row >= v.rows || !finite(e.factor) || !finite(e.score) || e.length == 0 {
				return damaged("an entry of bucket %d makes no sense", bucket)
			}
			words++
			at += v.head() + e.length
		}
	}
	if at != len(v.list) || words != v.words {
		return damaged("it holds %d words instead of %d", words, v.words)
	}
	return nil
}

// start is where a bucket's entries start.
func (v *view) start(bucket uint32) int {
	return int(binary.LittleEndian.Uint32(v.directory[4*int(bucket):]))
}

// head is how many bytes of an entry stand before its word.
func (h header) head() int {
	if h.cut == cutUnigram {
		return scoreAt + 4
	}
	return scoreAt
}

// entry is a word as the table has it.
type entry struct {
	length        int // of the word
	row           uint32
	factor, score float32
}

func (v *view) entry(at int) entry {
	b := v.list[at : at+v.head()]
	e := entry{length: int(b[0]), row: binary.LittleEndian.Uint32(b[1:]), factor: float32At(b, 5)}
	if v.cut == cutUnigram {
		e.score = float32At(b, scoreAt)
	}
	return e
}

// find looks up a word whose hash is h.
func (v *view) find(word []byte, h uint64) (entry, bool) {
	bucket := bucketOf(h, v.buckets)
	head := v.head()
	for at, end := v.start(bucket), v.start(bucket+1); at < end; {
		length := int(v.list[at])
		if length == len(word) && string(v.list[at+head:at+head+length]) == string(word) {
			return v.entry(at), true
		}
		at += head + length
	}
	return entry{}, false
}

// addTo adds the vector of e to sum.
func (v *view) addTo(sum []float32, e entry) {
	row := v.vectors[int(e.row)*len(sum):][:len(sum)]
	for i, q := range row {
		sum[i] += e.factor * float32(int8(q))
	}
}

func float32At(b []byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[at:]))
}

func finite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }
