package static

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"memd/embedding"
	"memd/internal/atomicfile"
)

// tempPattern names an unfinished table.
const tempPattern = ".memd-*.tmp"

// word is a word on its way into a table.
type word struct {
	at     uint32 // where its bytes start in the writer's text
	length uint8
	row    uint32
	factor float32
	score  float32
}

// writer makes a table: rows first, which go to the disk as they come, then
// the words, which are kept until the end.
type writer struct {
	f     *os.File
	out   *bufio.Writer
	dim   int
	rows  uint32
	text  []byte
	words []word
	seen  map[uint64]struct{} // hashes of the words
}

// newWriter starts an unfinished file in the folder dir.
func newWriter(dir string, dim int) (*writer, error) {
	f, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return nil, err
	}
	w := &writer{f: f, out: bufio.NewWriterSize(f, 1<<18), dim: dim, seen: map[uint64]struct{}{}}
	w.out.Write(make([]byte, headerBytes)) // its error stays until the flush
	return w, nil
}

// drop removes the unfinished file; after commit it does nothing.
func (w *writer) drop() {
	_ = w.f.Close()
	_ = os.Remove(w.f.Name())
}

// row appends a vector and returns its number and the scale of its
// quantisation, 0 of a vector of zeros.
func (w *writer) row(v []float32) (row uint32, scale float32, err error) {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	if _, err := w.out.Write(embedding.Int8(v)); err != nil {
		return 0, 0, err
	}
	w.rows++
	return w.rows - 1, float32(largest / 127), nil
}

// has reports whether a word is there. Of two words with one hash of 64 bits
// the second passes for the first.
func (w *writer) has(text []byte) bool {
	_, ok := w.seen[hashOf(text)]
	return ok
}

// add adds a word of at most maxWord bytes that is not there yet.
func (w *writer) add(text []byte, row uint32, factor, score float32) {
	w.seen[hashOf(text)] = struct{}{}
	w.words = append(w.words, word{uint32(len(w.text)), uint8(len(text)), row, factor, score})
	w.text = append(w.text, text...)
}

func (w *writer) textOf(e word) []byte { return w.text[e.at:][:e.length] }

// vector reads the vector of a word back from the rows, which are flushed.
func (w *writer) vector(v []float32, e word) error {
	raw := make([]byte, w.dim)
	if _, err := w.f.ReadAt(raw, headerBytes+int64(e.row)*int64(w.dim)); err != nil {
		return err
	}
	for i, q := range raw {
		v[i] = e.factor * float32(int8(q))
	}
	return nil
}

// commit finishes the table of the given way to cut and name, and puts it at
// path. It returns the file's size.
func (w *writer) commit(path string, h header, name string, component []float32) (int64, error) {
	h.dim, h.rows, h.words, h.name = uint32(w.dim), w.rows, uint32(len(w.words)), uint8(len(name))
	h.buckets = (h.words + 1) / 2
	order := w.byBucket(h.buckets)
	entries := uint64(len(w.words))*uint64(h.head()) + uint64(len(w.text))
	if entries > math.MaxInt32 {
		return 0, errors.New("the words take more than 2 GiB")
	}
	h.entries = uint32(entries)
	w.writeComponent(component)
	w.writeDirectory(order, h)
	w.writeEntries(order, h)
	w.out.WriteString(name)
	if err := w.out.Flush(); err != nil {
		return 0, err
	}
	if err := w.seal(h); err != nil {
		return 0, err
	}
	if err := os.Rename(w.f.Name(), path); err != nil {
		return 0, err
	}
	return h.sections().end, atomicfile.SyncDir(filepath.Dir(path))
}

// byBucket is the order of the words in the file; those of a bucket stand as
// they were added, the commonest first.
func (w *writer) byBucket(buckets uint32) []uint32 {
	bucket := make([]uint32, len(w.words))
	order := make([]uint32, len(w.words))
	for i, e := range w.words {
		bucket[i], order[i] = bucketOf(hashOf(w.textOf(e)), buckets), uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(bucket[a], bucket[b]), cmp.Compare(a, b)) })
	return order
}

func (w *writer) writeComponent(component []float32) {
	for i := range w.dim {
		x := float32(0)
		if component != nil {
			x = component[i]
		}
		w.u32(math.Float32bits(x))
	}
}

func (w *writer) writeDirectory(order []uint32, h header) {
	at, next := uint32(0), 0
	for bucket := range h.buckets {
		w.u32(at)
		for next < len(order) {
			e := w.words[order[next]]
			if bucketOf(hashOf(w.textOf(e)), h.buckets) != bucket {
				break
			}
			at += uint32(h.head()) + uint32(e.length)
			next++
		}
	}
	w.u32(at)
}

func (w *writer) writeEntries(order []uint32, h header) {
	for _, i := range order {
		e := w.words[i]
		w.out.WriteByte(e.length)
		w.u32(e.row)
		w.u32(math.Float32bits(e.factor))
		if h.cut == cutUnigram {
			w.u32(math.Float32bits(e.score))
		}
		w.out.Write(w.textOf(e))
	}
}

// u32 writes x; a failure stays with the buffer until it is flushed.
func (w *writer) u32(x uint32) {
	w.out.Write(binary.LittleEndian.AppendUint32(w.out.AvailableBuffer(), x))
}

// seal writes the header with the checksum and puts the file on disk.
func (w *writer) seal(h header) error {
	sum := sha256.New()
	sum.Write(h.bytes())
	if _, err := io.Copy(sum, io.NewSectionReader(w.f, headerBytes, h.sections().end)); err != nil {
		return err
	}
	h.sum = [sha256.Size]byte(sum.Sum(nil))
	if _, err := w.f.WriteAt(h.bytes(), 0); err != nil {
		return err
	}
	if err := w.f.Sync(); err != nil {
		return err
	}
	return w.f.Close()
}
