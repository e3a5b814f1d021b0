package artefacts

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	aLink      = regexp.MustCompile(`!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\[\]]*\])`)
	anImage    = regexp.MustCompile(`\[?!\[[^\[\]]*\]\([^()]*\)(?:\]\([^()]*\))?`)
	aTag       = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
	givenName  = regexp.MustCompile(`\{:?\s*#[^{}]*\}\s*$`)
	emphasis   = regexp.MustCompile(`\*\*|__|[*]`)
	withinPage = regexp.MustCompile(`^\[[^\[\]]*\]\(#[^()]*\)$`)
	definition = regexp.MustCompile(`^ {0,3}\[[^\[\]]+\]:\s*\S+`)
	include    = regexp.MustCompile(`^ {0,3}(?:@include\s+\S.*|@[\w~./-]+)\s*$`)
	taskBox    = regexp.MustCompile(`^\[[ xX]\]\s+`)
)

// titleOf is what the lines of a heading say, without marks.
func titleOf(lines string) string {
	title := strings.TrimSpace(lines)
	if at := strings.TrimLeft(title, "#"); at != title {
		title = strings.TrimSpace(at)
		if closed := strings.TrimRight(title, "#"); strings.HasSuffix(closed, " ") || closed == "" {
			title = closed
		}
	}
	title = aTag.ReplaceAllString(aLink.ReplaceAllString(givenName.ReplaceAllString(title, ""), "$1"), "")
	return joined(emphasis.ReplaceAllString(title, ""))
}

// joined is a text on one line. Between characters that are written without spaces
// a line's end is none.
func joined(text string) string {
	var b strings.Builder
	var last rune
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		first, _ := utf8.DecodeRuneInString(words)
		if words == "" {
			continue
		}
		if b.Len() > 0 && !(unspaced(last) && unspaced(first)) {
			b.WriteByte(' ')
		}
		b.WriteString(words)
		last, _ = utf8.DecodeLastRuneInString(words)
	}
	return b.String()
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || strings.ContainsRune("，。、；：？！（）「」《》“”", r)
}

// says reports whether a text says anything: words that are no image, tag, link
// within the page, include or definition of a link.
func says(text string) bool {
	text = strings.TrimSpace(text)
	if withinPage.MatchString(text) {
		return false
	}
	var rest strings.Builder
	for line := range strings.Lines(text) {
		if !include.MatchString(strings.TrimRight(line, "\n")) && !definition.MatchString(line) {
			rest.WriteString(line)
		}
	}
	letters := 0
	for _, r := range aTag.ReplaceAllString(anImage.ReplaceAllString(rest.String(), ""), "") {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters >= 2
}

// dedent takes up to n bytes of white space off the beginning of every line but the
// first, and what is white off the ends.
func dedent(text string, n int) string {
	var b strings.Builder
	first := true
	for line := range strings.Lines(text) {
		if !first {
			white := len(line) - len(strings.TrimLeft(line, " \t"))
			line = line[min(n, white):]
		}
		first = false
		b.WriteString(strings.TrimRight(line, " \t\n"))
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}
