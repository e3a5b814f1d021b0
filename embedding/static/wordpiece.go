package static

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordPieceChars is the length beyond which WordPiece does not know a word.
const wordPieceChars = 100

// continuing marks a piece that does not begin a word.
const continuing = "##"

// wordPieces adds the pieces of text as BERT's tokenizer makes them: words end
// at white space, punctuation is a word by itself, and so is each Chinese
// character where the flags say so.
func (c *cutter) wordPieces(text string) {
	if c.flags&flagAccents != 0 {
		text = norm.NFD.String(text)
	}
	c.buf = c.buf[:0]
	flush := func() {
		if len(c.buf) > 0 {
			c.wordPiece(c.buf)
			c.buf = c.buf[:0]
		}
	}
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			flush()
		case r == 0, r == utf8.RuneError, unicode.In(r, unicode.C), c.flags&flagAccents != 0 && unicode.Is(unicode.Mn, r):
		case bertPunct(r), c.flags&flagHan != 0 && bertHan(r):
			flush()
			c.buf = utf8.AppendRune(c.buf, r)
			flush()
		default:
			if c.flags&flagLower != 0 {
				r = unicode.ToLower(r)
			}
			c.buf = utf8.AppendRune(c.buf, r)
		}
	}
	flush()
}

// wordPiece adds the pieces of a word, each the longest that the table knows.
// A word that leaves a rest is not known at all.
func (c *cutter) wordPiece(word []byte) {
	if utf8.RuneCount(word) > wordPieceChars {
		return
	}
	c.pieces = c.pieces[:0]
	hash, before := hashStart, ""
	for len(word) > 0 {
		e, ok := c.prefix(hash, before, word)
		if !ok {
			return
		}
		c.pieces = append(c.pieces, e)
		word = word[e.length-len(before):]
		hash, before = hashOf(continuing), continuing
	}
	for _, e := range c.pieces {
		c.add(e)
	}
}

// bertPunct reports whether BERT takes r for punctuation: all of ASCII but
// letters, digits and controls, and what Unicode says.
func bertPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && classOf(r) != letter
	}
	return unicode.Is(unicode.P, r)
}

// bertHan reports whether r is a Chinese character to BERT.
func bertHan(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || 0x3400 <= r && r <= 0x4DBF || 0x20000 <= r && r <= 0x2CEAF ||
		0xF900 <= r && r <= 0xFAFF || 0x2F800 <= r && r <= 0x2FA1F
}
