package fence

import (
	"regexp"
	"slices"
	"strings"
)

// reach bounds, in bytes, how far the end of a link or tag is looked for. What goes
// on longer counts as one that leads out.
const reach = 1024

// defused is s with nothing that a client fetches when it renders Markdown or HTML,
// and no link that hides where it leads. A destination inside or outside stays
// readable: `](` and `]:` become `]\(` and `]\:`, which show as they were, and the <
// of a tag becomes an entity. What leads nowhere else, such as a link to another
// file, stays as it is.
func defused(s string) string {
	if !strings.ContainsAny(s, "]<") {
		return s
	}
	var b strings.Builder
	from := 0
	for i := range len(s) {
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, "](") && leadsOut(upTo(rest[2:], ")")),
			strings.HasPrefix(rest, "]:") && leadsOut(upTo(strings.TrimLeft(rest[2:], " \t\n>"), " \t\n")):
			b.WriteString(s[from:i+1] + `\`)
			from = i + 1
		case rest[0] == '<' && fetches(rest):
			b.WriteString(s[from:i] + "&lt;")
			from = i + 1
		}
	}
	return b.String() + s[from:]
}

// upTo is s before the first of the characters in end, or as far as it is looked at.
func upTo(s, end string) string {
	s = s[:min(len(s), reach)]
	if i := strings.IndexAny(s, end); i >= 0 {
		return s[:i]
	}
	return s
}

// leadsOut reports whether a destination may be one elsewhere: with a scheme or a
// host, or with escapes or entities that may stand for them.
func leadsOut(s string) bool {
	return len(s) == reach || strings.ContainsAny(s, `:\&<`) || strings.Contains(s, "//")
}

var (
	opening = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9+.:-]*)`)
	handler = regexp.MustCompile(`(?i)[\s/"']on[a-z]+\s*=`)
)

// Elements that do something by themselves, and those that do by an attribute.
var (
	active  = []string{"script", "style", "iframe", "svg", "math", "base", "frameset"}
	loading = []string{
		"img", "image", "picture", "source", "video", "audio", "track", "frame", "embed", "object", "applet", "link", "meta",
		"use", "input", "body", "table", "td", "th", "form", "portal",
	}
)

// fetches reports whether the tag that s begins with may have a client fetch or run
// something, or hides text: a comment is not shown, and yet read. An address in
// angle brackets is a tag of this kind where it carries a query.
func fetches(s string) bool {
	if strings.HasPrefix(s, "<!--") {
		return true
	}
	m := opening.FindStringSubmatch(s[:min(len(s), reach)])
	if m == nil {
		return false
	}
	within := upTo(s[len(m[0]):], ">")
	closed := len(m[0])+len(within) < len(s) && len(within) < reach
	name := strings.ToLower(m[1])
	if strings.Contains(name, ":") && strings.Contains(within, "?") {
		return true
	}
	if within != "" && !strings.ContainsAny(within[:1], " \t\n/") {
		return false // no name of an element, but code
	}
	set := strings.Contains(within, "=")
	switch {
	case slices.Contains(active, name):
		return true
	case slices.Contains(loading, name):
		return set || !closed
	}
	return set && (leadsOut(within) || handler.MatchString(within))
}
