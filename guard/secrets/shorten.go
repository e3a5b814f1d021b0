package secrets

import "strings"

// MarkShort is a mark without its rule, for where the whole one has no room.
const MarkShort = "[redacted]"

// Shorten returns text, of which nothing is left to be found, with MarkShort in the
// place of each mark.
func Shorten(text string) string {
	r := compiled.get()
	var b strings.Builder
	for {
		at := strings.Index(text, markOpen)
		if at < 0 {
			return b.String() + text
		}
		b.WriteString(text[:at])
		text = text[at:]
		n := r.mark(text)
		if n > 0 {
			b.WriteString(MarkShort)
		} else {
			n = len(markOpen)
			b.WriteString(markOpen)
		}
		text = text[n:]
	}
}
