package importers

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
	"memd/exchange/notes"
)

// Bounds of what is made of an entry.
const (
	MaxRaw     = 60 << 10 // bytes of a raw_content, below the budget of 64 KiB for what a guard puts in
	MaxSummary = 2000     // code points of a summary: a context has room for 8,000
)

// cutMark ends a text that was cut.
const cutMark = "\n[cut here; the file has the rest]"

// Line is a text as one line of at most max code points.
func Line(s string, max int) string {
	if len(s) > 8*max { // no more than that is looked at
		s = s[:8*max]
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max-1]), " ") + "…"
}

// Cut is a text of at most max bytes, which says so where it was longer.
func Cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	s = s[:max-len(cutMark)]
	for len(s) > 0 {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s + cutMark
}

// Visible reports whether a text shows anything.
func Visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// Key is the memory_key of a name below a folder of keys, the same for the same name
// and another for another one.
func Key(folder, name string) string {
	if key := folder + "/" + notes.KeyOf(name); memd.ValidKey(key) {
		return key
	}
	return folder + "/" + notes.KeyOf("\x00"+name) // shortened, for no key holds a NUL
}

var nameless = regexp.MustCompile(`[^a-z0-9._]+`)

// Namespace makes a namespace of a foreign name, "" of one without letters and digits.
func Namespace(prefix, name string) string {
	slug := strings.Trim(nameless.ReplaceAllString(strings.ToLower(name), "-"), "-.")
	if slug == "" {
		return ""
	}
	return prefix + strings.TrimRight(slug[:min(len(slug), 80)], "-.")
}

// bom begins files of some editors.
var bom = []byte("\ufeff")

// Unmarked is data without a byte order mark.
func Unmarked(data []byte) []byte { return bytes.TrimPrefix(data, bom) }
