package terms

import "strings"

// identifier gathers words that joints alone keep apart (src/api/x.go), to
// emit them with the whole they make.
type identifier struct {
	folded []byte // the words, folded, one after the other
	words  []word
	joint  joint // strongest since the last word
	gap    int   // characters since the last word
	buf    []byte
}

// word is one word of an identifier.
type word struct {
	surface    string // as written
	start, end int    // its place in folded
	joint      joint  // what joins it to the word before
	suffix     string // what a trailing + or # reads as
	raw        bool   // FTS5 makes it of the raw text
	humps      bool   // surface is ASCII and camelCase
}

// maxGap bounds the joints between two words: enough for "://".
const maxGap = 3

func (id *identifier) empty() bool { return len(id.words) == 0 }

// join takes note of one joint after the last word. It reports false if what
// follows does not belong to the identifier any more.
func (id *identifier) join(j joint) bool {
	if j == apart || id.gap == maxGap {
		return false
	}
	id.joint = max(id.joint, j)
	id.gap++
	return true
}

// add adds a word and returns its folded form.
func (id *identifier) add(surface, suffix string, humps bool) []byte {
	start := len(id.folded)
	for i := 0; i < len(surface); {
		if c := surface[i]; c < 0x80 {
			if isUpper(c) {
				c |= 0x20
			}
			id.folded = append(id.folded, c)
			i++
			continue
		}
		r, size := decode(surface[i:])
		id.folded = appendFolded(id.folded, r)
		i += size
	}
	id.words = append(id.words, word{
		surface: surface, start: start, end: len(id.folded),
		joint: id.joint, suffix: suffix, humps: humps,
	})
	id.joint, id.gap = apart, 0
	return id.folded[start:]
}

// flush emits the words and what they make together, and starts anew.
func (id *identifier) flush(l *lexer) {
	if id.empty() {
		return
	}
	joined := len(id.words) > 1 && len(id.folded) <= maxToken
	for i := range id.words {
		id.emit(l, &id.words[i], joined)
	}
	if len(id.words) > 1 {
		id.names(l)
	}
	if joined {
		l.seg(id.folded, reading|whole)
	}
	id.folded, id.words, id.joint, id.gap = id.folded[:0], id.words[:0], apart, 0
}

// emit emits one word, its humps, and its form with a suffix.
func (id *identifier) emit(l *lexer, w *word, joined bool) {
	token := id.folded[w.start:w.end]
	r := reading
	if joined || w.suffix != "" {
		r |= part
	}
	if w.humps {
		r |= whole
	}
	if w.raw {
		l.emit(token, r|inRaw)
	} else {
		l.seg(token, r)
	}
	if w.suffix != "" {
		id.buf = append(append(id.buf[:0], token...), w.suffix...)
		l.seg(id.buf, reading|whole)
	}
	if !w.humps || len(token) > maxToken {
		return
	}
	for start := 0; start < len(token); {
		end := humpEnd(w.surface, start)
		if end-start > 1 { // a letter alone says nothing
			l.seg(token[start:end], reading|part)
		}
		start = end
	}
}

// names emits the names within a path: x.go of src/api/x.go. A path is often
// asked for by its last name alone.
func (id *identifier) names(l *lexer) {
	first := 0
	for i := 1; i <= len(id.words); i++ {
		if i < len(id.words) && id.words[i].joint == weak {
			continue
		}
		if n := i - first; n > 1 && n < len(id.words) {
			l.seg(id.folded[id.words[first].start:id.words[i-1].end], reading|whole)
		}
		first = i
	}
}

// suffixOf reads the + or # that after starts with, behind a word: C++, C#,
// F#. One that joins two words is no suffix, but ++ always is.
func suffixOf(after string) string {
	switch {
	case after == "" || after[0] != '+' && after[0] != '#':
		return ""
	case strings.HasPrefix(after, "++"):
		return "plusplus"
	case len(after) > 1 && (isAlnum(after[1]) || after[1] == '#'):
		return ""
	case after[0] == '#':
		return "sharp"
	}
	return "plus"
}

// hasHumps reports whether an ASCII word has more than one hump.
func hasHumps(s string) bool { return humpEnd(s, 0) < len(s) }

// humpEnd returns where the hump that starts at start ends: before a capital
// that follows a small letter (test|All), and before the last of several
// capitals that a small letter follows (HTTP|Server, Base64|Encode), except
// the plural of an acronym (URLs).
func humpEnd(s string, start int) int {
	for i := start + 1; i < len(s); i++ {
		if !isUpper(s[i]) {
			continue
		}
		if isLower(s[i-1]) {
			return i
		}
		if next := s[i+1:]; next != "" && isLower(next[0]) && next != "s" {
			return i
		}
	}
	return len(s)
}
