package notes

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"memd"
)

// Bounds. The longest frontmatter that memd writes, a description of 12,000 characters
// all of them escaped, has some 96 KiB.
const (
	MaxBytes = 512 << 10 // of a note: its texts at their largest, all of them escaped
	maxHead  = 128 << 10 // bytes of a frontmatter
	maxDeep  = 256       // brackets in it: reading them nested takes the square of their number
	maxPairs = 1000      // keys in it, of which the same holds
	maxName  = 400       // code points of a name
)

const bom = "\ufeff"

// written is how a file was written.
type written struct {
	start   string // byte order mark and first delimiter
	newline string // what ends lines that are new
	fields  []field
	end     string // what stands before the second delimiter, and it
	body    string
	read    Note // what Parse made of it
}

// field is one field of a frontmatter: the comments and blank lines above it, and its
// own lines.
type field struct{ key, above, lines string }

// Parse reads a note. file is the name that errors carry. Every error is a *Fault, but
// for those of r.
func Parse(r io.Reader, file string) (*Note, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	n, fault := parse(string(data))
	if fault != nil {
		fault.File = file
		return nil, fault
	}
	return n, nil
}

func parse(data string) (*Note, *Fault) {
	if len(data) > MaxBytes {
		return nil, &Fault{Code: memd.CodeTooLarge, Reason: "the note is larger than memd reads one"}
	}
	w := &written{newline: "\n"}
	if rest, ok := strings.CutPrefix(data, bom); ok {
		w.start, data = bom, rest
	}
	ls := lines(data)
	for i, l := range ls {
		if !utf8.ValidString(l.text) || strings.IndexByte(l.text, 0) >= 0 {
			return nil, invalid(i+1, "", "the line is not valid UTF-8 text")
		}
	}
	if len(ls) == 0 || !delimiter(ls[0].text, "---") {
		return nil, invalid(1, "", "there is no frontmatter: a note begins with a line ---")
	}
	if ls[0].end == "\r\n" {
		w.newline = "\r\n"
	}
	end := 1
	for end < len(ls) && !delimiter(ls[end].text, "---", "...") {
		end++
	}
	if end == len(ls) {
		return nil, invalid(1, "", "the frontmatter has no end: a line --- is missing")
	}
	n := &Note{written: w}
	w.start += raw(ls[:1])
	if fault := n.readHead(ls[1:end]); fault != nil {
		return nil, fault
	}
	w.end += raw(ls[end : end+1])
	w.body = raw(ls[end+1:])
	n.readBody(ls[end+1:])
	w.read = *n
	w.read.written = nil
	return n, nil
}

func delimiter(text string, forms ...string) bool {
	text = strings.TrimRight(text, " \t")
	for _, form := range forms {
		if text == form {
			return true
		}
	}
	return false
}

// pairs counts what may stand behind a key: a colon behind a quote, or a colon or
// question mark before white space.
func pairs(text []byte) (n int) {
	for i := 0; i+1 < len(text); i++ {
		c, next := text[i], text[i+1]
		if (c == '"' || c == '\'') && next == ':' || (c == ':' || c == '?') && bytes.IndexByte([]byte("\t\n\f\r "), next) >= 0 {
			n++
			i++
		}
	}
	return n
}

// nested is a line that opens many levels at once.
var nested = regexp.MustCompile(`(?m)^[ \t]*(?:[-?][ \t]+){16}`)

// readHead reads the lines between the delimiters, the first of which is the file's
// second.
func (n *Note) readHead(ls []line) *Fault {
	text := []byte(plain(ls))
	if len(text) > maxHead {
		return &Fault{Line: 2, Code: memd.CodeTooLarge, Reason: "the frontmatter is larger than memd reads one"}
	}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxDeep ||
		bytes.Count(text, []byte("-"))+bytes.Count(text, []byte("?")) >= 16 && nested.Match(text) {
		return invalid(2, "", "the frontmatter is nested too deeply")
	}
	if pairs(text) > maxPairs {
		return invalid(2, "", "the frontmatter has too many fields")
	}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return syntax(err)
	}
	values, ok := mapping(tree)
	if !ok {
		return invalid(2, "", "the frontmatter must be fields, each on a line of its own")
	}
	from := make([]int, len(values)+1)
	for i, v := range values {
		at := v.Key.GetToken().Position.Line - 1
		if at < 0 || at >= len(ls) || i > 0 && at <= from[i-1] || !begins(ls[at].text, v.Key) {
			return invalid(2, "", "the frontmatter must be fields, each on a line of its own, with plain names")
		}
		from[i] = at
	}
	from[len(values)] = len(ls)
	n.written.layOut(ls, from, values)
	for i, v := range values {
		if reason := n.set(v.Key.GetToken().Value, v.Value); reason != "" {
			return invalid(from[i]+2, v.Key.GetToken().Value, "%s: %s", v.Key.GetToken().Value, reason)
		}
	}
	return n.complete()
}

// begins reports whether a line begins with a key.
func begins(line string, key ast.MapKeyNode) bool {
	if key.GetToken().Position.Column != 1 {
		return false
	}
	name, isText := key.(*ast.StringNode)
	if !isText {
		return strings.HasPrefix(line, key.GetToken().Value)
	}
	return strings.HasPrefix(line, name.Value) || strings.HasPrefix(line, `"`) || strings.HasPrefix(line, "'")
}

// mapping returns the fields of a frontmatter: of one mapping in block style, or none.
func mapping(tree *ast.File) ([]*ast.MappingValueNode, bool) {
	if len(tree.Docs) == 0 || len(tree.Docs) == 1 && tree.Docs[0].Body == nil {
		return nil, true
	}
	if len(tree.Docs) > 1 {
		return nil, false
	}
	switch body := tree.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return body.Values, !body.IsFlowStyle
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}, true
	case *ast.CommentGroupNode:
		return nil, true
	}
	return nil, false
}

// layOut shares the lines of a frontmatter out. What is no line of a value, a comment
// or a blank line at the end of it, belongs to the field below.
func (w *written) layOut(ls []line, from []int, values []*ast.MappingValueNode) {
	above := 0
	for i, v := range values {
		end := from[i+1]
		for end > from[i]+1 && (ls[end-1].text == "" || ls[end-1].text[0] == '#') {
			end--
		}
		w.fields = append(w.fields, field{v.Key.GetToken().Value, raw(ls[above:from[i]]), raw(ls[from[i]:end])})
		above = end
	}
	w.end = raw(ls[above:])
}

// syntax is an error of the YAML library without the texts that stand in it.
func syntax(err error) *Fault {
	line := 2
	reason := "the frontmatter is no YAML that can be read"
	if e, ok := errors.AsType[*yaml.SyntaxError](err); ok {
		if t := e.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line + 1
		}
		if strings.HasPrefix(e.GetMessage(), "mapping key") {
			reason = "the frontmatter has a field twice"
		}
	}
	return invalid(line, "", "%s", reason)
}
