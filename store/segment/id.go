package segment

import (
	"bytes"
	"strings"
)

const (
	uuidBytes = 16
	uuidText  = 36
)

// dash says where a UUID in text form has one.
func dash(i int) bool { return i == 8 || i == 13 || i == 18 || i == 23 }

// parseUUID reads a UUID in its one text form, in small letters, so that what
// it accepts comes back byte for byte and in the same order.
func parseUUID(s string) (id [uuidBytes]byte, ok bool) {
	if len(s) != uuidText {
		return id, false
	}
	n := 0 // digits
	for i := range len(s) {
		if dash(i) {
			if s[i] != '-' {
				return id, false
			}
			continue
		}
		var v byte
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			v = c - '0'
		case 'a' <= c && c <= 'f':
			v = c - 'a' + 10
		default:
			return id, false
		}
		id[n/2] = id[n/2]<<4 | v
		n++
	}
	return id, true
}

// formatUUID is the reverse.
func formatUUID(id [uuidBytes]byte) (text [uuidText]byte) {
	const digits = "0123456789abcdef"
	n := 0
	for i := range text {
		if dash(i) {
			text[i] = '-'
			continue
		}
		text[i] = digits[id[n/2]>>(4*(1-n%2))&15]
		n++
	}
	return text
}

// ref is an id as the columns hold it: a UUID, or a text that is none.
type ref struct {
	uuid [uuidBytes]byte
	text string
	odd  bool // text counts
}

// compare orders ids as their texts are ordered.
func (a *ref) compare(b *ref) int {
	switch {
	case a.odd && b.odd:
		return strings.Compare(a.text, b.text)
	case a.odd:
		return -b.compareText(a.text)
	case b.odd:
		return a.compareText(b.text)
	}
	return bytes.Compare(a.uuid[:], b.uuid[:])
}

// compareText compares a UUID with a text.
func (a *ref) compareText(s string) int {
	text := formatUUID(a.uuid)
	for i := range min(len(s), len(text)) {
		if text[i] != s[i] {
			return int(text[i]) - int(s[i])
		}
	}
	return len(text) - len(s)
}
