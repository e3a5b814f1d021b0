package fence

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"memd"
)

const uuid = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`

// marks are what stands before the lines of a quoted text: indents, and signs of
// quotations, comments, lists and tables.
const marks = ` \t>#*/|`

// Made reports whether the texts of one memory are nothing but what memd gave out:
// who stores what it recalled multiplies its memories. Of that are two lines or more
// there, and beside them no words of the writer's own (see own.go). One line is a
// quotation, and a text with words of its own is that of who wrote it, whatever it
// quotes: both are stored, and no word is lost for the company that it keeps.
//
// What memd gave out is known by its form: the boundaries, the sentence under them,
// headings, entries with what stands two columns in below them, the lines of a
// manifest, JSON answers, and what the command line prints; also where it was cut,
// indented, wrapped, quoted, escaped or put into a block of code.
func Made(texts ...string) bool {
	if !slices.ContainsFunc(texts, mayBeMade) {
		return false
	}
	for _, text := range texts {
		if !mayBeMade(text) && ofWords(text) == own {
			return false
		}
	}
	var all []line
	for _, text := range texts {
		lines := classify(text)
		if len(lines) > 0 && lines[len(lines)-1].class == own {
			return false
		}
		all = append(all, lines...)
	}
	given := 0
	for i, l := range all {
		given += l.lines
		if l.class == announcing && !nextIsMemds(all[i+1:]) {
			return false
		}
	}
	return given > 1
}

// mayBeMade is false for most texts, without a look at their lines.
func mayBeMade(text string) bool {
	if strings.ContainsAny(text, "[{") || !plainASCII(text) && strings.ContainsFunc(text, disguises) {
		return true
	}
	lower := strings.ToLower(text)
	return strings.Contains(lower, "memories") || strings.Contains(lower, "tier ")
}

// disguises reports whether a word with r in it may read otherwise than it is
// written.
func disguises(r rune) bool {
	return 'Ａ' <= r && r <= 'ｚ' || !common(r) && r > unicode.MaxASCII && (ignorable(r) || unicode.Is(unicode.Dash, r))
}

// class is what a line of a text is.
type class int

const (
	empty      class = iota // it says nothing
	memds                   // memd gave it out
	announcing              // it says nothing but that memories follow, if they do
	own                     // it holds words of the writer's
)

// line is a line of a text, and how many of memd's own it stands for.
type line struct {
	class class
	lines int
}

func nextIsMemds(rest []line) bool {
	for _, l := range rest {
		if l.class == memds {
			return true
		}
	}
	return false
}

// Signs that stand in the place of what was known again: no text holds them, for
// readable takes them out.
const (
	opened = "\x01"
	closed = "\x02"
	said   = "\x03" // the sentence, or the pointer of a shortened entry
	whole  = "\x04" // all of an answer
	signs  = opened + closed + said + whole
)

var (
	boundary = regexp.MustCompile(`(?i)(?:<[ \t]*)?(/?)[ \t]*` + Name + `\s+id\s*=\s*\\*["']?([0-9a-f]{16})\\*["']?(?:[ \t]*>)?`)
	pointer  = regexp.MustCompile(`\(shortened; the whole: memd get ` + uuid + `\)`)
	sentence = regexp.MustCompile(`(?i)` + wrapped(claimHead) + `(?:` + between + wrapped(claim[len(claimHead)+1:]) + `)?`)
	indented = regexp.MustCompile(`\n[` + marks + `]*[ \t]{2}\S`)
)

// between is what may stand between two words of a text that was wrapped and quoted.
const between = `[\s` + marks + `]+`

func wrapped(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(text), " ", between)
}

// signed is text with signs in the place of boundaries, sentence and pointers. What
// stands between two boundaries of one id is memd's, line by line where it still has
// lines and indents, else all of it.
func signed(text string) string {
	if strings.Contains(text, "(shortened") {
		text = pointer.ReplaceAllString(text, said)
	}
	if !strings.Contains(strings.ToLower(text), "memories") {
		return text
	}
	var b strings.Builder
	from := 0
	found := boundary.FindAllStringSubmatchIndex(text, -1)
	for i, m := range found {
		if m[0] < from {
			continue
		}
		b.WriteString(text[from:m[0]])
		from = m[1]
		if m[2] < m[3] {
			b.WriteString(closed)
			continue
		}
		b.WriteString(opened)
		for _, end := range found[i+1:] {
			if end[2] == end[3] || !strings.EqualFold(text[end[4]:end[5]], text[m[4]:m[5]]) {
				continue
			}
			inner := text[m[1]:end[0]]
			if !strings.HasPrefix(strings.TrimLeft(inner, " \t"), "\n") || !indented.MatchString(inner) {
				b.WriteString(said + closed)
				from = end[1]
			}
			break
		}
	}
	return sentence.ReplaceAllString(b.String()+text[from:], said)
}

// signedWhole is text with a sign in the place of each fence that is as Wrap made
// it, which its id proves.
func signedWhole(text string) string {
	open := Open(noID)
	head := open[:strings.Index(open, noID)]
	for from := 0; ; {
		at := strings.Index(text[from:], head)
		if at < 0 {
			return text
		}
		at += from
		from = at + len(head)
		id := text[from:min(from+len(noID), len(text))]
		start := at + len(frame(id, "")) - len(Close(id))
		if start > len(text) || text[at:start] != strings.TrimSuffix(frame(id, ""), Close(id)) {
			continue
		}
		if n := strings.Index(text[start:], Close(id)); n >= 0 && idFor(text[start:start+n]) == id {
			text = text[:at] + whole + text[start+n+len(Close(id)):]
			from = at
		}
	}
}

func anyOf[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return `(?:` + strings.Join(all, "|") + `)`
}

var kinds, tierNames = anyOf(memd.AllKinds()), anyOf(memd.AllTiers())
