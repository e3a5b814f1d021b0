package terms

// Counter counts, for one query, how often each query term occurs in a text.
// It remembers the words it has met, so that each is stemmed once. It is not
// safe for concurrent use.
type Counter struct {
	terms map[string]int // Text to its place in the query
	first [256]bool      // first bytes of terms; stemming keeps a word's first byte
	words memo[int]      // the place of a word's term; -1: no term
	lexer lexer
	tf    []int // of the Count under way
}

// NewCounter returns a Counter for the terms of a query, which are distinct,
// as Query returns them.
func NewCounter(query []Term) *Counter {
	c := &Counter{terms: make(map[string]int, len(query)), words: newMemo[int]()}
	for i, t := range query {
		if t.Text == "" {
			continue
		}
		c.terms[t.Text] = i
		c.first[t.Text[0]] = true
	}
	c.lexer.emit = c.count
	return c
}

// Count adds the occurrences of the query's terms in text to tf, which is as
// long as the query. A term occurs as often as in the index of a row of that
// text: raw tokens and Segment tokens together.
func (c *Counter) Count(text string, tf []int) {
	if len(c.terms) == 0 {
		return
	}
	c.tf = tf
	c.lexer.scan(text)
	c.tf = nil
}

func (c *Counter) count(token []byte, _ role) {
	if !c.first[token[0]] || len(token) > maxWord {
		return
	}
	if !stems(token) { // no need to remember the pairs of characters of a text, which are many
		if place, ok := c.terms[string(token)]; ok {
			c.tf[place]++
		}
		return
	}
	place, met := c.words.of[string(token)]
	if !met {
		place = c.place(token)
	}
	if place >= 0 {
		c.tf[place]++
	}
}

// place finds the term that token is a form of, -1 if there is none, and
// remembers it.
func (c *Counter) place(token []byte) int {
	place, ok := c.terms[string(c.words.stem(token))]
	if !ok {
		place = -1
	}
	c.words.put(string(token), place)
	return place
}
