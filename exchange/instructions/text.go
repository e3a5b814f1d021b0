package instructions

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"memd/guard/confine"
)

// Reasons why a text is not taken.
const (
	notUTF8 = confine.Refused("no text in UTF-8")
	hasNUL  = confine.Refused("it holds a NUL byte")
)

// clean makes one form of a text: without a byte order mark, its lines ended by \n.
func clean(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return "", hasNUL
	case !utf8.Valid(data):
		return "", notUTF8
	}
	s := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s, nil
}

// anInclude is a line that includes a file.
var anInclude = regexp.MustCompile(`^[ ]{0,3}@include[ \t]+(\S.*?)[ \t]*$`)

// deepLine is a line of so many quotations and lists within each other that no
// person wrote it; reading one takes time by the square of their number.
var deepLine = regexp.MustCompile(`(?m)^(?:[ \t]*(?:[>+*-]|[0-9]{1,9}[.)])){100}.*$`)

// split takes the include lines out of Markdown, and returns what they name. Lines
// of code and HTML are none, nor are those that begin with a mark of another block.
func split(s string) (string, []string) {
	if !strings.Contains(s, "@include") {
		return s, nil
	}
	source := deepLine.ReplaceAllFunc([]byte(s), func(line []byte) []byte { return bytes.Repeat([]byte(" "), len(line)) })
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	var rest strings.Builder
	var includes []string
	from := 0
	_ = ast.Walk(blocks.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || !ofWords(n) {
			return ast.WalkContinue, nil
		}
		for i := range n.Lines().Len() {
			start, end := lineAt(s, n.Lines().At(i).Start)
			if m := anInclude.FindStringSubmatch(s[start:end]); m != nil && start >= from {
				includes = append(includes, unquoted(m[1]))
				rest.WriteString(s[from:start])
				from = min(end+1, len(s))
			}
		}
		return ast.WalkContinue, nil // so that Walk does not fail
	})
	rest.WriteString(s[from:])
	return rest.String(), includes
}

// ofWords reports whether a block is made of words: a line above --- is a heading.
func ofWords(n ast.Node) bool {
	return n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock || n.Kind() == ast.KindHeading
}

// lineAt is the line that holds a byte of s, without its end.
func lineAt(s string, at int) (start, end int) {
	start = strings.LastIndexByte(s[:at], '\n') + 1
	if n := strings.IndexByte(s[start:], '\n'); n >= 0 {
		return start, start + n
	}
	return start, len(s)
}

func unquoted(s string) string {
	if len(s) > 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}
