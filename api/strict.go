package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"memd"
)

// Bounds on a body.
const (
	maxBody  = 1 << 20 // bytes
	maxDepth = 16      // of nested objects and lists; the contract's bodies have 2
)

// readBody reads a JSON body. It is empty, without an error, where the call
// can do without.
func readBody(w http.ResponseWriter, r *http.Request, optional bool) ([]byte, error) {
	if oversized(r) {
		return nil, memd.Errorf(memd.CodeTooLarge, "the body has more than %d bytes", maxBody)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, memd.Errorf(memd.CodeTooLarge, "the body has more than %d bytes", maxBody)
	}
	if err != nil {
		r.Body = http.NoBody // it was waited for long enough
		return nil, memd.Errorf(memd.CodeInvalidRequest, "the body did not arrive whole")
	}
	if len(body) == 0 && optional {
		return nil, nil
	}
	if !isJSON(r.Header) {
		return nil, memd.Errorf(memd.CodeUnsupportedMediaType, "the body must be application/json in UTF-8").
			WithHint("send Content-Type: application/json, without a Content-Encoding")
	}
	if len(body) == 0 {
		return nil, memd.Errorf(memd.CodeInvalidRequest, "the body is empty; a JSON object is needed")
	}
	return body, nil
}

func isJSON(h http.Header) bool {
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || mediaType != "application/json" || h.Get("Content-Encoding") != "" {
		return false
	}
	charset, ok := params["charset"]
	return !ok || strings.EqualFold(charset, "utf-8")
}

// decode reads a JSON object into the struct that out points to, whose fields
// lie at places (see placesOf), more strictly than encoding/json does: the text
// is valid UTF-8 with whole surrogate pairs, no name stands twice or is unknown,
// names match in their case, and no list holds null. A field that is null is as
// good as absent, save in a memd.Opt. Each field of needs must be there. An
// empty body is an empty object.
//
// Its errors name fields of the struct alone and never repeat a value.
func decode(body []byte, out any, places map[string]int, needs []string) error {
	var fields map[string]json.RawMessage
	if len(body) > 0 {
		if err := checkText(body); err != nil {
			return err
		}
		var err error
		if fields, err = membersOf(body, places); err != nil {
			return err
		}
		if fields == nil {
			return memd.Errorf(memd.CodeInvalidRequest, "the body must be a JSON object")
		}
	}
	return fill(reflect.ValueOf(out).Elem(), fields, places, needs)
}

// placesOf returns the index of each field of a struct type that has a name in
// JSON by that name.
func placesOf(t reflect.Type) map[string]int {
	places := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			places[name] = i
		}
	}
	return places
}

// checkText refuses what Go's decoder would mend in silence.
func checkText(body []byte) error {
	if !utf8.Valid(body) {
		return memd.Errorf(memd.CodeInvalidRequest, "the body is not valid UTF-8")
	}
	if !json.Valid(body) {
		e := memd.Errorf(memd.CodeInvalidRequest, "the body is not one JSON value")
		var whole json.RawMessage
		if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &whole)); ok {
			e.Message += ": see byte " + strconv.FormatInt(syntax.Offset, 10)
		}
		return e
	}
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		i++ // a backslash stands only in strings, and before another byte
		if body[i] != 'u' {
			continue
		}
		first := escaped(body[i:])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		second := rune(-1)
		if bytes.HasPrefix(body[i+1:], []byte(`\u`)) {
			second = escaped(body[i+2:])
		}
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return memd.Errorf(memd.CodeInvalidRequest, "the body escapes half of a surrogate pair")
		}
		i += 6
	}
	return nil
}

// escaped is the code unit of "uXXXX" in valid JSON.
func escaped(b []byte) rune {
	n, err := strconv.ParseUint(string(b[1:5]), 16, 16)
	if err != nil {
		panic(err) // the text was checked
	}
	return rune(n)
}

// fill sets the fields of the struct out.
func fill(out reflect.Value, fields map[string]json.RawMessage, places map[string]int, needs []string) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		place, ok := places[name]
		if !ok {
			return unknown(name, "field", namesOf(places))
		}
		target := out.Field(place)
		if err := json.Unmarshal(fields[name], target.Addr().Interface()); err != nil {
			return memd.FieldErrorf(memd.CodeInvalidRequest, name, "%s must be %s", name, wanted(target.Type()))
		}
	}
	for _, name := range needs {
		if raw, ok := fields[name]; !ok || string(raw) == "null" {
			return memd.FieldErrorf(memd.CodeMissingField, name, "%s is missing", name)
		}
	}
	return nil
}

// wanted says what a field of type t takes.
func wanted(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return wanted(t.Elem())
	}
	if t == reflect.TypeFor[memd.Time]() {
		return "an RFC 3339 time such as 2026-11-30T02:00:00.000Z"
	}
	switch t.Kind() {
	case reflect.Struct: // a memd.Opt
		if value, ok := t.FieldByName("Value"); ok {
			return wanted(value.Type) + ", or null"
		}
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of strings"
	}
	return "of another type"
}
