package recall

import (
	"memd"
	"memd/guard/fence"
)

// assembly is a context in the making: its text, what entered, and why the
// rest did not.
type assembly struct {
	*sheet
	rules    fence.Rules
	now      memd.Time
	in       map[string]bool               // ids
	content  map[string]bool               // content hashes that are in
	reasons  map[string]memd.LeftOutReason // by id, of rows that are not in, or not whole
	included []memd.Ref
	leftOut  []memd.Ref // in the order in which they were first left out
	below    int        // of them under the floor
}

func newAssembly(limit int, rules fence.Rules, now memd.Time) *assembly {
	return &assembly{
		sheet: newSheet(limit), rules: rules, now: now, included: []memd.Ref{},
		in: map[string]bool{}, content: map[string]bool{}, reasons: map[string]memd.LeftOutReason{},
	}
}

// add puts a row in, whole or, if it is long-term and does not fit,
// shortened; else it is left out for the budget. A row that is in already
// stays as it is.
func (a *assembly) add(m *memd.Memory) {
	switch {
	case a.in[m.ID]:
	case m.ContentHash != "" && a.content[m.ContentHash]:
		a.leave(m, memd.LeftDuplicate)
	case a.write(a.rules.Entry(m, a.now)):
		a.include(m)
	case a.addShortened(m):
	default:
		a.leave(m, memd.LeftBudget)
	}
}

// addShortened puts a long row's first characters in, if they fit.
func (a *assembly) addShortened(m *memd.Memory) bool {
	if m.Tier != memd.Long || !canShorten(m) {
		return false
	}
	part, _ := cut(m.Summary, shortenedChars)
	if !a.write(a.rules.Shortened(m, part, a.now)) {
		return false
	}
	a.include(m)
	a.note(m, memd.LeftShortened)
	return true
}

func (a *assembly) include(m *memd.Memory) {
	a.in[m.ID], a.content[m.ContentHash] = true, true
	a.included = append(a.included, memd.Ref{ID: m.ID, MemoryKey: m.MemoryKey})
	delete(a.reasons, m.ID)
}

// leave names a row that is not in. The first reason stands, until the row
// enters after all.
func (a *assembly) leave(m *memd.Memory, why memd.LeftOutReason) {
	if a.in[m.ID] || a.reasons[m.ID] != "" {
		return
	}
	if why == memd.LeftBelowFloor {
		if a.below++; a.below > maxBelowFloor {
			return
		}
	}
	a.note(m, why)
}

func (a *assembly) note(m *memd.Memory, why memd.LeftOutReason) {
	a.reasons[m.ID] = why
	a.leftOut = append(a.leftOut, memd.Ref{ID: m.ID, MemoryKey: m.MemoryKey, Reason: why})
}

// finish closes the fence and answers.
func (a *assembly) finish() memd.Context {
	text, used := a.close()
	out := memd.Context{Text: text, UsedChars: used, Included: a.included, LeftOut: []memd.Ref{}}
	for _, ref := range a.leftOut {
		if a.reasons[ref.ID] == ref.Reason { // it did not enter later
			out.LeftOut = append(out.LeftOut, ref)
		}
	}
	return out
}
