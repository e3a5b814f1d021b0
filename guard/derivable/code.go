package derivable

import (
	"regexp"
	"strings"
)

// written are the languages of a fenced block that hold words or a drawing.
var written = regexp.MustCompile(`(?i)^(text|txt|md|markdown|mermaid|plaintext|prose)\b`)

// isCode reports whether a text quotes more than MaxCodeLines lines of code in one
// piece, in a fence or without.
func isCode(all []string) bool {
	if len(all) <= MaxCodeLines {
		return false
	}
	fence, within, skip := "", 0, false
	run := codeRun{}
	for _, line := range all {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				if within > MaxCodeLines && !skip {
					return true
				}
				fence = ""
			} else {
				within++
			}
			continue
		}
		if mark := fenceOf(trimmed); mark != "" {
			fence, within = mark, 0
			skip = written.MatchString(strings.TrimLeft(trimmed, mark[:1]))
			run = codeRun{}
			continue
		}
		if run.add(trimmed); run.long() {
			return true
		}
	}
	return fence != "" && within > MaxCodeLines && !skip // one that is not closed
}

func fenceOf(line string) string {
	for _, mark := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// codeRun are the lines one after another of which most look like code.
type codeRun struct {
	code, other, blank int
	prose              int // lines in a row that do not look like it
}

// add counts a line. Four lines in a row that do not look like code end a run.
func (r *codeRun) add(line string) {
	switch {
	case line == "" || strings.HasPrefix(line, "# "): // a comment, or a heading
		if r.code > 0 {
			r.blank++
		}
	case looksLikeCode(line):
		r.code, r.prose = r.code+1, 0
	default:
		r.other++
		if r.prose++; r.prose > 3 {
			*r = codeRun{}
		}
	}
}

// long reports whether more than MaxCodeLines lines, two thirds of them surely,
// are code.
func (r *codeRun) long() bool {
	return r.code+r.other+r.blank > MaxCodeLines && r.code >= 2*r.other && r.code > MaxCodeLines/2
}

var (
	assigned = regexp.MustCompile(`^[\w.$\[\]"'*&, ]{1,60}\s*([:+\-*/|]?=|<-)\s*\S`)
	called   = regexp.MustCompile(`^[\w.$:]+\(.*[,)]$`)
	closing  = regexp.MustCompile(`^[\])};,\s]+$|^["'][^"']*["'](:.+)?,?$|[\w)\]](\(|\[|\\)$`)
)

// looksLikeCode reports whether a line, without the space around it, is rather code
// than prose. The patterns are asked only where they can match.
func looksLikeCode(line string) bool {
	if strings.HasPrefix(line, "//") || line[0] == '@' {
		return true
	}
	last := line[len(line)-1]
	switch last {
	case '{', '}', ';':
		return true
	case ',':
		if before := line[max(0, len(line)-2)]; before == '}' || before == ')' {
			return true
		}
	}
	if isKeyword(firstWord(line)) && (len(line) <= 70 || strings.IndexByte(`(){}:,=<>"'\`, last) >= 0) {
		return true
	}
	if strings.IndexByte(`)],([\"'`, last) >= 0 && (called.MatchString(line) || closing.MatchString(line)) || line[0] == '"' && closing.MatchString(line) {
		return true
	}
	return strings.ContainsAny(line, "=<") && strings.Count(line, " ") < 12 && assigned.MatchString(line)
}

func firstWord(line string) string {
	i := strings.IndexFunc(line, func(r rune) bool { return r != '#' && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	if i < 0 {
		return line
	}
	return line[:i]
}

// isKeyword reports whether a word begins lines of code. Many begin lines of prose
// too, which no run of lines does.
func isKeyword(word string) bool {
	switch word {
	case "func", "def", "class", "import", "from", "package", "const", "let", "var", "public", "private", "protected", "static",
		"return", "elif", "else", "#include", "#define", "using", "struct", "enum", "impl", "fn", "pub", "use", "async", "await",
		"export", "interface", "type", "switch", "case", "raise", "throw", "try", "except", "catch", "with", "while", "for", "if",
		"end", "del", "assert", "yield", "pass", "break", "continue",
		"SELECT", "INSERT", "CREATE", "BEGIN", "FROM", "WHERE", "SET", "VALUES":
		return true
	}
	return false
}
