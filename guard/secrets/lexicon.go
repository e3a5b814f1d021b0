package secrets

// lexicon finds words in a text, in either case of letters, in one pass.
type lexicon struct {
	buckets [1 << 10][]trigger // by the first two bytes of a word, in lower case
}

// trigger is a word of a rule.
type trigger struct {
	word string // in lower case, of two bytes at least
	rule int
}

func (l *lexicon) add(word string, rule int) {
	b := bucket(word[0], word[1])
	l.buckets[b] = append(l.buckets[b], trigger{word, rule})
}

func bucket(first, second byte) int {
	return (int(first)<<4 ^ int(second)) & (1<<10 - 1)
}

// each calls do for every word that stands in text, from left to right.
func (l *lexicon) each(text string, do func(at int, t trigger)) {
	if text == "" {
		return
	}
	first := lowerByte(text[0])
	for at := range len(text) - 1 {
		second := lowerByte(text[at+1])
		for _, t := range l.buckets[bucket(first, second)] {
			if t.word[0] == first && hasWord(text[at:], t.word) {
				do(at, t)
			}
		}
		first = second
	}
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hasWord reports whether text begins with a word of lower case, in either.
func hasWord(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lowerByte(text[i]) != word[i] {
			return false
		}
	}
	return true
}
