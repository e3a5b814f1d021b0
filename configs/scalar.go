package configs

import (
	"errors"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar returns the text of a plain or quoted value as it was written. YAML's
// own idea of its type is passed over: the key knows what it wants, and "off",
// "1e3" or "0010" mean the same in a file as in the environment.
func scalar(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	case nil, *ast.NullNode:
		return "", errors.New("no value is given")
	default:
		// Lists and mappings, but also anchors, aliases, tags and blocks: a
		// file of plain settings needs none of these.
		return "", errors.New("a plain value is wanted here")
	}
}

// lineOf is the line a token stands on, 1 where the parser does not say.
func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil || t.Position.Line < 1 {
		return 1
	}
	return t.Position.Line
}
