package static

import (
	"math"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// metaspace stands for a space, and before the first word.
const metaspace = '▁'

// unknownPenalty is how far below the worst piece a character without a piece
// is, as in SentencePiece.
const unknownPenalty = 10

// path is the best way to cut a text up to one of its bytes.
type path struct {
	score float64
	last  entry // the piece that ends here
	from  int32 // where it starts
	known bool  // the piece is one of the table
	alive bool  // a character ends here
}

// unigrams adds the pieces of text with the highest sum of scores, the ones
// SentencePiece's Unigram makes.
func (c *cutter) unigrams(text string) {
	c.buf = c.spaced(c.buf[:0], text)
	c.paths = append(c.paths[:0], make([]path, len(c.buf)+1)...)
	c.paths[0].alive = true
	for i := 0; i < len(c.buf); {
		_, size := utf8.DecodeRune(c.buf[i:])
		c.reach(i, size, entry{score: c.worst - unknownPenalty}, false)
		c.extend(i)
		i += size
	}
	c.pieces = c.pieces[:0]
	for i := len(c.buf); i > 0; i = int(c.paths[i].from) {
		if c.paths[i].known {
			c.pieces = append(c.pieces, c.paths[i].last)
		}
	}
	for _, e := range c.pieces {
		c.add(e)
	}
}

// extend reaches on from i by every piece that starts there.
func (c *cutter) extend(i int) {
	h := hashStart
	for chars, end := 0, i; chars < int(c.longest) && end < len(c.buf); chars++ {
		_, size := utf8.DecodeRune(c.buf[end:])
		for _, b := range c.buf[end : end+size] {
			h = (h ^ uint64(b)) * hashPrime
		}
		end += size
		if end-i > maxWord {
			return
		}
		if e, ok := c.find(c.buf[i:end], h); ok {
			c.reach(i, end-i, e, true)
		}
	}
}

// reach notes the way over a piece of size bytes at i, if it is the best.
func (c *cutter) reach(i, size int, e entry, known bool) {
	score := c.paths[i].score + float64(e.score)
	if to := &c.paths[i+size]; !to.alive || score > to.score {
		*to = path{score, e, int32(i), known, true}
	}
}

// spaced appends text as the flags have it, its words led by a metaspace.
func (c *cutter) spaced(dst []byte, text string) []byte {
	if c.flags&flagNFKC != 0 {
		text = norm.NFKC.String(text)
	}
	if c.flags&flagAccents != 0 {
		text = norm.NFD.String(text)
	}
	space := true // a word that follows begins here
	put := func(r rune) {
		if space {
			dst = utf8.AppendRune(dst, metaspace)
		}
		dst = utf8.AppendRune(dst, r)
		space = false
	}
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = true
		case r == 0, r == utf8.RuneError, unicode.In(r, unicode.Cc), c.flags&flagAccents != 0 && unicode.Is(unicode.Mn, r):
		case c.flags&flagPunct != 0 && r < utf8.RuneSelf && bertPunct(r), c.flags&flagHan != 0 && bertHan(r):
			space = true
			put(r)
			space = true
		case c.flags&flagLower != 0:
			put(unicode.ToLower(r))
		default:
			put(r)
		}
	}
	if len(dst) > math.MaxInt32 {
		dst = dst[:0]
	}
	return dst
}
