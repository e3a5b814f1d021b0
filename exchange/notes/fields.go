package notes

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"memd"
)

// set reads one field, and says what is wrong with it. A field that memd does not know
// is a person's.
func (n *Note) set(key string, node ast.Node) string {
	switch key {
	case "tags":
		return setList(&n.Tags, node)
	case "access":
		return setList(&n.Access, node)
	}
	if !slices.Contains(known[:], key) {
		return ""
	}
	value, ok := scalar(node)
	if !ok {
		return "one text is wanted, and no alias or anchor"
	}
	switch key {
	case "importance":
		return setNumber(&n.Importance, value, 10)
	case "version":
		return setNumber(&n.Version, value, 1<<31-1)
	case "type":
		return n.setType(value)
	case "kind":
		if n.Kind = memd.Kind(value); value != "" && !n.Kind.Durable() {
			return "no kind of a long-term memory"
		}
	case "verified_at":
		return setTime(&n.VerifiedAt, value)
	case "expires_at":
		return setTime(&n.ExpiresAt, value)
	case "resolved_at":
		return setTime(&n.ResolvedAt, value)
	case "updatedAt":
		return setTime(&n.UpdatedAt, value)
	default:
		*n.text(key) = value
	}
	return ""
}

// text is where a field of any text is kept, nil for another field.
func (n *Note) text(key string) *string {
	switch key {
	case "name":
		return &n.Name
	case "description":
		return &n.Description
	case "memory_key":
		return &n.MemoryKey
	case "namespace":
		return &n.Namespace
	case "source":
		return &n.Source
	case "owner":
		return &n.Owner
	case "contentHash":
		return &n.ContentHash
	case "syncHash":
		return &n.SyncHash
	}
	return nil
}

func (n *Note) setType(value string) string {
	if n.Type = Type(value); value != "" && !slices.Contains(types[:], n.Type) {
		return "must be user, feedback, project or reference"
	}
	return ""
}

func setList(to *[]string, node ast.Node) string {
	values, ok := list(node)
	if !ok {
		return "a list of texts is wanted, and no alias or anchor"
	}
	*to = values
	return ""
}

func setNumber(to *int, value string, max int) string {
	if value == "" {
		return ""
	}
	number, err := strconv.Atoi(value)
	if err != nil || number < 1 || number > max {
		return "must be a whole number of 1 to " + strconv.Itoa(max)
	}
	*to = number
	return ""
}

func setTime(to *memd.Time, value string) string {
	if value == "" {
		return ""
	}
	if len(value) == len("2026-11-30") { // a day, as a person writes it
		value += "T00:00:00Z"
	}
	at, err := memd.ParseTime(value)
	if err != nil {
		return "must be a time such as 2026-11-30T02:00:00.000Z, or a day"
	}
	*to = at
	return ""
}

// complete holds a frontmatter against what every note must say.
func (n *Note) complete() *Fault {
	for _, f := range []struct{ key, value string }{{"name", n.Name}, {"description", n.Description}, {"type", string(n.Type)}} {
		if !visible(f.value) {
			return &Fault{Line: n.lineOf(f.key), Code: memd.CodeMissingField, Field: f.key, Reason: "the note has no " + f.key}
		}
	}
	if strings.IndexByte(n.Name, 0) >= 0 {
		return invalid(n.lineOf("name"), "name", "the name holds a NUL character")
	}
	if utf8.RuneCountInString(n.Name) > maxName {
		return &Fault{Line: n.lineOf("name"), Code: memd.CodeTooLarge, Field: "name", Reason: "the name has more than " + strconv.Itoa(maxName) + " characters"}
	}
	if n.MemoryKey != "" && !memd.ValidKey(n.MemoryKey) {
		return invalid(n.lineOf("memory_key"), "memory_key", "memory_key must be 1 to %d characters of [A-Za-z0-9._/-]", memd.MaxKeyLen)
	}
	if n.Namespace != "" && !memd.ValidNamespace(n.Namespace) {
		return invalid(n.lineOf("namespace"), "namespace", "namespace must be lower-case parts of [a-z0-9._-] joined by /")
	}
	if n.Kind != "" && isType(n.Kind) && Type(n.Kind) != n.Type {
		return invalid(n.lineOf("kind"), "kind", "kind and type contradict each other")
	}
	return nil
}

// lineOf is the line of the file at which a field begins, the first one for none.
func (n *Note) lineOf(key string) int {
	if n.written == nil {
		return 0
	}
	at := 2
	for _, f := range n.written.fields {
		at += len(lines(f.above))
		if f.key == key {
			return at
		}
		at += len(lines(f.lines))
	}
	return 1
}

// visible reports whether a text shows anything.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point) && r != '\u2800'
	})
}
