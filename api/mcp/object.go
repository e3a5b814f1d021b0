package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"memd/guard/fence"
)

// member is one member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// object is a JSON object whose members keep the order in which they came, those
// that this release does not know among them.
type object []member

// errTwice refuses an object in which a name stands twice.
var errTwice = errors.New("a name stands twice")

// parse reads an object.
func parse(raw []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	o := object{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := t.(string) // the decoder takes nothing else for a name
		if o.has(name) {
			return nil, errTwice
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, member{name, value})
	}
	_, err := dec.Token()
	return o, err
}

// parseList reads a list of objects.
func parseList(raw []byte) ([]object, error) {
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	all := make([]object, len(values))
	for i, value := range values {
		var err error
		if all[i], err = parse(value); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (o object) has(name string) bool { return o.get(name) != nil }

// get returns a member's value, nil for none.
func (o object) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// text returns a member that is a string, "" for any other.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o.get(name), &s) != nil {
		return ""
	}
	return s
}

// with returns o with a member set, in its place or at the end.
func (o object) with(name string, value any) object {
	raw := encode(value)
	out := append(object(nil), o...)
	for i := range out {
		if out[i].name == name {
			out[i].value = raw
			return out
		}
	}
	return append(out, member{name, raw})
}

// without returns o without a member.
func (o object) without(name string) object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if m.name != name {
			out = append(out, m)
		}
	}
	return out
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode renders a value as JSON in which < and & stand as they are.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings, numbers, objects and what was JSON before
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// chars is how many code points a JSON text has.
func chars(raw []byte) int { return utf8.RuneCount(raw) }

// harmless is a JSON text with every string in it as rules let it through.
func harmless(rules fence.Rules, raw []byte) json.RawMessage {
	var b bytes.Buffer
	for len(raw) > 0 {
		at := bytes.IndexByte(raw, '"')
		if at < 0 {
			break
		}
		end := at + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		b.Write(raw[:at])
		quoted := raw[at : end+1]
		var s string
		if json.Unmarshal(quoted, &s) != nil {
			quoted = []byte(`""`) // not reached: the text is JSON
		} else if safe := rules.Text(s); safe != s || bytes.ContainsRune(quoted, utf8.RuneError) {
			quoted = encode(safe)
		}
		b.Write(quoted)
		raw = raw[end+1:]
	}
	b.Write(raw)
	return b.Bytes()
}
