package tiers

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"memd"
)

// ContentHash identifies the content of a memory: SHA-256 over summary,
// raw_content, why and how_to_apply, each brought to NFC, trimmed and with
// its white space collapsed; case is kept. Only rows of equal hash are
// duplicates. The form is "sha256:" and 64 hexadecimal digits.
func ContentHash(m *memd.Memory) string {
	content := make([]byte, 0, len(m.Summary)+len(m.RawContent)+len(m.Why)+len(m.HowToApply)+8)
	for _, text := range []string{m.Summary, m.RawContent, m.Why, m.HowToApply} {
		words := 0
		for word := range strings.FieldsSeq(norm.NFC.String(text)) {
			if words++; words > 1 {
				content = append(content, ' ')
			}
			content = append(content, word...)
		}
		content = append(content, 0) // no text holds a NUL, so fields cannot run together
	}
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// rehash gives a stored row the hash of what it says now. A summary edited by
// hand keeps the old hash until the light groom; to go by that one would fold
// new content into a row that says something else.
func rehash(m *memd.Memory) { m.ContentHash = ContentHash(m) }

// visible reports whether text shows anything at all: a rune that is neither
// white space nor control nor one of the characters that have no glyph.
func visible(text string) bool {
	for _, r := range text {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me):
		case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u2800': // fillers and the blank Braille cell
		default:
			return true
		}
	}
	return false
}

// echoed is the answer to a write of such a text: nothing was written, and the
// memory beside the warning has no id.
func echoed(t memd.Tier, k memd.Kind) memd.Written {
	return memd.Written{
		Memory: memd.Memory{
			Tier: t, Kind: k, Importance: memd.DefaultImportance, SourceStatus: memd.SourceNone,
			Tags: []string{}, Access: []string{},
		},
		Warnings: []string{"nothing was written: the text is memd's own context, not a new observation"},
	}
}
