package claude

import (
	"path"
	"strings"
	"unicode"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/notes"
)

// An index lists notes. Where an agent, or a person, has written into it what is to be
// remembered, each section of that is a memory of its own.

// section is a part of an index under one heading.
type section struct {
	title string
	line  int // of the heading, or of the first line
	text  string
}

// sections yields what an index says beside its entries.
func (r *reader) sections(name, data string, written memd.Time) bool {
	if line := bad(data); line > 0 {
		return r.fault(name, 0, r.Fault(line, "the line is not valid UTF-8 text"))
	}
	ns := r.Namespace
	if ns == "" {
		ns = r.Project
	}
	for _, s := range sectionsOf(data) {
		if ns == "" {
			f := r.Fault(s.line, "what stands in the index itself needs a project or a namespace")
			f.Code = memd.CodeMissingField
			if !r.fault(name, 0, f) {
				return false
			}
			continue
		}
		source := r.source(name)
		if s.title != "" {
			source += "#" + slug(s.title)
		}
		title := s.title
		if title == "" {
			title = "index"
		}
		n := &notes.Note{
			Name: title, Description: importers.Line(title+": "+firstWords(s.text), 300), Type: notes.Reference, Kind: memd.Fact,
			Body: s.text, MemoryKey: importers.Key("memory-md", path.Join(path.Dir(name), title)), Namespace: ns, Source: source,
		}
		if !r.item(name, s.line, n, written) {
			return false
		}
	}
	return true
}

// sectionsOf takes an index apart into the sections that say something. A heading
// within a block of code is text.
func sectionsOf(data string) []section {
	var found []section
	var s section
	var b strings.Builder
	end := func() {
		if s.text = strings.TrimRight(strings.TrimLeft(b.String(), "\n"), " \t\n"); importers.Visible(s.text) {
			found = append(found, s)
		}
		b.Reset()
	}
	at, code := 0, false
	for line := range strings.Lines(strings.TrimPrefix(data, "\ufeff")) {
		at++
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			code = !code
		}
		switch heading := strings.TrimLeft(text, "#"); {
		case !code && heading != text && (heading == "" || heading[0] == ' '):
			end()
			s = section{title: importers.Line(strings.Trim(heading, "# "), 200), line: at}
		case !code && (isEntry(line) || strings.HasPrefix(text, "> Not listed: ")):
		default:
			if s.line == 0 && text != "" {
				s.line = at
			}
			b.WriteString(line + "\n")
		}
	}
	end()
	return found
}

// isEntry reports whether a line lists a note.
func isEntry(line string) bool {
	if !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "* ") {
		return false
	}
	entries, err := notes.ReadIndex(strings.NewReader(line))
	return err == nil && len(entries) > 0
}

// slug is a title as links cite it.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
