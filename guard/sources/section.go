package sources

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// What is found missing, or cannot be told.
const (
	noSection = "no such section"
	noLine    = "no such line"
	notText   = "not a text whose sections can be told"
)

// cited returns what of a text p cites, and why not where it is not there. With
// an anchor that is the anchor's section, whatever the line; with a line alone,
// the line; else the text. The text is plain: see plain.
func (p Path) cited(text string) (section, why string) {
	anchor, from, to := p.cites()
	if from > 0 {
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if to > len(lines) {
			return "", noLine
		}
		section = strings.Join(lines[from-1:to], "")
	}
	switch {
	case anchor != "":
		at, end, ok := find(path.Ext(p.File), text, anchor)
		if !ok {
			return "", noSection
		}
		return text[at:end], ""
	case from > 0:
		return section, ""
	}
	return text, ""
}

// find returns where in a text the section of an anchor begins and ends; ext, of
// the file's name, says what the text is.
func find(ext, text, anchor string) (at, end int, ok bool) {
	switch strings.ToLower(ext) {
	case ".md", ".mdx", ".markdown":
		return findMarkdown(text, anchor)
	case ".html", ".htm", ".xhtml":
		return findElement(text, anchor)
	case ".go":
		if name, ok := goNameOf(anchor); ok {
			at, end, whole := findGo(text, name)
			if end > 0 || whole {
				return at, end, end > 0
			}
		}
	}
	return findWord(text, anchor)
}

// plain is a text with line ends of one form and without a byte order mark.
func plain(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
}

// isText reports whether data is a text: what holds a zero byte is none.
func isText(data []byte) bool { return bytes.IndexByte(data, 0) < 0 }

// hash is that of a section: white space at the ends of its lines, and empty
// lines around it, do not count.
func hash(section string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(section, "\n") {
		b.WriteString(strings.TrimRight(line, " \t\f\v"))
		b.WriteByte('\n')
	}
	return sum([]byte(strings.Trim(b.String(), "\n")))
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(s[:])
}

// lineStart is where the line begins that holds the byte at.
func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd is where the line ends that holds the byte at, its line end included.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}
