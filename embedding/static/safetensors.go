package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// maxTensorHeader is the most bytes of a safetensors header. That of a model
// of one tensor takes a few hundred.
const maxTensorHeader = 1 << 20

// tensor is where a safetensors file holds an array.
type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"` // start and end, made absolute
}

// parseTensors reads the header of a safetensors file of size bytes. Every
// tensor it returns lies within the file and is as large as its shape says.
func parseTensors(r io.ReaderAt, size int64) (map[string]tensor, error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("no safetensors file")
		}
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxTensorHeader || int64(n) > size-8 {
		return nil, errors.New("a safetensors header of no sensible size")
	}
	raw := make([]byte, n)
	if _, err := r.ReadAt(raw, 8); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, errors.New("a safetensors header that is no JSON object")
	}
	delete(fields, "__metadata__")
	tensors := map[string]tensor{}
	for name, field := range fields {
		var t tensor
		if err := json.Unmarshal(field, &t); err != nil || len(t.Offsets) != 2 {
			return nil, errors.New("a tensor without type, shape and offsets")
		}
		if !t.fits(uint64(size) - 8 - n) {
			return nil, errors.New("a tensor that does not lie within the file, or is not of its shape's size")
		}
		t.Offsets[0] += 8 + n
		t.Offsets[1] += 8 + n
		tensors[name] = t
	}
	return tensors, nil
}

// fits reports whether t lies within data bytes and has the size of its shape.
// A type that is not read here has no size to compare with.
func (t tensor) fits(data uint64) bool {
	start, end := t.Offsets[0], t.Offsets[1]
	if start > end || end > data {
		return false
	}
	want := uint64(t.width())
	if want == 0 {
		return true
	}
	for _, n := range t.Shape {
		var high uint64
		if high, want = bits.Mul64(want, n); high != 0 {
			return false
		}
	}
	return want == end-start
}

// width is the bytes of a number, 0 for a type that is not read.
func (t tensor) width() int {
	switch t.Type {
	case "F64", "I64":
		return 8
	case "F32", "I32":
		return 4
	case "F16", "BF16":
		return 2
	case "I8":
		return 1
	}
	return 0
}

// reader reads the numbers of t in their order.
func (t tensor) reader(r io.ReaderAt) io.Reader {
	return io.NewSectionReader(r, int64(t.Offsets[0]), int64(t.Offsets[1]-t.Offsets[0]))
}

// number decodes one number of t's type.
func (t tensor) number(b []byte) float64 {
	le := binary.LittleEndian
	switch t.Type {
	case "F64":
		return math.Float64frombits(le.Uint64(b))
	case "F32":
		return float64(math.Float32frombits(le.Uint32(b)))
	case "F16":
		return float64(half(le.Uint16(b)))
	case "BF16":
		return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16))
	case "I64":
		return float64(int64(le.Uint64(b)))
	case "I32":
		return float64(int32(le.Uint32(b)))
	}
	return float64(int8(b[0]))
}

// list reads all of t, at most of most numbers in one dimension.
func (t tensor) list(r io.ReaderAt, most int) ([]float64, error) {
	if len(t.Shape) != 1 || t.width() == 0 || t.Shape[0] > uint64(most) {
		return nil, fmt.Errorf("a list of type %.8q and %d dimensions, not of at most %d numbers", t.Type, len(t.Shape), most)
	}
	raw := make([]byte, t.Offsets[1]-t.Offsets[0])
	if _, err := io.ReadFull(t.reader(r), raw); err != nil {
		return nil, err
	}
	list := make([]float64, t.Shape[0])
	for i := range list {
		list[i] = t.number(raw[i*t.width():])
	}
	return list, nil
}

// half decodes an IEEE 754 binary16.
func half(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent, fraction := uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exponent {
	case 0: // zero and what is below the normal numbers
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
