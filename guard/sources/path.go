package sources

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Path is a source that is a file: path[#anchor][:line], where the line may be a
// range, and an anchor of GitHub's form L12 or L12-L20 names lines as well.
type Path struct {
	File     string // as written, with its escapes
	Anchor   string // as written
	Anchored bool   // whether there is a #, be the anchor empty
	From, To int    // lines, from 1 on, both included; 0 for none
}

var (
	lineSuffix = regexp.MustCompile(`^(.+?):([1-9][0-9]{0,6})(?:-([1-9][0-9]{0,6}))?$`)
	lineAnchor = regexp.MustCompile(`^L([1-9][0-9]{0,6})(?:C[0-9]+)?(?:-L?([1-9][0-9]{0,6})(?:C[0-9]+)?)?$`)
)

// SplitPath takes a source apart; it does not judge it.
func SplitPath(source string) Path {
	var p Path
	p.File, p.Anchor, p.Anchored = strings.Cut(source, "#")
	last := &p.File
	if p.Anchored {
		last = &p.Anchor
	}
	if m := lineSuffix.FindStringSubmatch(*last); m != nil {
		*last = m[1]
		p.From, p.To = span(m[2], m[3])
	}
	return p
}

// span is the range of two numbers of lines, of which the second may be missing.
func span(from, to string) (int, int) {
	a, _ := strconv.Atoi(from) // at most seven digits, as the patterns have it
	b, _ := strconv.Atoi(to)
	if b == 0 {
		b = a
	}
	return min(a, b), max(a, b)
}

// cites is what the anchor and the lines of p name: an anchor of GitHub's form
// for lines is none.
func (p Path) cites() (anchor string, from, to int) {
	if m := lineAnchor.FindStringSubmatch(p.Anchor); m != nil && p.From == 0 {
		from, to = span(m[1], m[2])
		return "", from, to
	}
	return unescaped(p.Anchor), p.From, p.To
}

// whole reports whether p names a file and nothing within it.
func (p Path) whole() bool { return !p.Anchored && p.From == 0 }

// unescaped is an anchor without escapes such as %20; one that is no escape
// stands for itself.
func unescaped(anchor string) string {
	if plain, err := url.PathUnescape(anchor); err == nil {
		return plain
	}
	return anchor
}
