package groom

import (
	"fmt"
	"slices"
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
	lex := newLexicon()
	read := func(heads []head) []wording {
		all := make([]wording, len(heads))
		for i, h := range heads {
			all[i] = lex.read(h.Summary)
		}
		return all
	}
	said, ruled := read(practices), read(rules)
	var bad []string
	for i, p := range practices {
		for j, r := range rules {
			if p.Namespace == r.Namespace && related(p, r) && (contradicts(said[i], ruled[j], lex) || contradicts(ruled[j], said[i], lex)) {
				bad = append(bad, p.ID, r.ID)
			}
		}
	}
	how := fmt.Sprintf("a practice and a rule with the same key stem or a tag in common, of which one commands (must, always, 必须) what the other forbids (never, do not, 禁止), are for a person to compare; %d practices, %d rules", len(practices), len(rules))
	if len(bad) > 0 {
		how += "; the ids stand in pairs, the practice first"
	}
	return e.judge(min(len(practices), len(rules)), bad, how,
		"memd remember-long-term SUMMARY --key KEY: demote the practice, or have the rule say which goes first")
}

// contradicts reports whether a commands what b forbids: a content word stands
// plainly in the one and denied in the other.
func contradicts(a, b wording, lex *lexicon) bool {
	if !a.must || !b.never {
		return false
	}
	return slices.ContainsFunc(a.words, func(w int) bool {
		denied := lex.opposite[w]
		return denied >= 0 && lex.denied[denied] && slices.Contains(b.words, denied)
	})
}

// related reports whether two rows are about the same: a tag in common that is no
// name of a kind, or the same stem of their keys.
func related(a, b head) bool {
	if stem := keyStem(a.MemoryKey); stem != "" && stem == keyStem(b.MemoryKey) {
		return true
	}
	for _, tag := range a.Tags {
		if !memd.Kind(tag).Valid() && slices.Contains(b.Tags, tag) {
			return true
		}
	}
	return false
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
