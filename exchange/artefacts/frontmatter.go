package artefacts

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxHead is how many bytes of frontmatter are read.
const maxHead = 16 << 10

// fields are what the frontmatter of a file says. Nothing is decoded, so that no
// alias is followed.
func fields(head string) (found map[string][]string, ok bool) {
	if len(head) > maxHead {
		return nil, false
	}
	// The parser is foreign code fed with a foreign text.
	defer func() {
		if r := recover(); r != nil {
			found, ok = nil, false
		}
	}()
	file, err := parser.ParseBytes([]byte(head), 0)
	if err != nil {
		return nil, false
	}
	found = map[string][]string{}
	for _, doc := range file.Docs {
		var pairs []*ast.MappingValueNode
		switch body := doc.Body.(type) {
		case *ast.MappingNode:
			pairs = body.Values
		case *ast.MappingValueNode:
			pairs = []*ast.MappingValueNode{body}
		}
		for _, pair := range pairs {
			found[strings.ToLower(pair.Key.String())] = texts(pair.Value)
		}
	}
	return found, true
}

// texts are a list of texts, or one.
func texts(node ast.Node) []string {
	switch n := node.(type) {
	case *ast.SequenceNode:
		var all []string
		for _, v := range n.Values {
			if _, nested := v.(*ast.SequenceNode); !nested {
				all = append(all, texts(v)...)
			}
		}
		return all
	case *ast.StringNode:
		return []string{strings.TrimSpace(n.Value)}
	case *ast.LiteralNode:
		return []string{strings.TrimSpace(n.Value.Value)}
	}
	return nil
}

// frontmatter takes what the head of a file says of all of it: what a skill is for,
// and for which files a rule holds.
func (r *reader) frontmatter() {
	if strings.TrimSpace(r.head) == "" {
		return
	}
	says, ok := fields(r.head)
	if !ok {
		r.faults = append(r.faults, Fault{1, "its frontmatter is no YAML that can be read"})
		return
	}
	one := func(name string) string { return joined(strings.Join(says[name], ", ")) }
	r.status = one("status")
	switch r.form {
	case Rules:
		if paths := one("paths"); paths != "" {
			r.scope = cut("Holds for files that match "+paths+".", maxOpening)
		}
	case Skill:
		r.name = one("name")
		said := one("description")
		if said == "" {
			return
		}
		before := "Skill: "
		if r.name != "" {
			before = "Skill " + cut(r.name, maxHeading) + ": "
		}
		it := Item{Form: r.form, File: r.file, Line: 1, Last: strings.Count(r.head, "\n") + 2, Kind: r.form.kind()}
		it.word(before, said, r.limits)
		r.items = append(r.items, it)
	}
}

// unended is frontmatter that begins and does not end: what it says would be taken
// for text.
var unended = regexp.MustCompile(`^---[ \t]*\n[A-Za-z_-]+:(?:[ \t]|\n)`)
