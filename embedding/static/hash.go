package static

import "math/bits"

// FNV-1a, which a hash of a longer word goes on from.
const (
	hashStart uint64 = 14695981039346656037
	hashPrime uint64 = 1099511628211
)

func hashOf[T string | []byte](word T) uint64 {
	h := hashStart
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * hashPrime
	}
	return h
}

// bucketOf spreads FNV-1a, whose upper bits the last bytes of a word hardly
// reach, over buckets.
func bucketOf(h uint64, buckets uint32) uint32 {
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	high, _ := bits.Mul64(h, uint64(buckets))
	return uint32(high)
}
