package terms

import (
	"bytes"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// role says what a token is, as bits.
type role uint8

const (
	inRaw   role = 1 << iota // FTS5 makes it of the raw text itself; all others are seg tokens
	reading                  // belongs to the normalised reading of the text, so a query may ask for it
	inRun                    // one character of a longer run, which also has bigrams
	whole                    // an identifier kept whole
	part                     // a part of an identifier
)

// lexer takes text apart into tokens: those FTS5 makes of the raw bytes, and
// those seg adds. It hands each to emit, folded but not stemmed, in a buffer
// that is valid during the call only. Together they are what the index holds
// of a row, each as often as it holds it.
//
// Words joined into an identifier come out together, at the identifier's end.
type lexer struct {
	emit func(token []byte, r role)

	chain identifier // words since the last thing that keeps words apart
	grams run        // characters of an unspaced script, likewise
	raw   tokenList  // raw tokens of the current span
	buf   []byte     // scratch
}

// scan emits the tokens of text.
func (l *lexer) scan(text string) {
	for i := 0; i < len(text); {
		if c := text[i]; c < 0x80 {
			if isAlnum(c) {
				i = l.span(text, i)
			} else {
				l.separator(rune(c))
				i++
			}
			continue
		}
		r, size := decode(text[i:])
		switch {
		case tokenRune(r):
			i = l.span(text, i)
			continue
		case symbol(r):
			l.raw.reset()
			l.normalised(norm.NFKC.String(text[i:i+size]), "")
		default:
			l.separator(r)
		}
		i += size
	}
	l.flush()
}

// separator takes note of a character between words.
func (l *lexer) separator(r rune) {
	if !l.chain.empty() && !l.chain.join(jointOf(r)) {
		l.flush()
	}
}

// span takes the letters, digits and marks that start at i and returns where
// they end. To FTS5 they are one raw token, or a few where marks split them.
func (l *lexer) span(text string, i int) (end int) {
	end, capitals := i, false
	for end < len(text) && isAlnum(text[end]) {
		capitals = capitals || isUpper(text[end]) && end > i
		end++
	}
	ascii := end
	for end < len(text) && (text[end] >= 0x80 || end > ascii) {
		r, size := decode(text[end:])
		if !tokenRune(r) && !diacritic(r) && !unicode.Is(unicode.M, r) {
			break
		}
		end += size
	}
	if end == ascii { // its own normal form
		l.word(text[i:end], text[end:], true, capitals && hasHumps(text[i:end]))
		return end
	}
	l.raw.tokenise(text[i:end])
	l.normalised(norm.NFKC.String(text[i:end]), text[end:])
	for rest := l.raw.next(); rest != nil; rest = l.raw.next() {
		l.emit(rest, inRaw)
	}
	return end
}

// normalised takes the NFKC form of a span, whose raw tokens are in l.raw;
// after is the text behind it.
func (l *lexer) normalised(s, after string) {
	start, ascii := -1, true // the word under way
	endWord := func(end int, after string) {
		if start < 0 {
			return
		}
		surface := s[start:end]
		l.word(surface, after, false, ascii && hasHumps(surface))
		start, ascii = -1, true
	}
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		switch {
		case gramRune(r):
			endWord(i, "")
			l.chain.flush(l)
			l.grams.add(l, r)
		case wordRune(r):
			l.grams.flush(l)
			if start < 0 {
				start = i
			}
			ascii = ascii && r < 0x80
		case diacritic(r): // dropped when the word is folded
			ascii = false
		case symbol(r):
			endWord(i, "")
			l.flush()
			l.buf = appendSymbol(l.buf[:0], r)
			l.seg(l.buf, reading)
		default:
			endWord(i, "")
			if !unicode.Is(unicode.M, r) {
				l.flush()
			}
		}
		i += size
	}
	endWord(len(s), after)
	l.grams.flush(l)
}

// word adds a word to the identifier under way. FTS5 makes the same word of
// the raw text if raw is set, or if it is next among the span's raw tokens.
func (l *lexer) word(surface, after string, raw, humps bool) {
	if l.chain.gap == 0 || len(l.chain.words) == maxToken { // a longer one is no identifier
		l.chain.flush(l)
	}
	token := l.chain.add(surface, suffixOf(after), humps)
	if raw || l.raw.take(token) {
		l.chain.words[len(l.chain.words)-1].raw = true
	}
}

// flush ends the identifier and the run under way.
func (l *lexer) flush() {
	l.chain.flush(l)
	l.grams.flush(l)
}

// seg emits a token the raw text does not yield, unless it is too long.
func (l *lexer) seg(token []byte, r role) {
	if len(token) <= maxToken {
		l.emit(token, r)
	}
}

// run is a run of characters of an unspaced script. It yields every character
// and every pair of neighbours.
type run struct {
	last rune // the newest character
	n    int  // characters so far
	buf  []byte
}

func (g *run) add(l *lexer, r rune) {
	if g.n > 0 {
		if g.n == 1 {
			g.emit(l, inRun, g.last)
		}
		g.emit(l, 0, g.last, r)
		g.emit(l, inRun, r)
	}
	g.last = r
	g.n++
}

func (g *run) flush(l *lexer) {
	if g.n == 1 {
		g.emit(l, 0, g.last)
	}
	g.n = 0
}

func (g *run) emit(l *lexer, r role, chars ...rune) {
	g.buf = g.buf[:0]
	for _, c := range chars {
		g.buf = appendFolded(g.buf, c)
	}
	if l.raw.take(g.buf) {
		r |= inRaw
	}
	l.emit(g.buf, r|reading)
}

// tokenList holds the raw tokens of one span, taken off in order.
type tokenList struct {
	buf  []byte
	ends []int
	from int // where in buf the next token starts
	head int // its index in ends
}

func (t *tokenList) reset() {
	t.buf, t.ends, t.from, t.head = t.buf[:0], t.ends[:0], 0, 0
}

// tokenise makes the tokens unicode61 makes of s.
func (t *tokenList) tokenise(s string) {
	t.reset()
	inside := false
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		switch {
		case tokenRune(r), inside && diacritic(r):
			t.buf = appendFolded(t.buf, r)
			inside = true
		case inside:
			t.ends = append(t.ends, len(t.buf))
			inside = false
		}
		i += size
	}
	if inside {
		t.ends = append(t.ends, len(t.buf))
	}
}

// take takes the next token off if it is the one given.
func (t *tokenList) take(token []byte) bool {
	// Lengths first: under -race a comparison costs the length of its operands,
	// and a raw token may be as long as the text.
	if t.head < len(t.ends) && t.ends[t.head]-t.from == len(token) &&
		bytes.Equal(t.buf[t.from:t.ends[t.head]], token) {
		t.next()
		return true
	}
	return false
}

// next takes the next token off, nil when there is none left.
func (t *tokenList) next() []byte {
	if t.head == len(t.ends) {
		return nil
	}
	token := t.buf[t.from:t.ends[t.head]]
	t.from = t.ends[t.head]
	t.head++
	return token
}
