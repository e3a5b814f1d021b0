// Package reading turns a text into what scanners read: compatible characters
// as plain ones, invisible ones out of the way, and every byte of it with the
// place that it came from.
package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text is a text as it is read. Where From is nil its bytes are those of the
// given text.
type Text struct {
	S        string
	From, To []int32 // of the runes of the given text that made each byte of S
}

// Original is the range of the given text that made S[start:end], on the bounds
// of its runes. It is false for an empty one.
func (t Text) Original(start, end int) (int, int, bool) {
	if start >= end {
		return 0, 0, false
	}
	if t.From == nil {
		for start > 0 && !utf8.RuneStart(t.S[start]) {
			start--
		}
		for end < len(t.S) && !utf8.RuneStart(t.S[end]) {
			end++
		}
		return start, end, true
	}
	from, to := int(t.From[start]), int(t.To[end-1])
	return from, to, from < to
}

// Builder makes a Text of the pieces of another, which it takes in the order in
// which they stand.
type Builder struct {
	Of       Text
	text     []byte
	from, to []int32
}

// Put appends text, made by the bytes start to end of the Text it is made of.
func (b *Builder) Put(text string, start, end int) {
	from, to := int32(start), int32(end)
	if b.Of.From != nil {
		from, to = b.Of.From[start], b.Of.To[end-1]
	}
	b.text = append(b.text, text...)
	for range len(text) {
		b.from = append(b.from, from)
		b.to = append(b.to, to)
	}
}

// Keep appends the bytes start to end as they are.
func (b *Builder) Keep(start, end int) {
	b.text = append(b.text, b.Of.S[start:end]...)
	if b.Of.From != nil {
		b.from = append(b.from, b.Of.From[start:end]...)
		b.to = append(b.to, b.Of.To[start:end]...)
		return
	}
	for at := start; at < end; {
		_, size := utf8.DecodeRuneInString(b.Of.S[at:end])
		for range size {
			b.from = append(b.from, int32(at))
			b.to = append(b.to, int32(at+size))
		}
		at += size
	}
}

// Len is how many bytes were appended.
func (b *Builder) Len() int { return len(b.text) }

// Text is what was appended.
func (b *Builder) Text() Text { return Text{string(b.text), b.from, b.to} }

// Taken stands in a Text where something was taken out. It is no letter of any
// word, so that what is on both sides of it is never one.
const Taken = '\uFFFC'

// Fold writes compatible characters as plain ones (NFKC, rune by rune), puts
// between in the place of invisible ones, and Taken in that of what taken says
// was taken out: it tells how many bytes at the beginning of a text, which may
// be 0. Fold tells whether there was an invisible one.
func Fold(text, between string, taken func(text string) int) (folded Text, invisible bool) {
	if Plain(text) && !strings.ContainsRune(text, '[') {
		return Text{S: text}, false
	}
	b := Builder{Of: Text{S: text}}
	b.text = make([]byte, 0, len(text))
	b.from, b.to = make([]int32, 0, len(text)), make([]int32, 0, len(text))
	for at := 0; at < len(text); {
		if n := taken(text[at:]); n > 0 {
			b.Put(string(Taken), at, at+n)
			at += n
			continue
		}
		c, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case c < utf8.RuneSelf:
			b.Put(text[at:at+1], at, at+1)
		case unseen(c):
			b.Put(between, at, at+size)
			invisible = true
		case c > 0xFF00 && c < 0xFF5F: // the full-width forms of ASCII
			b.Put(string(c-0xFEE0), at, at+size)
		case c >= 0x4E00 && c <= 0x9FFF || c == utf8.RuneError: // most of Chinese stays as it is
			b.Put(text[at:at+size], at, at+size)
		default:
			b.Put(norm.NFKC.String(text[at:at+size]), at, at+size)
		}
		at += size
	}
	return b.Text(), invisible
}

// Plain reports whether text is ASCII.
func Plain(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unseen reports whether a character is not seen where it stands: joiners,
// directions, variation selectors, the soft hyphen.
func unseen(c rune) bool {
	if c >= 0x2E80 && c < 0xFB00 { // CJK
		return false
	}
	return unicode.In(c, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
