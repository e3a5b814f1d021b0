package sources

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// findMarkdown finds the section of a heading by GitHub's slug of it, or of an
// anchor in HTML by its name. As GitHub does, a name that is not there as it is
// written is looked for in lower case.
func findMarkdown(source, cited string) (at, end int, ok bool) {
	o := outlineOf(source)
	if at, end, ok = o.find(names(cited)); !ok {
		at, end, ok = o.find(names(lower(cited)))
	}
	return at, end, ok
}

// outlineOf reads Markdown. A heading within a quotation or a list has an anchor,
// and ends no section but those within the same.
//
// Only blocks are read of the whole, and what stands within a line for headings
// alone: texts of others can make that take time by the square of their length.
func outlineOf(source string) *outline {
	r := reader{source: deepLine.ReplaceAllFunc([]byte(withoutFrontmatter(source)), blanks), slugs: slugs{}}
	r.out.text = source
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	_ = ast.Walk(blocks.Parse(text.NewReader(r.source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			r.read(n)
		}
		return ast.WalkContinue, nil // so that Walk does not fail
	})
	r.close()
	return &r.out
}

// deepLine is a line of so many quotations and lists within each other that no
// person wrote it; reading one takes time by the square of their number.
var deepLine = regexp.MustCompile(`(?m)^(?:[ \t]*(?:[>+*-]|[0-9]{1,9}[.)])){100}.*$`)

// blanks is as many spaces.
func blanks(text []byte) []byte { return bytes.Repeat([]byte(" "), len(text)) }

// reader collects the outline of Markdown.
type reader struct {
	source []byte
	slugs  slugs
	out    outline
	within []ast.Node // for each heading, the block that it stands in

	// Of what stands within a heading's line, nil until one is read.
	line  parser.Parser
	links parser.Context
}

func (r *reader) read(n ast.Node) {
	if n.Type() != ast.TypeBlock || n.Lines().Len() == 0 {
		return
	}
	base, raw := n.Lines().At(0).Start, string(n.Lines().Value(r.source))
	switch n := n.(type) {
	case *ast.Heading:
		r.add(max(n.Pos(), 0), n.Lines().At(n.Lines().Len()-1).Stop, n.Level, r.says(raw), n.Parent())
		r.html(base, raw, nil)
		if m := givenName.FindStringSubmatch(raw); m != nil {
			r.out.anchors = append(r.out.anchors, anchor{at: base, name: m[1]})
		}
	case *ast.HTMLBlock:
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(r.source))
		}
		r.html(base, raw, n.Parent())
	case *ast.Paragraph, *ast.TextBlock:
		r.html(base, raw, nil)
	}
}

// givenName is a name that the author gives a heading at its end, as those who make
// sites of Markdown read it: ## Title {#name}
var givenName = regexp.MustCompile(`\{:?\s*#([^\s{}]+)[^{}]*\}\s*$`)

func (r *reader) add(at, stop, level int, text string, within ast.Node) {
	r.out.headings = append(r.out.headings, heading{
		at: lineStart(r.out.text, min(at, len(r.out.text))), stop: stop, level: level, name: r.slugs.next(text),
	})
	r.within = append(r.within, within)
}

// html reads HTML that begins at a byte of the source. Within a quotation its
// lines lie a few bytes further on than they are taken for.
func (r *reader) html(base int, raw string, within ast.Node) {
	if !strings.Contains(raw, "<") {
		return
	}
	place := func(at int) int { return min(base+at, len(r.source)) }
	tags := tagsOf(raw)
	closing := closings(tags)
	for i, t := range tags {
		for _, id := range t.ids {
			r.out.anchors = append(r.out.anchors, anchor{at: place(t.at), name: id})
		}
		if end := closing[i]; t.level() > 0 && end > 0 {
			r.add(place(t.at), place(end), t.level(), shown(raw[t.at:end]), within)
		}
	}
}

// close ends every heading's section at the next heading of the same or a higher
// level that stands in the same block, or where that block ends.
func (r *reader) close() {
	for i := range r.out.headings {
		h := &r.out.headings[i]
		h.end = r.after(r.within[i])
		for j, next := range r.out.headings[i+1:] {
			if next.at >= h.end {
				break
			}
			if next.level <= h.level && r.within[i+1+j] == r.within[i] {
				h.end = next.at
				break
			}
		}
		h.end = max(h.end, h.at)
	}
}

// after is where the first block begins that comes after n.
func (r *reader) after(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if next := n.NextSibling(); next != nil && next.Pos() >= 0 {
			return lineStart(r.out.text, min(next.Pos(), len(r.out.text)))
		}
	}
	return len(r.out.text)
}

// maxMarked bounds what of a heading is read for marks within it, in bytes.
const maxMarked = 1000

// says is what a heading says, without marks, images and tags.
func (r *reader) says(raw string) string {
	if !strings.ContainsAny(raw, "\\*_`[<&") || len(raw) > maxMarked {
		return raw
	}
	if r.line == nil {
		r.line = parser.NewParser(
			parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 0)),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		)
		r.links = definitions(r.source)
	}
	source := []byte(raw)
	return textOf(r.line.Parse(text.NewReader(source), parser.WithContext(r.links)), source)
}

// linkDefinition is the beginning of a line that says where a link leads.
var linkDefinition = regexp.MustCompile(`(?m)^[ >]{0,8}\[([^\[\]\n]{1,200})\]:`)

// definitions are the names of a page's links: [text][name] is a link where the
// name is defined, and plain text elsewhere.
func definitions(source []byte) parser.Context {
	links := parser.NewContext()
	for _, m := range linkDefinition.FindAllSubmatch(source, -1) {
		links.AddReference(parser.NewReference(m[1], nil, nil))
	}
	return links
}

// textOf is the text below a node.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := c.Segment.Value(source)
			if _, code := n.(*ast.CodeSpan); !code && !c.IsRaw() {
				value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
			}
			b.Write(value)
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(source))
		case *ast.Image, *ast.RawHTML:
		default:
			b.WriteString(textOf(c, source))
		}
	}
	return b.String()
}

// withoutFrontmatter blanks the metadata before a page, which is no Markdown;
// every byte keeps its place.
func withoutFrontmatter(source string) string {
	_, to, ok := frontmatter(source)
	if !ok {
		return source
	}
	end := lineEnd(source, to)
	return strings.Repeat("\n", end) + source[end:]
}

// frontmatter is where the metadata before a page stands, without the lines around it.
func frontmatter(source string) (from, to int, ok bool) {
	from = lineEnd(source, 0)
	if strings.TrimRight(source[:from], " \t\n") != "---" {
		return 0, 0, false
	}
	for at := from; at < len(source); at = lineEnd(source, at) {
		if line := strings.TrimRight(source[at:lineEnd(source, at)], " \t\n"); line == "---" || line == "..." {
			return from, at, true
		}
	}
	return 0, 0, false
}

// slugs makes the slugs of a page's headings, each but once: a second one of the
// same text gets -1, a third -2.
type slugs map[string]int

func (s slugs) next(text string) string {
	first := slug(text)
	name := first
	for {
		if _, taken := s[name]; !taken {
			break
		}
		s[first]++
		name = first + "-" + strconv.Itoa(s[first])
	}
	s[name] = 0
	return name
}

// slug is GitHub's anchor of a heading: in lower case, with - for each space, and
// without what is no letter, mark, digit, - or connector such as _.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic):
			return r
		}
		return -1
	}, lower(text))
}

// lower is text in lower case, without the Greek rule for the ends of words, as
// GitHub's anchors have it.
func lower(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return strings.ToLower(text)
	}
	return cases.Lower(language.Und, cases.HandleFinalSigma(false)).String(text)
}
