package terms

// Indexer emits the index terms of texts. It remembers the words it has met,
// so that each is stemmed once. It is not safe for concurrent use.
type Indexer struct {
	stems memo[string]
	out   []byte // the term handed out
	lexer lexer
	yield func(term []byte) // of the Each under way
}

// NewIndexer returns an Indexer.
func NewIndexer() *Indexer {
	x := &Indexer{stems: newMemo[string]()}
	x.lexer.emit = x.emit
	return x
}

// Each calls yield with every index term of text, as often as Counter would
// count it were it a term of the query: raw tokens and Segment tokens
// together. The term is never empty, at most 256 bytes long, and valid during
// the call only; the caller may write to it. yield must not call Each.
func (x *Indexer) Each(text string, yield func(term []byte)) {
	x.yield = yield
	x.lexer.scan(text)
	x.yield = nil
}

func (x *Indexer) emit(token []byte, _ role) {
	if len(token) > maxWord {
		return
	}
	if !stems(token) {
		x.out = append(x.out[:0], token...)
		x.yield(x.out)
		return
	}
	term, met := x.stems.of[string(token)]
	if !met {
		stemmed, word := x.stems.stem(token), string(token)
		if n := len(stemmed); word[:n] == string(stemmed) { // mostly: no second copy
			term = word[:n]
		} else {
			term = string(stemmed)
		}
		x.stems.put(word, term)
	}
	x.out = append(x.out[:0], term...)
	x.yield(x.out)
}
