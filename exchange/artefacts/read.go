package artefacts

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"memd"
)

// Fault is something of a file that cannot be taken.
type Fault struct {
	Line   int // from 1 on, 0 where nothing of the file is taken
	Reason string
}

// maxItems is how many items are made of a file.
const maxItems = 5000

// Read takes apart what a file of a form says. What it cannot take it names, and
// goes on with the rest.
func Read(file string, form Form, data []byte, l Limits) ([]Item, []Fault) {
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return nil, []Fault{{0, "it holds a NUL byte"}}
	case !utf8.Valid(data):
		return nil, []Fault{{0, "no text in UTF-8"}}
	}
	p := pageOf(data)
	r := reader{page: p, title: titleIn(p.headings), file: file, form: form, limits: l, scope: scopeOf(file, form)}
	if r.head == "" && unended.MatchString(r.text) {
		return nil, []Fault{{0, "its frontmatter has no end"}}
	}
	r.frontmatter()
	if form == ADR {
		r.record()
	} else {
		r.sections()
	}
	if len(r.items) > maxItems {
		r.faults = append(r.faults, Fault{r.items[maxItems].Line, "more items than are taken of a file"})
		r.items = r.items[:maxItems]
	}
	return r.items, r.faults
}

// scopeOf is what an instruction file in a folder below the top holds for.
func scopeOf(file string, form Form) string {
	folder := path.Dir(file)
	if strings.HasPrefix(path.Base(folder), ".") { // .agent, or the top itself
		folder = path.Dir(folder)
	}
	if form != Agents || folder == "." {
		return ""
	}
	return "Holds for what lies below " + folder + "/."
}

// reader makes items of a page.
type reader struct {
	*page
	title  int // the heading that names the file, -1 for none
	file   string
	form   Form
	limits Limits
	name   string // of a skill
	status string // of a record, from its frontmatter
	scope  string // what all the file says holds for, "" for everything
	items  []Item
	faults []Fault
}

// sections makes an item of each item of a list, and of what else a section says.
func (r *reader) sections() {
	for from := 0; from < len(r.blocks); {
		to := from + 1
		for to < len(r.blocks) && r.blocks[to].section == r.blocks[from].section {
			to++
		}
		r.section(r.blocks[from:to])
		from = to
	}
}

func (r *reader) section(blocks []block) {
	from := len(r.items)
	if from > maxItems {
		return
	}
	var prose []block
	for i, b := range blocks {
		list, isList := b.node.(*ast.List)
		if !isList || list.IsOrdered() && r.form.procedures() {
			prose = append(prose, b)
			continue
		}
		intro := ""
		if i > 0 && len(prose) > 0 && prose[len(prose)-1].at == blocks[i-1].at {
			all := false
			if intro, all = r.intro(blocks[i-1]); all {
				prose = prose[:len(prose)-1]
			}
		}
		r.list(b, list, intro)
	}
	r.prose(prose)
	slices.SortStableFunc(r.items[from:], func(a, b Item) int { return a.Line - b.Line })
}

// maxIntro bounds what leads to a list and says something of each of its items, in
// code points.
const maxIntro = 120

// intro is what a paragraph says of the items of the list behind it: its last sentence,
// without its colon; "" where it is none. all tells whether it says nothing else.
func (r *reader) intro(b block) (lead string, all bool) {
	if b.node.Kind() != ast.KindParagraph {
		return "", false
	}
	said := strings.TrimRight(joined(r.shown(b.at, b.end)), "*_")
	lead = strings.TrimRight(said, ":：")
	if lead == said {
		return "", false
	}
	whole := lead
	for _, end := range []string{". ", "。"} {
		if at := strings.LastIndex(lead, end); at >= 0 {
			lead = lead[at+len(end):]
		}
	}
	if utf8.RuneCountInString(lead) > maxIntro {
		return "", false
	}
	return strings.Trim(lead, "*_ "), lead == whole
}

func (r *reader) list(b block, list *ast.List, intro string) {
	for n := list.FirstChild(); n != nil && len(r.items) <= maxItems; n = n.NextSibling() {
		first := n.FirstChild()
		if first == nil || first.Pos() < 0 || n.Pos() < 0 {
			continue
		}
		at, end := first.Pos(), r.after(n, b.end)
		if at >= end {
			continue
		}
		said := taskBox.ReplaceAllString(dedent(r.shown(at, end), at-r.lineStart(at)), "")
		r.add(b.section, r.lineStart(n.Pos()), end, intro, said, first.NextSibling() == nil && ofWords(first, said))
	}
}

// ofWords reports whether a block is text that may be written on one line: a table
// may not.
func ofWords(n ast.Node, said string) bool {
	return (n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock) && !tableRule.MatchString(said)
}

// tableRule is the line below the head of a table.
var tableRule = regexp.MustCompile(`(?m)^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$`)

// prose makes one item of the blocks of a section that are no lists.
func (r *reader) prose(blocks []block) {
	blocks = slices.DeleteFunc(blocks, func(b block) bool { return !says(r.shown(b.at, b.end)) })
	if len(blocks) == 0 {
		return
	}
	var parts []string
	for _, b := range blocks {
		parts = append(parts, dedent(r.shown(b.at, b.end), 0))
	}
	last, made := blocks[len(blocks)-1], len(r.items)
	r.add(blocks[0].section, blocks[0].at, last.end, "", strings.Join(parts, "\n\n"), len(blocks) == 1 && ofWords(last.node, parts[0]))
	if len(r.items) > made && r.form == Agents && r.items[made].Kind == memd.Rule && r.opens(blocks[0].section) {
		r.items[made].Kind = memd.Fact
	}
}

// opens reports whether a section is what a file begins with, before it comes to its
// sections.
func (r *reader) opens(section int) bool {
	return len(r.headings) > 1 && (section < 0 || section == r.title)
}

// add makes an item of what a part of a section says. What fits on one line is put
// there.
func (r *reader) add(section, at, end int, intro, said string, oneLine bool) {
	if !says(said) {
		return
	}
	end = at + len(strings.TrimRight(r.text[at:end], " \t\n"))
	it := Item{Form: r.form, File: r.file, Anchor: r.anchor(section), Line: r.line(at), Last: r.line(max(at, end-1)), Kind: r.kind(section)}
	if rest, why, how := reasons(said); says(rest) {
		said, it.Why, it.HowToApply = rest, why, how
	}
	if oneLine {
		if said = joined(said); !says(said) {
			return
		}
	}
	if both := strings.TrimSpace(r.scope + " " + it.HowToApply); utf8.RuneCountInString(both) <= memd.MaxReasonChars {
		it.HowToApply = both
	}
	it.word(r.before(section, intro), said, r.limits)
	r.items = append(r.items, it)
}
