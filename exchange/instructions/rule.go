package instructions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"memd/guard/confine"
)

// Bounds on what rules say of themselves. Matching takes time by the product of the
// alternatives of a glob, of which a project may bring many.
const (
	maxHead         = 4 << 10 // bytes of frontmatter
	maxGlobs        = 32
	maxGlob         = 512 // bytes
	maxBraces       = 2
	maxMessage      = 200 // bytes of what the parser says is wrong
	maxAlternatives = 16  // commas of a glob
)

// ruleOf is what is the same for the rules of a folder.
type ruleOf struct {
	folder string // that holds .agent, relative to the top, "." for the top
	at     string // the file that is worked on, relative to the top, "" for none
}

// applies reports whether one of globs, which are valid, matches the file; without
// any a rule applies.
func (r *ruleOf) applies(globs []string) bool {
	if len(globs) == 0 {
		return true
	}
	at, within := r.at, true
	if r.folder != "." {
		at, within = strings.CutPrefix(r.at, r.folder+"/")
	}
	if r.at == "" || !within {
		return false
	}
	for _, glob := range globs {
		if doublestar.MatchUnvalidated(glob, at) {
			return true
		}
	}
	return false
}

// frontmatter parts a text, whose lines end with \n, from the YAML at its head. One
// that begins and does not end is refused: what it says would be lost.
func frontmatter(text string) (head, rest string, err error) {
	body, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, nil
	}
	for from := 0; from < len(body); {
		line, _, _ := strings.Cut(body[from:], "\n")
		if trimmed := strings.TrimRight(line, " \t"); trimmed == "---" || trimmed == "..." {
			if from > maxHead {
				return "", "", confine.Refused("its frontmatter is too long")
			}
			return body[:from], body[min(from+len(line)+1, len(body)):], nil
		}
		from += len(line) + 1
	}
	return "", "", confine.Refused("its frontmatter has no end")
}

// header is what the frontmatter of a rule may say.
type header struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Paths       globs  `yaml:"paths"`
}

// globs are a list of texts, or one.
type globs []string

// UnmarshalYAML takes texts as they are written, and follows no alias.
func (g *globs) UnmarshalYAML(node ast.Node) error {
	nodes := []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		nodes = list.Values
	}
	switch {
	case len(nodes) == 0:
		return noPaths
	case len(nodes) > maxGlobs:
		return confine.Refused("more globs than are read of a rule")
	}
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.StringNode:
			*g = append(*g, n.Value)
		case *ast.LiteralNode:
			*g = append(*g, strings.TrimSpace(n.Value.Value))
		default:
			return confine.Refused("paths are globs in quotes")
		}
	}
	return nil
}

// globsOf reads the globs of a rule from its frontmatter. None of it that is wrong
// is passed over: the rule would hold for other files than was meant.
func globsOf(head string) (found []string, err error) {
	if strings.TrimSpace(head) == "" {
		return nil, nil
	}
	// The parser is foreign code fed with a foreign text.
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, confine.Refused("its frontmatter is no YAML that can be read")
		}
	}()
	var h header
	if err := yaml.UnmarshalWithOptions([]byte(head), &h, yaml.Strict()); err != nil {
		return nil, headError(err)
	}
	if h.Paths == nil && saysNull(head) {
		return nil, noPaths
	}
	for i, glob := range h.Paths {
		plain, err := globOf(glob)
		if err != nil {
			return nil, fmt.Errorf("glob %d of its paths %w", i+1, err)
		}
		found = append(found, plain)
	}
	return found, nil
}

const noPaths = confine.Refused("its paths are empty")

// saysNull reports whether paths stand there without a value, which the decoder takes
// for none.
func saysNull(head string) bool {
	path, err := yaml.PathString("$.paths")
	if err != nil {
		return false
	}
	node, err := path.ReadNode(strings.NewReader(head))
	return err == nil && node.Type() == ast.NullType
}

// headError is an error of the parser without the text that it shows.
func headError(err error) error {
	if refused, ok := errors.AsType[confine.Refused](err); ok {
		return refused
	}
	if e, ok := errors.AsType[yaml.Error](err); ok {
		line := 1
		if token := e.GetToken(); token != nil && token.Position != nil {
			line = token.Position.Line
		}
		return fmt.Errorf("line %d of its frontmatter: %s", line+1, clip(e.GetMessage())) // one is ---
	}
	return confine.Refused("its frontmatter is no YAML that can be read")
}

// clip bounds a message, which may hold words of the file.
func clip(s string) string {
	if len(s) > maxMessage {
		return strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}

// globOf checks a glob, and gives it the form in which it is matched.
func globOf(glob string) (string, error) {
	plain := strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	if strings.HasSuffix(plain, "/") {
		plain += "**"
	}
	switch {
	case plain == "" || len(plain) > maxGlob:
		return "", confine.Refused("is empty or too long")
	case strings.HasPrefix(plain, "!"):
		return "", confine.Refused("excludes files, which globs of rules do not")
	case strings.Count(plain, "{") > maxBraces || strings.Count(plain, ",") > maxAlternatives:
		return "", confine.Refused("has too many alternatives")
	case !doublestar.ValidatePattern(plain):
		return "", confine.Refused("is no glob")
	}
	return plain, nil
}
