package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// lineError is what is wrong in a text, and on which line. It says nothing of what
// stands there: these files hold keys.
type lineError struct {
	line int // 0 where it is no one line
	what string
}

func (e *lineError) Error() string { return e.what }

// errForm is for a text that is well-formed, in a form that is not edited.
var errForm = errors.New("memd's entry is written in a form that it does not edit")

// editJSON sets entry under path in a text of JSON, with comments and trailing commas
// or without, and changes nothing else.
func editJSON(old []byte, path []string, entry object) ([]byte, error) {
	text := old
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	before, err := decodeJSON(text)
	if err != nil {
		return nil, err
	}
	path = entryPath(before, path)
	for _, step := range entry.steps(valueAt(before, path)) {
		if text, err = setJSON(text, append(slices.Clone(path), step.below...), step.value); err != nil {
			return nil, err
		}
	}
	// What was meant is what stands there now, or nothing is written.
	after, err := decodeJSON(text)
	if err != nil || !reflect.DeepEqual(after, merged(before, path, entry)) {
		return nil, errForm
	}
	if bytes.Equal(bytes.TrimSpace(text), bytes.TrimSpace(old)) {
		return old, nil
	}
	return text, nil
}

// entryPath is where memd's entry belongs. The servers of opencode 2 stand one step
// deeper than those of opencode 1; it reads both forms, though not mixed.
func entryPath(root map[string]any, servers []string) []string {
	deeper, isObject := valueAt(root, []string{"mcp", "servers"}).(map[string]any)
	if _, isServer := deeper["type"].(string); servers[0] == "mcp" && isObject && !isServer {
		return []string{"mcp", "servers", Name}
	}
	return append(slices.Clone(servers), Name)
}

// step is one value to set, below memd's entry.
type step struct {
	below []string
	value any
}

// steps are the values of entry to set where old stands, nil for nothing. What the
// user has added to an entry stays, unless it means another way of reaching a server.
func (o object) steps(old any) []step {
	was, ok := old.(map[string]any)
	other := slices.ContainsFunc(remote(), func(name string) bool { _, has := was[name]; return has })
	if !ok || other {
		return []step{{value: o}}
	}
	var list []step
	for _, m := range o {
		if !reflect.DeepEqual(was[m.name], generic(m.value)) {
			list = append(list, step{[]string{m.name}, m.value})
		}
	}
	return list
}

// merged is root with entry set under path, as a new value.
func merged(root map[string]any, path []string, entry object) map[string]any {
	out := map[string]any{}
	for name, value := range root {
		out[name] = value
	}
	if len(path) == 0 {
		for _, m := range entry {
			out[m.name] = generic(m.value)
		}
		return out
	}
	below, _ := out[path[0]].(map[string]any)
	if len(path) == 1 {
		for _, name := range remote() {
			if _, has := below[name]; has {
				below = nil
			}
		}
	}
	out[path[0]] = merged(below, path[1:], entry)
	return out
}

// valueAt is what stands under path, nil for nothing.
func valueAt(root map[string]any, path []string) any {
	var at any = root
	for _, name := range path {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	return at
}

// parseJSON reads a text. The line break behind it is for a comment at its very end.
func parseJSON(text []byte) (hujson.Value, error) {
	v, err := hujson.Parse(append(slices.Clone(text), '\n'))
	if err != nil {
		return v, &lineError{min(lineOf(err), 1+bytes.Count(text, []byte("\n"))), "it is no JSON"}
	}
	return v, nil
}

// lineOf reads the line from an error of hujson, whose text may quote the file.
func lineOf(err error) int {
	line := 0
	rest, _ := strings.CutPrefix(err.Error(), "hujson: line ")
	for _, r := range rest {
		if r < '0' || r > '9' {
			break
		}
		line = line*10 + int(r-'0')
	}
	return line
}

func decodeJSON(text []byte) (map[string]any, error) {
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return nil, &lineError{1 + bytes.Count(text[:v.StartOffset], []byte("\n")), "it holds no object"}
	}
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	var root map[string]any
	if err := dec.Decode(&root); err != nil {
		return nil, &lineError{0, "it is no JSON that memd can read"}
	}
	return root, nil
}

// setJSON puts value under path into text.
func setJSON(text []byte, path []string, value any) ([]byte, error) {
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	lay := layoutOf(text, root)
	at := root
	for depth, name := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, &lineError{1 + bytes.Count(text[:at.StartOffset], []byte("\n")), path[depth-1] + " is no object"}
		}
		var found []hujson.Value
		for _, m := range object.Members {
			if m.Name.Value.(hujson.Literal).String() == name {
				found = append(found, m.Value)
			}
		}
		switch len(found) {
		case 0:
			for i := len(path) - 1; i > depth; i-- {
				value = objectOf(path[i], value)
			}
			return insert(text, at, lay, name, value, at.StartOffset == root.StartOffset), nil
		case 1:
			at = found[0]
		default:
			return nil, &lineError{1 + bytes.Count(text[:found[1].StartOffset], []byte("\n")), name + " stands there twice"}
		}
	}
	inline := !bytes.Contains(text[at.StartOffset:at.EndOffset], []byte("\n"))
	return splice(text, at.StartOffset, at.EndOffset, lay.render(value, indentAt(text, at.StartOffset), inline)), nil
}

func objectOf(name string, value any) object { return object{{name, value}} }

// insert adds a member as the last one of the object at. The only bytes it adds
// elsewhere are the comma behind the member before.
func insert(text []byte, at hujson.Value, lay layout, name string, value any, isRoot bool) []byte {
	members := at.Value.(*hujson.Object).Members
	brace := at.EndOffset - 1
	from, comma, indent := at.StartOffset+1, "", indentAt(text, at.StartOffset)+lay.unit
	if n := len(members); n > 0 {
		last := members[n-1]
		from, comma = last.Value.EndOffset, ","
		if end := from + len(last.Value.AfterExtra); text[end] == ',' {
			from, comma = end+1, ""
		}
		indent = indentAt(text, last.Name.StartOffset)
	}
	// Behind the last comment, before the white space that ends the object.
	gap := bytes.TrimRight(text[from:brace], " \t\r\n")
	space := text[from+len(gap) : brace]
	lines := bytes.Contains(text[from:brace], []byte("\n")) ||
		len(members) == 0 && (isRoot || bytes.Contains(text[:brace], []byte("\n")))
	added := quoted(name) + ": " + lay.render(value, indent, !lines)
	switch {
	case lines:
		added = lay.eol + indent + added
	case len(members) > 0 || len(gap) > 0:
		added = " " + added
	}
	if len(members) > 0 && comma == "" {
		added += "," // as the members before end
	}
	if lines && !bytes.Contains(space, []byte("\n")) {
		added += lay.eol + indentAt(text, at.StartOffset)
	}
	return splice(text, from, from+len(gap), comma+string(gap)+added)
}

// splice puts added in place of text[from:to].
func splice(text []byte, from, to int, added string) []byte {
	return slices.Concat(text[:from], []byte(added), text[to:])
}

// layoutOf is the layout of a text: its first line break, and the indentation of its
// first member.
func layoutOf(text []byte, root hujson.Value) layout {
	lay := layout{unit: "  ", eol: eolOf(text)}
	if object, ok := root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		at := object.Members[0].Name.StartOffset
		if unit := indentAt(text, at); unit != "" && bytes.Contains(text[root.StartOffset:at], []byte("\n")) {
			lay.unit = unit
		}
	}
	return lay
}

func eolOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indentAt is the white space that begins the line on which offset lies.
func indentAt(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
