package mcp

import (
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"memd"
)

// field is a property of a schema with its name.
type field struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

func (f field) must() field { f.required = true; return f }

func text(name, doc string) field {
	return field{name: name, schema: &jsonschema.Schema{Type: "string", Description: doc}}
}

// timeFormat is JSON Schema's name for the times of RFC 3339.
const timeFormat = "date-time"

// moment is a time.
func moment(name, doc string) field {
	f := text(name, doc)
	f.schema.Format = timeFormat
	return f
}

func flag(name, doc string, otherwise bool) field {
	return field{name: name, schema: &jsonschema.Schema{
		Type: "boolean", Description: doc, Default: []byte(strconv.FormatBool(otherwise)),
	}}
}

// number is a whole number from lo to hi; otherwise is what it is where it is
// left out, below lo for nothing to say.
func number(name, doc string, lo, hi, otherwise int) field {
	from, to := float64(lo), float64(hi)
	s := &jsonschema.Schema{Type: "integer", Description: doc, Minimum: &from, Maximum: &to}
	if otherwise >= lo {
		s.Default = []byte(strconv.Itoa(otherwise))
	}
	return field{name: name, schema: s}
}

func oneOf[T ~string](name, doc string, values []T) field {
	return field{name: name, schema: &jsonschema.Schema{Type: "string", Description: doc, Enum: words(values)}}
}

// listOf is a list of strings, of any or of one of values.
func listOf[T ~string](name, doc string, most int, values []T) field {
	return field{name: name, schema: &jsonschema.Schema{
		Type: "array", Description: doc, MaxItems: &most, Items: &jsonschema.Schema{Type: "string", Enum: words(values)},
	}}
}

// anyWord is the list of values of a list that takes any string.
var anyWord []string

func words[T ~string](values []T) []any {
	var all []any
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// closed is the schema of a tool's arguments: these fields and no others.
func closed(fields ...field) *jsonschema.Schema {
	s := open(fields...)
	s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	for _, f := range fields {
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// open is the schema of an answer. Nothing in it is required: a refusal is an
// answer of the same tool, and clients hold both against it.
func open(fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fields {
		s.Properties[f.name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, f.name)
	}
	return s
}

func typed(kind string, names ...string) []field {
	var all []field
	for _, name := range names {
		all = append(all, field{name: name, schema: &jsonschema.Schema{Type: kind}})
	}
	return all
}

func lists(names ...string) []field {
	var all []field
	for _, name := range names {
		all = append(all, field{name: name, schema: &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}})
	}
	return all
}

// memoryFields are a memory as it is answered.
func memoryFields() []field {
	fields := typed("string", "id", "tier", "namespace", "kind", "memory_key", "summary", "raw_content", "why", "how_to_apply",
		"source", "source_status", "verified_at", "stale_reason", "age", "updated_at", "expires_at", "resolved_at")
	fields = append(fields, typed("integer", "version", "importance")...)
	fields = append(fields, typed("boolean", "stale")...)
	fields = append(fields, lists("tags", "access")...)
	for i, f := range fields {
		switch f.name {
		case "stale":
			fields[i].schema.Description = "check it against its source before you rely on it"
		case "updated_at":
			// Of two types some clients make none.
			fields[i].schema = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "null"}}}
		}
	}
	return fields
}

// refusalFields are what a refusal says.
func refusalFields() []field {
	return typed("string", "code", "detail", "field", "hint")
}

func shortenedField() field {
	f := lists("shortened")[0]
	f.schema.Description = "fields cut to fit max_chars"
	return f
}

func rowsField(name string, extra ...field) field {
	return field{name: name, schema: &jsonschema.Schema{Type: "array", Items: open(append(memoryFields(), extra...)...)}}
}

// answers is the schema of an answer with these fields.
func answers(fields ...field) *jsonschema.Schema {
	return open(append(append(fields, shortenedField()), refusalFields()...)...)
}

func writtenAnswer() *jsonschema.Schema {
	fields := append(memoryFields(), typed("boolean", "deduplicated", "unchanged")...)
	fields = append(fields, typed("string", "duplicate_of")...)
	return answers(append(fields, lists("warnings")...)...)
}

func recallAnswer() *jsonschema.Schema {
	extra := append(typed("number", "score"), lists("matched")...)
	extra = append(extra, typed("boolean", "shortened")...)
	fields := append([]field{rowsField("results", extra...)}, typed("string", "next_cursor", "empty_reason")...)
	return answers(append(append(fields, lists("degraded")...), typed("number", "took_ms")...)...)
}

func listAnswer() *jsonschema.Schema {
	return answers(append([]field{rowsField("memories")}, typed("string", "next_cursor")...)...)
}

func contextAnswer() *jsonschema.Schema {
	refs := open(typed("string", "id", "memory_key", "reason")...)
	list := func(name string) field {
		return field{name: name, schema: &jsonschema.Schema{Type: "array", Items: refs}}
	}
	fields := append(typed("string", "text"), typed("integer", "used_chars")...)
	return answers(append(append(fields, list("included"), list("left_out")), lists("degraded")...)...)
}

func whyAnswer() *jsonschema.Schema {
	question := append(typed("integer", "n"), typed("string", "question", "answer")...)
	question = append(question, lists("evidence")...)
	fields := append(typed("string", "id", "memory_key", "namespace", "reason"), typed("boolean", "returned")...)
	fields = append(fields, typed("integer", "rank")...)
	return answers(append(fields, field{name: "questions", schema: &jsonschema.Schema{Type: "array", Items: open(question...)}})...)
}

// durable are the kinds of the long tier.
func durable() []memd.Kind {
	var all []memd.Kind
	for _, k := range memd.AllKinds() {
		if k.Durable() {
			all = append(all, k)
		}
	}
	return all
}
