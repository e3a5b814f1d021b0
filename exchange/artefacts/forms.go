package artefacts

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"memd"
)

// Form is what sort of artefact a file is. It is also a tag of the memories.
type Form string

// Forms.
const (
	Agents   Form = "agents"   // AGENTS.md and the other names of instruction files
	Rules    Form = "rules"    // .agent/rules
	Skill    Form = "skill"    // SKILL.md
	ADR      Form = "adr"      // a decision record
	Runbook  Form = "runbook"  // what to do when
	Document Form = "document" // what somebody asked for by a glob
)

// kind is that of what a form says where its headings tell no other.
func (f Form) kind() memd.Kind {
	switch f {
	case Agents, Rules:
		return memd.Rule
	case ADR:
		return memd.Decision
	}
	return memd.Practice
}

// procedures reports whether a numbered list of the form is one thing, its steps in
// their order, and not several.
func (f Form) procedures() bool { return f == Skill || f == Runbook }

// places are where the forms are found, in lower case. The first one that matches
// has a file.
var places = [...]struct {
	form Form
	glob string
}{
	{Skill, "**/skill.md"},
	{Rules, "**/.agent/rules/*.md"},
	{ADR, "**/{doc,docs}/adr/*.md"}, {ADR, "**/{doc,docs}/adrs/*.md"},
	{ADR, "**/{doc,docs}/decisions/*.md"}, {ADR, "**/{doc,docs}/architecture/decisions/*.md"},
	{Runbook, "**/runbook*.md"}, {Runbook, "**/runbooks/**/*.md"},
}

// formOf returns the form of a file by its name, relative to the indexed folder, ""
// for one that is not looked at.
func formOf(name string, names, include []string) Form {
	for _, n := range names {
		if name == n || strings.HasSuffix(name, "/"+n) {
			return Agents
		}
	}
	if !isMarkdown(name) {
		return ""
	}
	lower := strings.ToLower(name)
	about := slices.Contains([]string{"readme.md", "index.md"}, path.Base(lower)) || strings.Contains(path.Base(lower), "template")
	for _, p := range places {
		if matches, _ := doublestar.Match(p.glob, lower); matches && !about {
			return p.form
		}
	}
	for _, glob := range include {
		if doublestar.MatchUnvalidated(glob, name) {
			return Document
		}
	}
	return ""
}

func isMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".markdown", ".mdx"}, strings.ToLower(path.Ext(name)))
}
