package notes

import (
	"regexp"
	"strings"
)

// marker begins a section of a body. Behind backslashes it is text.
var marker = regexp.MustCompile(`(?i)^(\\*)\*\*(why|how to apply)(?:[:：]\*\*|\*\*[:：])`)

// marked takes a line apart that begins a section, nil for another.
func marked(text string) []string {
	if !strings.HasPrefix(strings.TrimLeft(text, `\`), "**") {
		return nil
	}
	return marker.FindStringSubmatch(text)
}

// readBody takes a body apart into what stands before the first marker and the two
// sections. A marker of a section that has begun already is text.
func (n *Note) readBody(ls []line) {
	var parts [3][]string // body, why, how to apply
	seen := [3]bool{true}
	at := 0
	for _, l := range ls {
		text := l.text
		if m := marked(text); m != nil {
			next := 1
			if strings.EqualFold(m[2], "how to apply") {
				next = 2
			}
			switch {
			case m[1] != "":
				text = text[1:]
			case !seen[next]:
				at, seen[next], text = next, true, text[len(m[0]):]
			}
		}
		parts[at] = append(parts[at], text)
	}
	n.Body = block(strings.Join(parts[0], "\n"))
	n.Why = inline(strings.Join(parts[1], "\n"))
	n.HowToApply = inline(strings.Join(parts[2], "\n"))
}

// bodyText writes a body in its one form, ended by a line end, "" for none.
func (n *Note) bodyText() string {
	var parts []string
	if body := block(n.Body); body != "" {
		parts = append(parts, escaped(body, false))
	}
	for _, s := range []struct{ marker, text string }{{"**Why:** ", n.Why}, {"**How to apply:** ", n.HowToApply}} {
		if text := inline(s.text); text != "" {
			parts = append(parts, s.marker+escaped(text, true))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// escaped puts a backslash before every line that would be taken for a marker. The
// first line of a section stands behind its own and cannot be.
func escaped(s string, section bool) string {
	ls := strings.Split(s, "\n")
	for i, l := range ls {
		if marked(l) != nil && !(section && i == 0) {
			ls[i] = `\` + l
		}
	}
	return strings.Join(ls, "\n")
}
