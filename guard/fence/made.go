package fence

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"memd"
)

const uuid = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`

// Marks of a text that memd made, in the form that folded gives it.
var (
	boundary = regexp.MustCompile(Name + ` ?id ?= ?(?:\\*(?:"|'|u0022)|&quot;|&#34;|&#x22;)?[0-9a-f]{16}`)
	pointer  = regexp.MustCompile(`\(shortened; the whole: memd get ` + uuid + `\)`)
)

// entryHead is the head of an entry of a long-term memory, or of one without a key.
// What stands before it in the line are indents and marks of quotation.
var entryHead = regexp.MustCompile(`(?m)(?:^|\\n)[ \t>#*/|]*- \[(?:` + kinds() + `)\] (?:` +
	`\S+ \(source [^\n]+; verified \d{4}-\d\d-\d\d(?:; (?:saved yesterday|This memory is \d+ days old))?(?:; STALE: [a-z_]*)?\)|` +
	uuid + `(?: \([^\n]*\))?)(?:[ \t]*$|\\n)`)

func kinds() string {
	var all []string
	for _, k := range memd.AllKinds() {
		all = append(all, string(k))
	}
	return strings.Join(all, "|")
}

// Made reports whether memd made one of the texts, whole or in part: an agent that
// stores what it recalled would multiply its memories. It is known by a boundary
// with an id, by the sentence under it, or by the head of an entry, also when it was
// cut, indented, wrapped, quoted, escaped or put into a block of code. Text about
// memd is none: only a boundary with an id is one.
func Made(texts ...string) bool {
	for _, text := range texts {
		if made(text) {
			return true
		}
	}
	return false
}

func made(text string) bool {
	text = readable(text)
	if strings.Contains(text, "- [") && entryHead.MatchString(text) {
		return true
	}
	if plainASCII(text) && !strings.Contains(strings.ToLower(text), "mem") {
		return false
	}
	text = folded(text)
	return strings.Contains(text, strings.ToLower(claimHead)) || boundary.MatchString(text) || pointer.MatchString(text)
}

// folded is text in one line and in lower case, with compatible characters as one,
// without what shows nothing, and without what stands before its lines: indents,
// marks of quotation, of comments and of lists.
func folded(text string) string {
	var b strings.Builder
	space := true // also at the start of a line
	start := true
	for _, r := range norm.NFKC.String(text) {
		switch {
		case ignorable(r):
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
				space = true
			}
			start = start || r == '\n'
		case start && strings.ContainsRune(">#*/|-", r):
		case unicode.Is(unicode.Dash, r):
			b.WriteByte('-')
			space, start = false, false
		default:
			b.WriteRune(unicode.ToLower(r))
			space, start = false, false
		}
	}
	return b.String()
}
