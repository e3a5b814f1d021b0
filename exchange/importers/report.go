package importers

import (
	"errors"

	"memd"
	"memd/exchange/notes"
)

// maxEntries bounds what a report lists one by one. It counts everything.
const maxEntries = 1000

// Report is what an import did, or with DryRun would do.
type Report struct {
	DryRun    bool    `json:"dry_run"`
	Created   int     `json:"created"`
	Updated   int     `json:"updated"`
	Unchanged int     `json:"unchanged"`
	Conflict  int     `json:"conflict"`
	Refused   int     `json:"refused"`
	Entries   []Entry `json:"entries"`  // of which there is more to say than what they are counted as
	Unlisted  int     `json:"unlisted"` // of these, beyond the first 1,000

	new map[memd.Tier]int // rows that were created, or for which there was no room
}

// Entry is what became of one entry of a file. It holds no text of it.
type Entry struct {
	File      string        `json:"file"`
	Line      int           `json:"line,omitempty"`
	Outcome   notes.Outcome `json:"outcome"`
	Namespace string        `json:"namespace,omitempty"`
	MemoryKey string        `json:"memory_key,omitempty"` // not with refused
	ID        string        `json:"id,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	Code      memd.Code     `json:"code,omitempty"`  // of a refusal or a conflict
	Field     string        `json:"field,omitempty"` // and the field at fault
	Rules     []string      `json:"rules,omitempty"` // of a refusal: what a guard found
	Warnings  []string      `json:"warnings,omitempty"`
}

// Failed is the error of a run that did not do everything: a refusal before a conflict,
// nil for neither.
func (r *Report) Failed() error {
	switch {
	case r.Refused > 0:
		return memd.Errorf(memd.CodeStoreFailed, "%d of the entries were refused", r.Refused)
	case r.Conflict > 0:
		return memd.Errorf(memd.CodeVersionConflict, "%d of the entries are in conflict", r.Conflict).
			WithHint("what the store has holds; import into another namespace, or forget it first")
	}
	return nil
}

// add counts an entry of a row of tier t, and lists it if there is more to say.
func (r *Report) add(e Entry, t memd.Tier) {
	switch e.Outcome {
	case notes.Created:
		r.Created++
		r.new[t]++
	case notes.Updated:
		r.Updated++
	case notes.Unchanged:
		r.Unchanged++
	case notes.Conflict:
		r.Conflict++
	default:
		r.Refused++
		e.MemoryKey = "" // no guard may have seen it
		if e.Code == memd.CodeBudgetExceeded {
			r.new[t]++
		}
	}
	switch {
	case e.Code == "" && e.Reason == "" && len(e.Warnings) == 0:
	case len(r.Entries) == maxEntries:
		r.Unlisted++
	default:
		r.Entries = append(r.Entries, e)
	}
}

// refuse is an entry that is not written.
func (e Entry) refuse(code memd.Code, reason string) Entry {
	e.Outcome, e.Code, e.Reason = notes.Refused, code, reason
	return e
}

// refusedBy is an entry that a door did not take. An error that concerns more than the
// entry is returned as it is.
func (e Entry) refusedBy(err error) (Entry, error) {
	refusal, ok := errors.AsType[*memd.Error](err)
	if !ok {
		return e, err
	}
	switch refusal.Code {
	case memd.CodeVersionConflict:
		e.Outcome, e.Code, e.Reason = notes.Conflict, refusal.Code, "the memory was written meanwhile, and holds"
		return e, nil
	case memd.CodeStoreBusy, memd.CodeStoreFailed, memd.CodeUnauthorized, memd.CodeRateLimited:
		return e, err
	}
	e = e.refuse(refusal.Code, hinted(refusal.Message, refusal.Hint))
	e.Field, e.Rules = refusal.Field, refusal.Rules
	return e, nil
}

// answeredBy is the entry of a short row as the store answered for it. What the store has
// otherwise under the row's id, but for its text, is somebody's own.
func (e Entry) answeredBy(out memd.Imported) Entry {
	e.Code, e.Field, e.Reason, e.Warnings = out.Code, out.Field, hinted(out.Reason, out.Hint), out.Warnings
	if out.ID != "" {
		e.ID = out.ID
	}
	switch out.Outcome {
	case memd.Created:
		e.Outcome = notes.Created
	case memd.Refused:
		e.Outcome = notes.Refused
	case memd.Conflict:
		if e.Outcome = notes.Conflict; out.Field != "content" && out.Field != "namespace" {
			e.Outcome, e.Code, e.Field, e.Reason = notes.Unchanged, "", "", ""
		}
	default: // it stands, or was forgotten
		e.Outcome = notes.Unchanged
	}
	return e
}

func hinted(reason, hint string) string {
	if hint == "" {
		return reason
	}
	return reason + "; " + hint
}

// faulty is the entry of a fault.
func faulty(f *notes.Fault) Entry {
	return Entry{File: f.File, Line: f.Line, Outcome: notes.Refused, Code: f.Code, Field: f.Field, Reason: f.Reason}
}
