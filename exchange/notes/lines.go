package notes

import "strings"

// line is one line of a file: its text, and what ends it, "" at the end of the file.
type line struct{ text, end string }

// lines takes a text apart. Ends are \n, \r\n and a lone \r.
func lines(s string) []line {
	var out []line
	for s != "" {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return append(out, line{text: s})
		}
		n := 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		out = append(out, line{s[:i], s[i : i+n]})
		s = s[i+n:]
	}
	return out
}

// raw is lines as they stand in the file.
func raw(ls []line) string {
	var b strings.Builder
	for _, l := range ls {
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.String()
}

// plain is lines with \n for every end.
func plain(ls []line) string {
	var b strings.Builder
	for _, l := range ls {
		b.WriteString(l.text)
		if l.end != "" {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// block is a text as a note holds it: lines ended by \n, without blank lines around
// it and white space behind it. What indents its first line stays: it may mean code.
func block(s string) string {
	s = strings.TrimRight(plain(lines(s)), " \t\n")
	for {
		first, rest, more := strings.Cut(s, "\n")
		if !more || strings.Trim(first, " \t") != "" {
			return s
		}
		s = rest
	}
}

// inline is a block that begins behind a marker on its line.
func inline(s string) string { return strings.TrimLeft(block(s), " \t\n") }
