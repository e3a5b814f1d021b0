package artefacts

import (
	"regexp"
	"strings"

	"memd"
)

var (
	outcomeHeading = regexp.MustCompile(`(?i)^[\d.)\s]*(the |our )?(decision(s)?( outcome)?|resolution)$|^[\d.、\s]*(决策|决定|决议|决策结果)$`)
	contextHeading = regexp.MustCompile(`(?i)\b(context|problem|background|motivation)\b|背景|上下文|问题`)
	effectHeading  = regexp.MustCompile(`(?i)\b(consequences?|implications)\b|后果|影响|结果`)
	statusHeading  = regexp.MustCompile(`(?i)^[\d.)\s]*status$|^[\d.、\s]*状态$`)

	statusLine = regexp.MustCompile(`(?im)^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__|\*|_)?(?:status|状态)(?:\*\*|__|\*|_)?[ \t]*[:：](?:\*\*|__|\*|_)?[ \t]*(.+)$`)
	replaced   = regexp.MustCompile(`(?i)\b(superseded|deprecated|obsolete|replaced by|withdrawn|rejected)\b|废弃|弃用|被取代|被替代|已取代|驳回|拒绝|撤回`)
	undecided  = regexp.MustCompile(`(?i)^\W*(proposed|draft|proposal|pending)\b|^\W*(提议|草案|草稿|待定)`)
)

// record makes a memory of a decision record: what was decided, with the context as
// its reason and the consequences as what to do about it. What is not decided yet, or
// is no more in force, is none.
func (r *reader) record() {
	name, top := r.file, -1
	if len(r.headings) > 0 {
		name, top = r.headings[0].title, 0
	}
	status := r.recordStatus()
	switch {
	case replaced.MatchString(status):
		r.faults = append(r.faults, Fault{1, "by its status it is not in force any more"})
		return
	case undecided.MatchString(status):
		r.faults = append(r.faults, Fault{1, "by its status it is not decided yet"})
		return
	}
	outcome, why, how := r.find(outcomeHeading), r.find(contextHeading), r.find(effectHeading)
	it := Item{Form: r.form, File: r.file, Kind: memd.Decision, Line: 1, Last: r.line(max(len(r.text)-1, 0))}
	var said string
	if outcome >= 0 {
		h := r.headings[outcome]
		it.Line, it.Last, top = r.line(h.At), r.line(max(h.At, h.End-1)), outcome
		said = r.under(outcome)
	} else {
		said = r.rest(why, how)
	}
	if !says(said) {
		return
	}
	it.Anchor = r.anchor(top)
	it.Why, it.HowToApply = cut(r.under(why), memd.MaxReasonChars), cut(r.under(how), memd.MaxReasonChars)
	before := ""
	if name != "" {
		before = cut(name, maxBefore) + ": "
	}
	it.word(before, said, r.limits)
	r.items = append(r.items, it)
}

// recordStatus is what a record says of its status, "" for nothing.
func (r *reader) recordStatus() string {
	if r.status != "" {
		return r.status
	}
	if at := r.find(statusHeading); at >= 0 {
		return r.under(at)
	}
	for _, b := range r.blocks {
		if m := statusLine.FindStringSubmatch(r.shown(b.at, b.end)); m != nil {
			return m[1]
		}
	}
	return ""
}

// find is the first heading below the title that form matches, -1 for none.
func (r *reader) find(form *regexp.Regexp) int {
	for i, h := range r.headings {
		if i > 0 && form.MatchString(h.title) {
			return i
		}
	}
	return -1
}

// under is what stands in a section, "" for -1.
func (r *reader) under(section int) string {
	if section < 0 {
		return ""
	}
	h := r.headings[section]
	at := min(h.Stop, h.End)
	if n := strings.IndexByte(r.text[at:h.End], '\n'); n >= 0 {
		at += n + 1
	}
	return dedent(underline.ReplaceAllString(r.shown(at, h.End), ""), 0)
}

// underline is the line below a heading.
var underline = regexp.MustCompile(`^ {0,3}(?:=+|-+)[ \t]*(?:\n|$)`)

// rest is what a record says that has no section of what was decided: all of it but
// its title, its status and the sections that are told apart.
func (r *reader) rest(apart ...int) string {
	apart = append(apart, r.find(statusHeading))
	var parts []string
	for _, b := range r.blocks {
		skip := false
		for s := b.section; s >= 0; s = r.headings[s].parent {
			for _, a := range apart {
				skip = skip || a == s
			}
		}
		said := dedent(r.shown(b.at, b.end), 0)
		if !skip && !statusLine.MatchString(said) && says(said) {
			parts = append(parts, said)
		}
	}
	return strings.Join(parts, "\n\n")
}
