package groom

import (
	"fmt"
	"strings"

	"memd"
)

// scenario decides 2.1.
func scenario(e *evidence) outcome {
	practices := e.ofKind(memd.Practice)
	bad := failing(practices, func(h head) bool { return strings.TrimSpace(h.HowToApply) == "" })
	return e.judge(len(practices), bad, "a practice names its scenario in how_to_apply",
		`memd remember-long-term SUMMARY --key KEY --source SOURCE --how-to-apply "when …"`)
}

// consistent decides 2.2. Its ids stand in pairs, the practice first.
func consistent(e *evidence) outcome {
	practices, rules := e.ofKind(memd.Practice), e.ofKind(memd.Rule)
	var f contradictionFinder
	bad, err := f.find(e.ctx, practices, rules)
	if err != nil { // at the end of the request, of which Audit tells
		return outcome{}
	}
	how := fmt.Sprintf("a practice and a rule with the same key stem or a tag in common, of which one commands (must, always, 必须) what the other forbids (never, do not, 禁止), are for a person to compare; %d practices, %d rules", len(practices), len(rules))
	if len(bad) > 0 {
		how += "; the ids stand in pairs, the practice first"
	}
	return e.judge(min(len(practices), len(rules)), bad, how,
		"memd remember-long-term SUMMARY --key KEY: demote the practice, or have the rule say which goes first")
}

// keyStem is a key without its last part, "" where it has but one.
func keyStem(key string) string {
	return key[:max(0, strings.LastIndexAny(key, "./-"))]
}

// current decides 2.3.
func current(e *evidence) outcome {
	looked := 0
	var bad []string
	for _, h := range e.ofKind(memd.Practice, memd.Rule, memd.Fact) {
		p := e.project(h.Namespace)
		if p == nil || len(p.inForce()) == 0 {
			continue
		}
		looked++
		if outdated(h.Summary+"\n"+h.HowToApply, p.inForce()) {
			bad = append(bad, h.ID)
		}
	}
	return e.judge(looked, bad,
		"a dependency and version named in a practice, rule or fact is the one that go.mod, package.json, pyproject.toml or Cargo.toml of the namespace's root has in force",
		"memd remember-long-term SUMMARY --key KEY with the version in force, or memd forget ID")
}
