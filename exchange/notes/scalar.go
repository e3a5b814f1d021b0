package notes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar reads a value of one text. A number, a truth value or a date is the text
// that was written: a name may be 2026-01-01 or yes.
func scalar(node ast.Node) (string, bool) {
	switch v := node.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.TagNode:
		if v.Start.Value == "!!str" {
			return scalar(v.Value)
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	}
	return "", false
}

// list reads a sequence of scalars, or one scalar for a list of it. It is never nil.
func list(node ast.Node) ([]string, bool) {
	out := []string{}
	if _, empty := node.(*ast.NullNode); empty {
		return out, true
	}
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		one, ok := scalar(node)
		return append(out, one), ok
	}
	for _, value := range sequence.Values {
		item, ok := scalar(value)
		if !ok {
			return nil, false
		}
		out = append(out, item)
	}
	return out, true
}

// text writes a string as a scalar of one line that YAML 1.1 and 1.2 both read as
// that string: as it is where it is made of words, else in double quotes.
func text(s string) string {
	if wordy(s) && !token.IsNeedQuoted(s) {
		return s
	}
	return quoted(s)
}

// wordy reports whether s begins with a letter, holds nothing that any reader of YAML
// may take for more than text, and is no word with a meaning in YAML 1.1.
func wordy(s string) bool {
	for i, r := range s {
		letter := unicode.IsLetter(r)
		if i == 0 && !letter || !letter && !unicode.In(r, unicode.M, unicode.N, unicode.S, unicode.P) && r != ' ' || strings.ContainsRune("\"\\#{}[]`", r) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return !strings.Contains(s, ": ") && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, " ")
}

// quoted is s in double quotes: a string of JSON, which YAML reads as the same, with
// what is not seen escaped.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		switch {
		case r < 0x10000 && (unicode.IsControl(r) || unicode.IsSpace(r) && r != ' ' || unicode.Is(unicode.Cf, r) && r != '\u200d'):
			fmt.Fprintf(&out, `\u%04x`, r)
		case unicode.Is(unicode.Cf, r) && r != '\u200d' || r >= 0x10000 && !unicode.IsPrint(r):
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// texts writes a list of strings on one line.
func texts(values []string) string {
	items := make([]string, len(values))
	for i, v := range values {
		if items[i] = text(v); strings.ContainsRune(v, ',') { // ends an item here
			items[i] = quoted(v)
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}
