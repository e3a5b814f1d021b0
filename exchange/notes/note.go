package notes

import (
	"fmt"
	"log/slog"

	"memd"
)

// Type is the closed set of what a note may be (seeds 000 and 002).
type Type string

// Types.
const (
	User      Type = "user"      // who the person is and how they like to work
	Feedback  Type = "feedback"  // how to work: what was corrected, and what was confirmed
	Project   Type = "project"   // what goes on, what was decided, until when
	Reference Type = "reference" // where something is to be found
)

var types = [...]Type{User, Feedback, Project, Reference}

// Note is one memory as a file says it. Zero fields are not stated; empty lists are.
type Note struct {
	Name        string // the title; one name is one memory of a namespace
	Description string // one line, the memory's summary
	Type        Type
	Body        string // the memory's raw_content, lines ended by \n, without blank ones around it
	Why         string
	HowToApply  string

	Kind       memd.Kind // where it is another than Type
	MemoryKey  string
	Namespace  string
	Importance int
	Tags       []string
	Source     string // where it is another than the note itself
	VerifiedAt memd.Time
	Owner      string
	Access     []string
	ExpiresAt  memd.Time
	ResolvedAt memd.Time

	// What memd keeps in the file about the row that it was last the same as.
	UpdatedAt   memd.Time
	ContentHash string // the row's content_hash
	Version     int    // the row's version
	SyncHash    string // Digest of what the file states, resolved

	written *written // how the file was written, nil for a note that was never one
}

// LogValue keeps a note's texts out of logs.
func (n Note) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", string(n.Type)), slog.String("namespace", n.Namespace))
}

// Fault is what is wrong with a file or a note. It holds no text of it.
type Fault struct {
	File   string // as the caller named it
	Line   int    // from 1; 0 where no line is at fault
	Code   memd.Code
	Field  string // the field at fault, "" if none
	Reason string // one sentence in lower case, without a full stop
}

// Error is file:line: reason, without what is not known.
func (f *Fault) Error() string {
	s := f.Reason
	if f.Line > 0 {
		s = fmt.Sprintf("%d: %s", f.Line, s)
	}
	if f.File != "" {
		s = f.File + ":" + s
	}
	return s
}

// Unwrap is the fault as an error of the daemon.
func (f *Fault) Unwrap() error { return memd.FieldErrorf(f.Code, f.Field, "%s", f.Error()) }

// invalid makes the Fault of a form that is not a note's.
func invalid(line int, field, format string, args ...any) *Fault {
	return &Fault{Line: line, Code: memd.CodeInvalidRequest, Field: field, Reason: fmt.Sprintf(format, args...)}
}
