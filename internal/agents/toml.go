package agents

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// editTOML sets entry in the table of path in a text of TOML, and changes nothing
// else. An entry that is there is edited where it is a table of its own.
func editTOML(old []byte, path []string, entry object) ([]byte, error) {
	before, err := decodeTOML(old)
	if err != nil {
		return nil, err
	}
	path = append(slices.Clone(path), Name)
	was, isTable := valueAt(before, path).(map[string]any)
	text := old
	switch {
	case valueAt(before, path) == nil:
		text = appendTable(text, path, entry)
	case !isTable || slices.ContainsFunc(remote(), func(name string) bool { _, has := was[name]; return has }):
		return nil, errForm
	default:
		for _, m := range slices.Backward(entry) { // each new one stands above those before
			if !reflect.DeepEqual(was[m.name], generic(m.value)) {
				if text, err = setTOML(text, path, m); err != nil {
					return nil, err
				}
			}
		}
	}
	// What was meant is what stands there now, or nothing is written.
	after, err := decodeTOML(text)
	if err != nil || !reflect.DeepEqual(after, merged(before, path, entry)) {
		return nil, errForm
	}
	return text, nil
}

func decodeTOML(text []byte) (map[string]any, error) {
	var root map[string]any
	err := toml.Unmarshal(text, &root)
	if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := bad.Position()
		return nil, &lineError{line, "it is no TOML"}
	}
	if err != nil {
		return nil, &lineError{firstBad(text), "it is no TOML"}
	}
	return root, nil
}

// firstBad is the line of the first statement that cannot stand behind those before it,
// such as a key that was given a value already: the parser does not say which.
func firstBad(text []byte) int {
	list := statements(text)
	i := sort.Search(len(list), func(i int) bool {
		return toml.Unmarshal(text[:list[i].line], new(map[string]any)) != nil
	})
	if i == len(list) {
		return 0
	}
	return 1 + bytes.Count(text[:list[i].start], []byte("\n"))
}

// appendTable adds a table at the end, behind an empty line.
func appendTable(text []byte, path []string, entry object) []byte {
	eol := eolOf(text)
	var b bytes.Buffer
	b.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteString(eol)
	}
	if len(bytes.TrimSpace(text)) > 0 {
		b.WriteString(eol)
	}
	b.WriteString("[" + strings.Join(path, ".") + "]" + eol)
	for _, m := range entry {
		b.WriteString(assignment(m) + eol)
	}
	return b.Bytes()
}

func assignment(m member) string { return m.name + " = " + layout{}.render(m.value, "", true) }

// setTOML puts one value into the table of path.
func setTOML(text []byte, path []string, m member) ([]byte, error) {
	var table *statement
	for _, s := range statements(text) {
		switch {
		case s.header:
			table = nil
			if slices.Equal(keyOf(text, s), path) {
				table = &s
			}
		case table != nil && slices.Equal(keyOf(text, s), []string{m.name}):
			return splice(text, s.value, s.end, layout{}.render(m.value, "", true)), nil
		}
	}
	for _, s := range statements(text) { // there is no such key yet: right below the table's head
		if s.header && slices.Equal(keyOf(text, s), path) {
			eol := eolOf(text)
			if s.line == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
				return splice(text, s.line, s.line, eol+assignment(m)+eol), nil
			}
			return splice(text, s.line, s.line, assignment(m)+eol), nil
		}
	}
	return nil, errForm
}

// keyOf is the key that a statement names, its quotes and dots read by the parser.
func keyOf(text []byte, s statement) []string {
	source := string(text[s.start:s.end])
	if !s.header {
		source = string(text[s.start:s.value]) + "0"
	}
	at, err := decodeTOML([]byte(source))
	var key []string
	for err == nil && len(at) == 1 {
		for name, below := range at {
			key = append(key, name)
			at, _ = below.(map[string]any)
		}
	}
	return key
}

// statement is where a table's head or an assignment stands in a well-formed text.
type statement struct {
	header     bool
	start, end int // without white space and comments around it
	value      int // where an assignment's value begins
	line       int // behind the line break that ends it
}

// statements cuts a well-formed text of TOML. It knows no more than where strings,
// comments and brackets end, so that what stands in them is taken for nothing else.
func statements(text []byte) []statement {
	var list []statement
	for i := 0; i < len(text); {
		for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
		}
		if i == len(text) {
			break
		}
		s := statement{start: i, header: text[i] == '['}
		depth := 0
	scan:
		for s.end = i; i < len(text); {
			switch c := text[i]; {
			case c == '"' || c == '\'':
				i = stringEnd(text, i)
				s.end = i
				continue
			case c == '#':
				for i < len(text) && text[i] != '\n' {
					i++
				}
				continue
			case c == '\n' && depth == 0:
				i++
				break scan
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			case c == '=' && s.value == 0 && !s.header:
				s.value = i + 1
				for s.value < len(text) && (text[s.value] == ' ' || text[s.value] == '\t') {
					s.value++
				}
			}
			if strings.IndexByte(" \t\r\n", text[i]) < 0 {
				s.end = i + 1
			}
			i++
		}
		if s.line = i; s.end > s.start { // else it was a comment
			list = append(list, s)
		}
	}
	return list
}

// stringEnd is the offset behind the string that begins at i, of one line or of many.
func stringEnd(text []byte, i int) int {
	quote := text[i : i+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(text[i:], long) {
		quote = long
	}
	for j := i + len(quote); j < len(text); j++ {
		switch {
		case text[j] == '\\' && quote[0] == '"':
			j++
		case bytes.HasPrefix(text[j:], quote):
			j += len(quote)
			for len(quote) == 3 && j < len(text) && text[j] == quote[0] { // up to two more belong to the text
				j++
			}
			return j
		}
	}
	return len(text)
}
