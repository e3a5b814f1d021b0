package static

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// words adds what a table of words knows of text.
func (c *cutter) words(text string) {
	text = norm.NFKC.String(text) // what is a letter, and of which script, shows only then
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		end := i + size
		switch classOf(r) {
		case letter:
			end = wordEnd(text, end)
			c.compound(text[i:end])
		case unspaced:
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				if classOf(r) != unspaced && !unicode.Is(unicode.M, r) {
					break
				}
				end += size
			}
			c.run(text[i:end])
		case symbol:
			c.try(text[i:end])
		}
		i = end
	}
}

// wordEnd is where the word ends that goes on at i: at the first character
// that is neither letter nor a joiner before one.
func wordEnd(text string, i int) int {
	end := i
	for i < len(text) {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		switch classOf(r) {
		case letter:
			end = i
		case joiner:
		default:
			return end
		}
	}
	return end
}

// compound adds a word, or else its parts: those between joiners, or else those
// between a small letter and a capital.
func (c *cutter) compound(word string) {
	if c.try(word) {
		return
	}
	apostrophe := false
	for word != "" {
		part, rest := word, ""
		i := strings.IndexFunc(word, func(r rune) bool { return classOf(r) == joiner })
		next := false
		if i >= 0 {
			r, size := utf8.DecodeRuneInString(word[i:])
			part, rest = word[:i], word[i+size:]
			next = r == '\'' || r == '’'
		}
		// What follows an apostrophe is 's, 't, 'll: nothing that tells texts apart.
		if (!apostrophe || len(part) > 2) && !c.try(part) {
			c.humps(part)
		}
		word, apostrophe = rest, next
	}
}

// humps adds the parts of camelCase and HTTPServer.
func (c *cutter) humps(word string) {
	start := 0
	for i := 1; i < len(word); i++ {
		small := 'a' <= word[i-1] && word[i-1] <= 'z'
		capital := 'A' <= word[i] && word[i] <= 'Z'
		nextSmall := i+1 < len(word) && 'a' <= word[i+1] && word[i+1] <= 'z'
		if capital && (small || nextSmall) {
			c.try(word[start:i])
			start = i
		}
	}
	if start > 0 {
		c.try(word[start:])
	}
}

// try adds word if the table knows it.
func (c *cutter) try(word string) bool {
	if word == "" || len(word) > 2*maxWord {
		return false
	}
	c.buf = fold(c.buf[:0], word)
	e, ok := c.find(c.buf, hashOf(c.buf))
	if ok {
		c.add(e)
	}
	return ok
}

// run adds the words of a text without spaces, at each place the longest that
// the table knows, which may be a single character.
func (c *cutter) run(text string) {
	c.buf = fold(c.buf[:0], text)
	for rest := c.buf; len(rest) > 0; {
		_, step := utf8.DecodeRune(rest)
		if e, ok := c.prefix(hashStart, "", rest); ok {
			c.add(e)
			step = max(e.length, 1)
		}
		rest = rest[step:]
	}
}

// prefix finds the longest word of the table that is before followed by some
// characters of text, at least one. h is the hash of before.
func (c *cutter) prefix(h uint64, before string, text []byte) (longest entry, found bool) {
	word := append(make([]byte, 0, maxWord+utf8.UTFMax), before...)
	for chars := 0; chars < int(c.longest) && len(text) > 0; chars++ {
		_, size := utf8.DecodeRune(text)
		if len(word)+size > maxWord {
			break
		}
		for _, b := range text[:size] {
			h = (h ^ uint64(b)) * hashPrime
		}
		word = append(word, text[:size]...)
		if e, ok := c.find(word, h); ok {
			longest, found = e, true
		}
		text = text[size:]
	}
	return longest, found
}
