package api

import (
	"bytes"
	"encoding/json"

	"memd"
)

// tree goes over a text that is known to be one JSON value, once and without
// decoding it. It refuses repeated names, null in lists, and depth.
type tree struct {
	text  []byte
	at    int            // what comes next
	known map[string]int // names that its errors may repeat
}

// membersOf returns the members of the object that is text, nil where text is
// another value. The values are parts of text. Its errors name fields of places alone.
func membersOf(text []byte, places map[string]int) (map[string]json.RawMessage, error) {
	t := tree{text: text, known: places}
	if t.next() == '{' {
		return t.object(0)
	}
	return nil, t.value(0)
}

// next steps over white space, and over the commas and colons that tell
// nothing in a text that is valid, and returns the first byte of what follows.
func (t *tree) next() byte {
	for {
		switch c := t.text[t.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			t.at++
		default:
			return c
		}
	}
}

// value steps over a value that lies in depth others.
func (t *tree) value(depth int) error {
	switch t.next() {
	case '{':
		_, err := t.object(depth)
		return err
	case '[':
		return t.list(depth)
	case '"':
		t.string()
	default: // a number, true, false or null
		if n := bytes.IndexAny(t.text[t.at:], " \t\r\n,]}"); n >= 0 {
			t.at += n
		} else {
			t.at = len(t.text)
		}
	}
	return nil
}

func (t *tree) object(depth int) (map[string]json.RawMessage, error) {
	if depth == maxDepth {
		return nil, tooDeep()
	}
	members := map[string]json.RawMessage{}
	t.at++
	for t.next() != '}' {
		name, err := unquote(t.string())
		if err != nil {
			return nil, err
		}
		if _, twice := members[name]; twice {
			return nil, repeated(name, t.known)
		}
		t.next()
		from := t.at
		if err := t.value(depth + 1); err != nil {
			return nil, err
		}
		members[name] = t.text[from:t.at]
	}
	t.at++
	return members, nil
}

func (t *tree) list(depth int) error {
	if depth == maxDepth {
		return tooDeep()
	}
	t.at++
	for t.next() != ']' {
		if t.text[t.at] == 'n' {
			return memd.Errorf(memd.CodeInvalidRequest, "the body has null in a list")
		}
		if err := t.value(depth + 1); err != nil {
			return err
		}
	}
	t.at++
	return nil
}

// string steps over a string and returns it with its quotes.
func (t *tree) string() []byte {
	from := t.at
	for t.at++; t.text[t.at] != '"'; t.at++ {
		if t.text[t.at] == '\\' {
			t.at++
		}
	}
	t.at++
	return t.text[from:t.at]
}

// unquote returns the text of a JSON string.
func unquote(quoted []byte) (text string, err error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	err = json.Unmarshal(quoted, &text)
	return text, err
}

func tooDeep() error {
	return memd.Errorf(memd.CodeInvalidRequest, "the body nests more than %d deep", maxDepth)
}
