package secrets

import (
	"slices"
	"strings"
)

// The mark of a redaction is markOpen, the id of a rule, and "]".
const markOpen = "[redacted:"

// alsoRedacted are ids that others than this package put into marks.
var alsoRedacted = [...]string{"card", "cn-id", "iban", "email", "phone"}

// rounds is how often Clean looks again. What a mark leaves over is a secret
// only where somebody built it so.
const rounds = 8

// Redact returns text with "[redacted:rule-id]" in the place of each finding.
// Findings that overlap become one, under the rule of the longest.
func Redact(text string, findings []Finding) string {
	if len(findings) == 0 {
		return text
	}
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b Finding) int { return a.Start - b.Start })
	var b strings.Builder
	kept := 0
	for i := 0; i < len(sorted); {
		longest, end := sorted[i], sorted[i].End
		start := longest.Start
		for i++; i < len(sorted) && sorted[i].Start < end; i++ {
			if f := sorted[i]; f.End-f.Start > longest.End-longest.Start {
				longest = f
			}
			end = max(end, sorted[i].End)
		}
		b.WriteString(text[kept:start])
		b.WriteString(markOpen + longest.Rule + "]")
		kept = end
	}
	b.WriteString(text[kept:])
	return b.String()
}

// Clean scans and redacts until nothing is left to be found, and returns what
// it took out, with the places in the text as it then was. In text that is clean
// nothing changes.
func (s *Scanner) Clean(text string) (string, []Finding) {
	var all []Finding
	for range rounds {
		found := s.Scan(text)
		if len(found) == 0 {
			return text, all
		}
		text = Redact(text, found)
		all = append(all, found...)
	}
	return markOpen + ruleUnsettled + "]", all
}

// maxMark is how long a mark is at most, in bytes.
const maxMark = 100

// mark is the length of the mark of a redaction that text begins with, 0
// without one. Only ids of rules make one, lest a secret hide in brackets.
func (r *rules) mark(text string) int {
	if text[0] != '[' || !strings.HasPrefix(text, markOpen) {
		return 0
	}
	end := strings.IndexByte(text[:min(len(text), maxMark)], ']')
	if end < 0 || !r.ids[text[len(markOpen):end]] {
		return 0
	}
	return end + 1
}
