package groom

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memd"
	"memd/store"
)

// The labels of the two parts of a pitfall, before a colon and a text, or as a
// Markdown heading.
var (
	symptomPart = labelled(`symptoms?|problem|issue|error|observed|what happens|症状|现象|问题|表现|故障`)
	fixPart     = labelled(`fix(?:es)?|solution|workaround|resolution|remedy|mitigation|修复(?:方法|方式)?|解决(?:办法|方法|方案)?|对策|处理(?:办法|方法)?|规避(?:办法|方法)?|应对`)
)

func labelled(names string) *regexp.Regexp {
	return regexp.MustCompile(`(?im)(?:^|[^a-z0-9])(?:` + names + `)[*_\]）)]*\s*[:：][*_\s]*[^\s*_]|^#+\s*(?:` + names + `)\s*$`)
}

// symptomAndFix decides 3.1.
func symptomAndFix(e *evidence) outcome {
	pitfalls := e.ofKind(memd.Pitfall)
	bad := failing(pitfalls, func(h head) bool {
		text := h.Summary + "\n" + h.RawContent
		return !(symptomPart.MatchString(text) && fixPart.MatchString(text)) &&
			(strings.TrimSpace(h.Why) == "" || strings.TrimSpace(h.HowToApply) == "")
	})
	return e.judge(len(pitfalls), bad,
		`a pitfall has two labelled parts in summary or raw_content, such as "Symptom: … Fix: …" or "现象：… 解决：…", or both why and how_to_apply`,
		`memd remember-long-term "Symptom: … Fix: …" --key KEY --source SOURCE --kind pitfall`)
}

// resolvedArchived decides 3.2.
func resolvedArchived(e *evidence) outcome {
	pitfalls := e.ofKind(memd.Pitfall)
	bad := failing(pitfalls, func(h head) bool { return !h.ResolvedAt.IsZero() })
	return e.judge(len(pitfalls), bad, "no pitfall with a resolved_at stands in the long tier", "memd archive ID")
}

// maxHits is how often a pitfall may occur between two grooms.
const maxHits = 2

// rarelyHit decides 3.3.
func rarelyHit(e *evidence) outcome {
	var often []string
	for id, n := range e.hits {
		if n > maxHits {
			often = append(often, id)
		}
	}
	slices.Sort(often)
	var bad []string
	err := e.opts.Store.View(e.ctx, func(v *store.View) error {
		for _, id := range often {
			m, ok, err := v.Get(id)
			if err != nil {
				return err
			}
			if ok && m.Tier != memd.Archive && e.caller.Sees(m.Namespace) {
				bad = append(bad, id)
			}
		}
		return nil
	})
	since := "ever"
	if !e.lastFull.IsZero() {
		since = "since the last full groom"
	}
	o := e.judge(len(e.ofKind(memd.Pitfall))+len(bad), bad,
		fmt.Sprintf("no pitfall was hit more than twice %s (memd hit)", since),
		"make it a rule (memd remember-long-term SUMMARY --key KEY --kind rule) or a fence: a CI check, a linter, a pre-commit hook")
	if err != nil && o.unread == "" {
		o.unread = "the pitfalls could not be read: " + reasonOf(err)
	}
	return o
}
