package terms

// maxCached bounds the words a memo remembers; then it forgets them all.
const maxCached = 4096

// memo remembers what was made of words, before stemming, that keep coming
// back in texts.
type memo[V any] struct {
	of  map[string]V
	buf []byte
}

func newMemo[V any]() memo[V] { return memo[V]{of: map[string]V{}} }

// stem returns the stem of token, which it leaves alone. The result is valid
// until the next call.
func (m *memo[V]) stem(token []byte) []byte {
	m.buf = append(m.buf[:0], token...)
	return stem(m.buf)
}

// put remembers v for word.
func (m *memo[V]) put(word string, v V) {
	if len(m.of) == maxCached {
		clear(m.of)
	}
	m.of[word] = v
}
