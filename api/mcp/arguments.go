package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"memd"
)

// identifier is what the name of an argument looks like. Other names are not
// repeated in errors: they may be anything, a secret included.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)

// replaced is the escape of U+FFFD.
var replaced = regexp.MustCompile(`(?i)\\ufffd`)

// arguments holds the arguments of a call against their schema and decodes them
// into the struct that out points to. Null is as good as absent. How long a text
// may be is left to the call behind the tool, which has a code for it. Its errors
// name fields and never repeat a value.
func arguments(raw json.RawMessage, s *jsonschema.Schema, out any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if !utf8.Valid(raw) {
		return memd.Errorf(memd.CodeInvalidRequest, "the arguments are not valid UTF-8")
	}
	given, err := parse(raw)
	if errors.Is(err, errTwice) {
		return memd.Errorf(memd.CodeInvalidRequest, "an argument is given twice")
	}
	if err != nil {
		return memd.Errorf(memd.CodeInvalidRequest, "the arguments must be a JSON object")
	}
	kept := object{}
	for _, m := range given {
		property, known := s.Properties[m.name]
		switch {
		case !known && identifier.MatchString(m.name):
			return memd.FieldErrorf(memd.CodeInvalidRequest, m.name, "%s is no argument of this tool", m.name)
		case !known:
			return memd.Errorf(memd.CodeInvalidRequest, "an argument is unknown to this tool")
		case string(m.value) == "null":
			continue
		}
		value, ok := fits(m.value, property)
		if !ok {
			return memd.FieldErrorf(memd.CodeInvalidRequest, m.name, "%s must be %s", m.name, wanted(property))
		}
		if mended(value) {
			return memd.FieldErrorf(memd.CodeInvalidRequest, m.name, "%s escapes half of a surrogate pair", m.name)
		}
		kept = append(kept, member{m.name, value})
	}
	for _, name := range s.Required {
		// A missing source has a code of its own, which the call behind gives.
		if !kept.has(name) && name != "source" {
			return memd.FieldErrorf(memd.CodeMissingField, name, "%s is missing", name)
		}
	}
	if err := json.Unmarshal(encode(kept), out); err != nil {
		return memd.Errorf(memd.CodeInvalidRequest, "the arguments cannot be read")
	}
	return nil
}

// fits reports whether a value is what a property takes, and returns it in the
// one spelling of its type.
func fits(value json.RawMessage, s *jsonschema.Schema) (json.RawMessage, bool) {
	switch s.Type {
	case "string":
		var v string
		if json.Unmarshal(value, &v) != nil || value[0] != '"' {
			return nil, false
		}
		if s.Format == timeFormat {
			return value, json.Unmarshal(value, &memd.Time{}) == nil
		}
		return value, s.Enum == nil || slices.Contains(s.Enum, any(v))
	case "boolean":
		return value, string(value) == "true" || string(value) == "false"
	case "integer":
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil || n != math.Trunc(n) || n < *s.Minimum || n > *s.Maximum {
			return nil, false
		}
		return strconv.AppendInt(nil, int64(n), 10), true // 1e1 and 10.0 are whole numbers too
	case "array":
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil || value[0] != '[' {
			return nil, false
		}
		for _, item := range items {
			if _, ok := fits(item, s.Items); !ok {
				return nil, false
			}
		}
		return value, true
	}
	return value, true
}

// mended reports whether decoding put U+FFFD where the text has none.
func mended(value json.RawMessage) bool {
	if !bytes.Contains(value, []byte(`\u`)) {
		return false
	}
	var v any
	if json.Unmarshal(value, &v) != nil {
		return false
	}
	const mark = "\uFFFD"
	return strings.Count(string(encode(v)), mark) > strings.Count(string(value), mark)+len(replaced.FindAll(value, -1))
}

// wanted says what a property takes.
func wanted(s *jsonschema.Schema) string {
	switch {
	case s.Type == "array" && s.Items.Enum != nil:
		return "a list of " + choices(s.Items.Enum)
	case s.Type == "array":
		return "a list of strings"
	case s.Format == timeFormat:
		return "an RFC 3339 time such as 2026-11-30T02:00:00.000Z"
	case s.Enum != nil:
		return "one of " + choices(s.Enum)
	case s.Type == "integer":
		return "a whole number from " + strconv.Itoa(int(*s.Minimum)) + " to " + strconv.Itoa(int(*s.Maximum))
	case s.Type == "boolean":
		return "true or false"
	}
	return "a string"
}

func choices(values []any) string {
	var all []string
	for _, v := range values {
		all = append(all, v.(string))
	}
	return strings.Join(all, ", ")
}
