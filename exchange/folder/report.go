package folder

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"memd"
	"memd/exchange/notes"
	"memd/guard/confine"
)

// Report tells what became of every note.
type Report struct {
	Folder    string  `json:"folder"`
	DryRun    bool    `json:"dry_run"`
	Created   int     `json:"created"`
	Updated   int     `json:"updated"`
	Unchanged int     `json:"unchanged"`
	Conflict  int     `json:"conflict"`
	Refused   int     `json:"refused"`
	Files     []Entry `json:"files"`           // by file
	Index     *Entry  `json:"index,omitempty"` // MEMORY.md, where it was looked at; not counted
}

// Entry is what became of one note. It holds no text of it.
type Entry struct {
	File      string        `json:"file"`           // below the folder
	Line      int           `json:"line,omitempty"` // of the file, where it cannot be read
	Namespace string        `json:"namespace,omitempty"`
	MemoryKey string        `json:"memory_key,omitempty"`
	Outcome   notes.Outcome `json:"outcome"`
	Did       notes.Action  `json:"did"` // or would do, in a dry run
	Reason    string        `json:"reason,omitempty"`
	Code      memd.Code     `json:"code,omitempty"`  // of a refusal, but for those of the system
	Field     string        `json:"field,omitempty"` // of a refusal: the field at fault
	Rules     []string      `json:"rules,omitempty"` // of a refusal: what a guard found
	Warnings  []string      `json:"warnings,omitempty"`
}

func (r *Report) count() {
	slices.SortFunc(r.Files, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.MemoryKey, b.MemoryKey))
	})
	for _, e := range r.Files {
		switch e.Outcome {
		case notes.Created:
			r.Created++
		case notes.Updated:
			r.Updated++
		case notes.Unchanged:
			r.Unchanged++
		case notes.Conflict:
			r.Conflict++
		case notes.Refused:
			r.Refused++
		}
	}
}

// Failed is the error of a run that did not do everything: a refusal before a
// conflict, nil for neither.
func (r *Report) Failed() error {
	refused := r.Refused
	if r.Index != nil && r.Index.Outcome == notes.Refused {
		refused++
	}
	switch {
	case refused > 0:
		return memd.Errorf(memd.CodeStoreFailed, "%d of the files were refused", refused)
	case r.Conflict > 0:
		return memd.Errorf(memd.CodeVersionConflict, "%d of the notes are in conflict", r.Conflict).
			WithHint("the file holds; the memory's text stands beside it as NAME.memd.md: put both together, then remove that")
	}
	return nil
}

// refuse makes an entry of what went wrong.
func (e Entry) refuse(err error) Entry {
	e.Outcome, e.Did = notes.Refused, notes.Nothing
	e.Reason = why(err)
	if fault, ok := errors.AsType[*notes.Fault](err); ok {
		e.Line, e.Reason, e.Code, e.Field = fault.Line, fault.Reason, fault.Code, fault.Field
		return e
	}
	if refusal, ok := errors.AsType[*memd.Error](err); ok {
		e.Reason, e.Code, e.Field, e.Rules = refusal.Message, refusal.Code, refusal.Field, refusal.Rules
		if refusal.Hint != "" {
			e.Reason += "; " + refusal.Hint
		}
		if len(e.Rules) > 0 { // a key is made of a name, and that may be what must not be told
			e.MemoryKey = ""
		}
		return e
	}
	if _, ok := errors.AsType[confine.Refused](err); ok {
		e.Code = memd.CodeInvalidRequest
	}
	return e
}
