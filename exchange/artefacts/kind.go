package artefacts

import (
	"regexp"

	"memd"
)

// headingWords tell by a heading what kind of thing stands below it. Of several in
// one heading the first by its place counts.
var headingWords = [...]struct {
	kind  memd.Kind
	words *regexp.Regexp
}{
	{memd.Rule, english(`rules?|must|never|always|do not|not to|don['’]?t['’]?s?|required|requirements?|conventions?|polic(y|ies)|forbidden|prohibited|constraints?|guardrails?|standards?|mandatory|avoid`)},
	{memd.Practice, english(`practices?|how[ -]?tos?|guidelines?|guides?|tips?|workflows?|recommend(ed|ations?)|steps|procedures?|process|playbooks?|runbooks?|checklists?`)},
	{memd.Pitfall, english(`pitfalls?|gotchas?|traps?|caveats?|known (issues?|problems?|bugs?)|(common )?mistakes?|troubleshooting|warnings?|lessons?|beware|watch out|footguns?|anti-?patterns?`)},
	{memd.Decision, english(`decisions?|decided|adrs?`)},
	{memd.Fact, english(`overview|structure|layout|architecture|background|glossary|about|introduction|terminology|context|what (this|it) is|(sub)?packages|director(y|ies)|tech(nology)? stack|dependencies`)},
	{memd.Rule, regexp.MustCompile(`规则|规范|规定|必须|禁止|约定|要求|准则|守则|原则|不要|不得|红线`)},
	{memd.Practice, regexp.MustCompile(`实践|做法|流程|步骤|建议|技巧|指南|操作|手册|清单`)},
	{memd.Pitfall, regexp.MustCompile(`陷阱|坑|注意事项|常见问题|常见错误|已知问题|故障|教训|误区`)},
	{memd.Decision, regexp.MustCompile(`决策|决定|决议|选型`)},
	{memd.Fact, regexp.MustCompile(`概述|概览|简介|介绍|背景|结构|架构|术语|依赖|技术栈`)},
}

func english(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + words + `)\b`) }

// kindOf is the kind that a heading tells, "" for none.
func kindOf(heading string) (kind memd.Kind) {
	first := -1
	for _, w := range headingWords {
		if at := w.words.FindStringIndex(heading); at != nil && (first < 0 || at[0] < first) {
			first, kind = at[0], w.kind
		}
	}
	return kind
}

// importanceOf is that of a new memory of a kind.
func importanceOf(kind memd.Kind) int {
	switch kind {
	case memd.Rule:
		return 8
	case memd.Pitfall, memd.Decision:
		return 7
	case memd.Practice:
		return 6
	}
	return memd.DefaultImportance
}
