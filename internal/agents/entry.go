package agents

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
)

// Name is what memd is called among a client's servers.
const Name = "memd"

// Server is the command by which a client starts memd.
type Server struct {
	Command string   // absolute path
	Args    []string // beginning with the subcommand
}

// check refuses what the files cannot carry, or would carry as another text.
func (s Server) check() error {
	for _, text := range append([]string{s.Command}, s.Args...) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return memd.Errorf(memd.CodeInvalidRequest, "the command to write holds a path that is no text of one line")
		}
	}
	return nil
}

// object is a JSON object in the order in which it is written. A value is a string, a
// []string or an object.
type object []member

type member struct {
	name  string
	value any
}

// plain is the entry of most clients.
func plain(s Server) object {
	return object{{"command", s.Command}, {"args", s.Args}}
}

// typed is the entry of those that want the transport named.
func typed(s Server) object {
	return append(object{{"type", "stdio"}}, plain(s)...)
}

// listed is the entry of those that take the whole command as a list.
func listed(s Server) object {
	return object{{"type", "local"}, {"command", append([]string{s.Command}, s.Args...)}}
}

// remote are the members by which an entry means a server that is not started.
func remote() []string {
	return []string{"url", "httpUrl", "serverUrl", "headers"}
}

// layout is how a text is laid out, so that what is added looks like the rest.
type layout struct {
	unit string // one step of indentation
	eol  string
}

// render writes value. indent is that of the line on which it begins; inline puts it
// all on that line. Lists stay on one line anyhow.
func (l layout) render(value any, indent string, inline bool) string {
	switch v := value.(type) {
	case string:
		return quoted(v)
	case []string:
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = quoted(s)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	var parts []string
	deeper := indent + l.unit
	for _, m := range value.(object) {
		parts = append(parts, quoted(m.name)+": "+l.render(m.value, deeper, inline))
	}
	if inline {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "{" + l.eol + deeper + strings.Join(parts, ","+l.eol+deeper) + l.eol + indent + "}"
}

// quoted writes a string as JSON, and as TOML's basic string: without control
// characters they are the same.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always marshals
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// generic is value as a decoder of JSON or TOML returns it.
func generic(value any) any {
	switch v := value.(type) {
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	case object:
		m := map[string]any{}
		for _, e := range v {
			m[e.name] = generic(e.value)
		}
		return m
	}
	return value
}
