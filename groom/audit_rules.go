package groom

import (
	"fmt"
	"strings"

	"memd"
	"memd/guard/sources"
	"memd/tiers"
)

// keyed decides 1.1.
func keyed(e *evidence) outcome {
	return e.judge(len(e.heads)+len(e.stray), idsOf(e.stray),
		fmt.Sprintf("every row of the long tier belongs to a key whose one current version a head names; looked at %s", counted(len(e.heads), "current row", "current rows")),
		"memd doctor --repair")
}

// sourced decides 1.2.
func sourced(e *evidence) outcome {
	keys := map[[2]string]bool{}
	for _, h := range e.heads {
		keys[[2]string{h.Namespace, h.MemoryKey}] = true
	}
	bad := failing(e.heads, func(h head) bool {
		return tiers.SourceFault(h.Source, h.Kind) != "" || tiers.MayBeKey(h.Source) && keys[[2]string{h.Namespace, h.Source}]
	})
	return e.judge(len(e.heads), bad,
		"a source is a path or an http(s) URL, for the kinds preference, user and feedback also a person or a session, and never another memory",
		"memd remember-long-term SUMMARY --key KEY --source AGENTS.md#anchor")
}

// fresh decides 1.3. What became overdue since the last full groom is groom's to
// mark.
func fresh(e *evidence) outcome {
	due, budgets := e.due(), e.opts.Store.Budgets()
	stale := 0
	bad := failing(e.heads, func(h head) bool {
		if h.Stale {
			stale++
			return false
		}
		return h.VerifiedAt.Add(budgets.FreshFor(h.Kind)).Before(due.Time)
	})
	return e.judge(len(e.heads), bad, fmt.Sprintf(
		"verified within %s, of preferences %s, or marked stale by the last full groom, which may be 8 days ago; %s", inDays(budgets.LongFreshFor), inDays(budgets.PreferenceFreshFor),
		counted(stale, "row is marked stale", "rows are marked stale")),
		"memd groom, or memd verify ID where the source was checked")
}

// resolves decides 1.4.
func resolves(e *evidence) outcome {
	looked, unchecked, changed := 0, 0, 0
	var bad []string
	for _, h := range e.heads {
		status := e.sourceStatus(h)
		switch status {
		case "":
			continue
		case memd.SourceUnchecked, memd.SourceNone:
			unchecked++
			continue
		case memd.SourceChanged:
			changed++
		case memd.SourceMissing:
			bad = append(bad, h.ID)
		}
		looked++
	}
	how := fmt.Sprintf("each file and section was looked for in the root of its namespace just now, and of URLs the last look of groom counts; %d looked at, %d could not be checked", looked, unchecked)
	if changed > 0 {
		how += fmt.Sprintf(", %d found with another content, which resolves", changed)
	}
	return e.judge(looked, bad, how, "mend the source and memd verify ID, or memd remember-long-term SUMMARY --key KEY --source NEW, or memd forget ID")
}

// sourceStatus is the state of a head's source, "" where it rests on what somebody
// said.
func (e *evidence) sourceStatus(h head) memd.SourceStatus {
	switch {
	case h.Kind.Personal() && (h.Source == "user" || strings.HasPrefix(h.Source, "session:")):
		return ""
	case strings.Contains(h.Source, "://"):
		return h.SourceStatus
	}
	found := e.opts.Sources.File(h.Namespace, h.Source)
	if h.sourceHash == sources.Lacking {
		return memd.SourceMissing
	}
	if found.Status == memd.SourceOK && h.sourceHash != "" && found.Hash != "" && found.Hash != h.sourceHash {
		return memd.SourceChanged
	}
	return found.Status
}

// distinct decides 1.5. Its ids stand in pairs.
func distinct(e *evidence) outcome {
	f := newDuplicateFinder()
	for i := range e.heads {
		f.add(&e.heads[i].Memory)
	}
	var bad []string
	equal, similar := 0, 0
	pairs, err := f.find(e.ctx)
	if err != nil { // at the end of the request, of which Audit tells
		return outcome{}
	}
	for _, d := range pairs {
		bad = append(bad, d.ids[:]...)
		if d.reason == equalContent {
			equal++
		} else {
			similar++
		}
	}
	how := "no two keys of a namespace have equal content, or the same words of content beside equal numbers, identifiers and polarity"
	if len(bad) > 0 {
		how += fmt.Sprintf("; the ids stand in pairs: %d of equal content, %d of similar wording", equal, similar)
	}
	return e.judge(len(e.heads), bad, how, "keep one: memd remember-long-term SUMMARY --key KEPT, then memd forget --key OTHER")
}
