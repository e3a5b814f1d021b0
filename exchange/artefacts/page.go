package artefacts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"memd/guard/sources"
)

// page is a text of Markdown and its outline. Places are bytes of text.
type page struct {
	text     string
	head     string // the frontmatter, "" for none
	headings []heading
	blocks   []block
	lines    []int    // where each begins
	comments [][2]int // what no reader is shown, in its order
}

// heading is a heading and what it says.
type heading struct {
	sources.Heading
	title  string
	parent int // of the heading whose section this one's is part of, -1 for none
}

// block is a block of a page that is no heading, and what it is part of.
type block struct {
	node    ast.Node
	at, end int
	section int // the index of its heading, -1 before the first
}

// pageOf reads a page.
func pageOf(data []byte) *page {
	p := &page{text: sources.Plain(data), lines: []int{0}}
	for at, c := range []byte(p.text) {
		if c == '\n' {
			p.lines = append(p.lines, at+1)
		}
	}
	var body string
	p.head, body = frontmatter(p.text)
	source := deepLine.ReplaceAllFunc([]byte(body), func(line []byte) []byte { return bytes.Repeat([]byte(" "), len(line)) })
	p.outline()
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	root := blocks.Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Type() == ast.TypeBlock {
			p.hide(n)
		}
		return ast.WalkContinue, nil // so that Walk does not fail
	})
	p.part(root)
	return p
}

// deepLine is a line of so many quotations and lists within each other that no
// person wrote it; reading one takes time by the square of their number.
var deepLine = regexp.MustCompile(`(?m)^(?:[ \t]*(?:[>+*-]|[0-9]{1,9}[.)])){100}.*$`)

// frontmatter is what stands between --- and --- at the head of a text, and the
// text with blank lines in its place, so that every byte keeps its own.
func frontmatter(text string) (head, body string) {
	line, _, _ := strings.Cut(text, "\n")
	if strings.TrimRight(line, " \t") != "---" {
		return "", text
	}
	first := len(line) + 1
	for at := first; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		end := min(at+len(line)+1, len(text))
		if mark := strings.TrimRight(line, " \t"); mark == "---" || mark == "..." {
			return text[first:at], strings.Repeat("\n", end) + text[end:]
		}
		at = end
	}
	return "", text
}

// outline reads the headings, each with the one above it.
func (p *page) outline() {
	var open []int
	for i, h := range sources.Headings(p.text) {
		for len(open) > 0 && p.headings[open[len(open)-1]].End <= h.At {
			open = open[:len(open)-1]
		}
		parent := -1
		if len(open) > 0 {
			parent = open[len(open)-1]
		}
		p.headings = append(p.headings, heading{h, titleOf(p.text[h.At:h.Stop]), parent})
		open = append(open, i)
	}
}

// part lists the blocks with the sections that they stand in.
func (p *page) part(root ast.Node) {
	last := -1 // heading before the block
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading || n.Kind() == ast.KindThematicBreak || n.Pos() < 0 {
			continue
		}
		b := block{node: n, at: p.lineStart(n.Pos()), end: p.after(n, len(p.text))}
		for last+1 < len(p.headings) && p.headings[last+1].At <= b.at {
			last++
		}
		for b.section = last; b.section >= 0 && p.headings[b.section].End <= b.at; {
			b.section = p.headings[b.section].parent
		}
		if b.section < 0 || p.headings[b.section].Stop <= b.at || n.Kind() != ast.KindHTMLBlock { // else it is a heading of HTML
			p.blocks = append(p.blocks, b)
		}
	}
}

// after is where what comes behind a node begins, at most end.
func (p *page) after(n ast.Node, end int) int {
	if next := n.NextSibling(); next != nil && next.Pos() >= 0 {
		return min(p.lineStart(next.Pos()), end)
	}
	return end
}

func (p *page) lineStart(at int) int {
	return strings.LastIndexByte(p.text[:min(at, len(p.text))], '\n') + 1
}

// line is the number of the line that a byte stands in.
func (p *page) line(at int) int {
	n, _ := slices.BinarySearch(p.lines, at+1)
	return n
}

var (
	comment     = regexp.MustCompile(`(?s)<!--.*?-->`)
	openComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|\z)`)
)

// hide notes the comments of HTML in a block of text: who reviews the page as it is
// shown does not see them.
func (p *page) hide(n ast.Node) {
	if n.Lines().Len() == 0 {
		return
	}
	at, end, form := n.Lines().At(0).Start, n.Lines().At(n.Lines().Len()-1).Stop, comment
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
	case *ast.HTMLBlock:
		form = openComment
		if n.HasClosure() {
			end = max(end, n.ClosureLine.Stop)
		}
	default:
		return
	}
	end = min(end, len(p.text))
	for _, found := range form.FindAllStringIndex(p.text[min(at, end):end], -1) {
		p.comments = append(p.comments, [2]int{at + found[0], at + found[1]})
	}
}

// shown is what a reader is shown of a part of the page.
func (p *page) shown(at, end int) string {
	var b strings.Builder
	first, _ := slices.BinarySearchFunc(p.comments, at, func(c [2]int, at int) int { return c[1] - at })
	for _, c := range p.comments[first:] {
		if c[0] >= end {
			break
		}
		if c[1] > at {
			b.WriteString(p.text[at:max(at, c[0])])
			at = min(c[1], end)
		}
	}
	b.WriteString(p.text[at:end])
	return b.String()
}
