package claude

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"memd"
	"memd/exchange/importers"
	"memd/exchange/notes"
)

// newlines makes one form of the three line ends.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// head is what a frontmatter says of a memory, in either form.
type head struct {
	Name        string `yaml:"name"`
	Title       string `yaml:"title"`
	Description string `yaml:"description"`
	Type        string `yaml:"type"`
	UpdatedAt   string `yaml:"updatedAt"`
	Updated     string `yaml:"updated"`
	Date        string `yaml:"date"`
}

type nested struct {
	Head     head `yaml:",inline"`
	Metadata head `yaml:"metadata"`
}

// note reads a file as a note of memd's form, or else makes one of it.
func (r *reader) note(name, data string) (n *notes.Note, made bool, err error) {
	n, err = notes.Parse(strings.NewReader(data), name)
	fault, ok := errors.AsType[*notes.Fault](err)
	if !ok {
		return n, false, err
	}
	data = newlines.Replace(strings.TrimPrefix(data, "\ufeff"))
	front, body, has := parts(data)
	if !has {
		if line := bad(data); line > 0 {
			return nil, false, r.Fault(line, "the line is not valid UTF-8 text")
		}
		n, err = r.make(name, head{}, body)
		return n, true, err
	}
	// A field that is missing, or a type that is none of memd's, is found behind all
	// that makes a YAML text a danger or none.
	if fault.Code != memd.CodeMissingField && fault.Field != "type" {
		return nil, false, fault
	}
	var stated nested
	if err := yaml.Unmarshal([]byte(front), &stated); err != nil {
		return nil, false, r.Fault(1, "the frontmatter has a field that is no text, or metadata that is no mapping")
	}
	n, err = r.make(name, stated.flat(), body)
	if f, ok := errors.AsType[*notes.Fault](err); ok {
		f.Line = max(1, fault.Line)
	}
	return n, true, err
}

// flat is what both forms say together.
func (n nested) flat() head {
	h := n.Head
	for _, f := range []struct {
		to   *string
		from []string
	}{
		{&h.Name, []string{n.Metadata.Name, n.Head.Title}}, {&h.Description, []string{n.Metadata.Description}}, {&h.Type, []string{n.Metadata.Type}},
		{&h.UpdatedAt, []string{n.Head.Updated, n.Metadata.UpdatedAt, n.Metadata.Updated, n.Head.Date, n.Metadata.Date}},
	} {
		for _, from := range f.from {
			if *f.to == "" {
				*f.to = from
			}
		}
	}
	return h
}

// make makes the note of a file that states no more than h.
func (r *reader) make(name string, h head, body string) (*notes.Note, error) {
	if h.Name == "" {
		h.Name = strings.TrimSuffix(name, path.Ext(name))
	}
	typ, kind := typeIn(name)
	if stated, k, ok := typeOf(h.Type); ok {
		typ, kind = stated, k
	} else if h.Type != "" {
		return nil, r.Fault(1, "type: must be user, feedback, project or reference, or a kind of a long-term memory")
	}
	if h.Description == "" {
		h.Description = r.hooks[name]
	}
	if h.Description == "" {
		h.Description = firstWords(body)
	}
	if h.Description == "" {
		return nil, r.Fault(0, "the file says nothing")
	}
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range []struct{ key, value string }{
		{"name", h.Name}, {"description", h.Description}, {"type", string(typ)}, {"kind", string(kind)}, {"updatedAt", importers.Time(h.UpdatedAt).String()},
	} {
		if f.value != "" {
			quoted, _ := json.Marshal(f.value) // a string always encodes, and YAML reads it as the same
			b.WriteString(f.key + ": " + string(quoted) + "\n")
		}
	}
	b.WriteString("---\n" + body)
	n, err := notes.Parse(strings.NewReader(b.String()), name)
	if err == nil && h.Type == "" && memd.Kind(typ).Reasoned() && (n.Why == "" || n.HowToApply == "") {
		n.Type, n.Kind = notes.Reference, memd.Fact // a name alone asks for no reasons
	}
	return n, err
}

// typeOf is the type of a note that states one, and its kind where that is another.
func typeOf(stated string) (notes.Type, memd.Kind, bool) {
	switch kind := memd.Kind(stated); {
	case kind == memd.User, kind == memd.Feedback, kind == memd.Project, kind == memd.Reference:
		return notes.Type(kind), "", true
	case kind == memd.Preference:
		return notes.User, kind, true
	case kind.Durable():
		return notes.Reference, kind, true
	}
	return "", "", false
}

// typeIn is the type that the name of a file begins with, such as user_profile.md.
func typeIn(name string) (notes.Type, memd.Kind) {
	if begin, _, ok := strings.Cut(path.Base(name), "_"); ok {
		if typ, kind, ok := typeOf(begin); ok && kind == "" {
			return typ, ""
		}
	}
	return notes.Reference, memd.Fact
}

// parts takes frontmatter and body apart; has reports whether there is any.
func parts(data string) (front, body string, has bool) {
	at := 0
	for line := range strings.Lines(data) {
		text := strings.TrimRight(line, " \t\n")
		if at == 0 && text != "---" {
			return "", data, false
		}
		if at > 0 && (text == "---" || text == "...") {
			return data[strings.IndexByte(data, '\n')+1 : at], data[at+len(line):], true
		}
		at += len(line)
	}
	return "", data, data != ""
}

// bad is the first line that is no text, 0 if all are.
func bad(data string) int {
	for i, line := range strings.Split(data, "\n") {
		if !utf8.ValidString(line) || strings.IndexByte(line, 0) >= 0 {
			return i + 1
		}
	}
	return 0
}

// firstWords is the first heading and the first line below it, as far as there are any.
func firstWords(body string) string {
	var said []string
	for line := range strings.Lines(body) {
		text := strings.TrimSpace(line)
		title := strings.HasPrefix(text, "#")
		text = strings.Trim(strings.TrimLeft(text, "#->* \t"), "*_ \t\r\n")
		if !importers.Visible(text) || title && len(said) > 0 {
			continue
		}
		said = append(said, text)
		if !title {
			break
		}
	}
	return importers.Line(strings.Join(said, ": "), 200)
}
