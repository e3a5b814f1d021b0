package recall

import (
	"strings"
	"unicode/utf8"

	"memd"
	"memd/guard/fence"
)

// sheet is a fenced Markdown text that never grows past its limit. All sizes
// are code points, of everything that will stand in the text.
type sheet struct {
	limit   int
	used    int // with the fence
	body    strings.Builder
	heading string // of the section under way, until its first entry is written
}

func newSheet(limit int) *sheet { return &sheet{limit: limit, used: fence.Frame()} }

// section begins a section; its heading is written with its first entry.
func (s *sheet) section(title string) { s.heading = "\n## " + title + "\n" }

// write appends an entry if it fits, with its section's heading if that is
// still to come.
func (s *sheet) write(entry string) bool {
	text := s.heading + entry
	n := utf8.RuneCountInString(text)
	if s.used+n > s.limit {
		return false
	}
	s.used += n
	s.body.WriteString(text)
	s.heading = ""
	return true
}

// close returns the whole text and its code points. With nothing inside, or no
// room for the fence, the text is empty.
func (s *sheet) close() (string, int) {
	body := s.body.String()
	if body == "" {
		return "", 0
	}
	return fence.Wrap(body), s.used
}

// canShorten reports whether a shortened entry leaves anything out.
func canShorten(m *memd.Memory) bool {
	_, long := cut(m.Summary, shortenedChars)
	return long || m.Why != "" || m.HowToApply != ""
}
