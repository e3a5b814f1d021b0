package embedding

import (
	"errors"
	"fmt"
	"math"
)

// What makes a vector unusable.
var (
	ErrLength    = errors.New("the vector has another length than the model's")
	ErrNotFinite = errors.New("the vector holds a number that is not finite")
	ErrZero      = errors.New("the vector is zero")
)

// zeroLength is the length at or below which a vector has no direction left
// that could be told from rounding.
const zeroLength = 1e-12

// Check returns what is wrong with v as a vector of dim numbers, nil if
// nothing is. It accepts any length in space above zero.
func Check(v []float32, dim int) error {
	if len(v) != dim || dim == 0 {
		return fmt.Errorf("%w: %d numbers instead of %d", ErrLength, len(v), dim)
	}
	length := norm(v)
	switch {
	case math.IsNaN(length) || math.IsInf(length, 0):
		return ErrNotFinite
	case length <= zeroLength:
		return ErrZero
	}
	return nil
}

// Unit scales v, which passes [Check], to unit length in place.
func Unit(v []float32) {
	scale := 1 / norm(v)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}

// norm is the Euclidean length of v. The square of no float32 overflows a
// float64, so it is finite where all of v is.
func norm(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// Int8 quantises v to one signed byte a number, as sqlite-vec's vec_int8 reads
// them. The largest number of v becomes 127 or -127: the cosine does not see
// the scale, and the fixed scale of vec_quantize_int8(v, 'unit') would leave
// the numbers of a unit vector of 256 about eight steps either way. Distances
// other than the cosine (and of bits, Hamming) mean nothing between the results.
func Int8(v []float32) []byte {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	out := make([]byte, len(v))
	if largest == 0 {
		return out
	}
	scale := 127 / largest
	for i, x := range v {
		out[i] = byte(int8(math.Round(float64(x) * scale)))
	}
	return out
}

// Bits quantises v to the signs of its numbers, as sqlite-vec's vec_bit reads
// them and vec_quantize_binary makes them: bit i%8 of byte i/8, from the lowest,
// is set where v[i] is above zero. Where the length is no multiple of eight,
// which sqlite-vec wants, bits of 0 fill the last byte; they add nothing to a
// Hamming distance.
func Bits(v []float32) []byte {
	out := make([]byte, (len(v)+7)/8)
	for i, x := range v {
		if x > 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}
