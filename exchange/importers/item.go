package importers

import (
	"fmt"
	"iter"

	"memd"
	"memd/exchange/notes"
)

// Item is one memory as a foreign file says it: exactly one of Long and Short.
type Item struct {
	File string // as the caller named it
	Line int    // at which it begins, from 1; 0 where it is the whole file

	// Long has its namespace; VerifiedAt is of the entry or the file, zero where nobody
	// knows.
	Long *memd.RememberLongTerm
	// Short has its namespace and id; CreatedAt is as VerifiedAt, and WrittenAt zero where
	// the entry itself does not say when it was.
	Short *memd.Memory
}

// Items are what a reader finds, in the order of the file. An error that is a
// *notes.Fault concerns one entry, and reading goes on behind it; any other ends it.
// Going through them a second time reads the file again.
type Items = iter.Seq2[Item, error]

// Origin is where a foreign file stands, as far as its memories depend on that.
type Origin struct {
	File      string    // as messages name it
	Source    string    // as the source of a memory names it, see SourceOf
	Date      memd.Time // when it was last written; zero where nobody knows
	Namespace string    // that was asked for; "" for the reader's own rule
}

// Fault makes the fault of an entry of the file that cannot be read.
func (o Origin) Fault(line int, format string, args ...any) *notes.Fault {
	return &notes.Fault{File: o.File, Line: line, Code: memd.CodeInvalidRequest, Reason: fmt.Sprintf(format, args...)}
}

// In is the namespace that was asked for, else the reader's own.
func (o Origin) In(otherwise string) string {
	if o.Namespace != "" {
		return o.Namespace
	}
	return otherwise
}

// When is the date of an entry: its own, else the file's.
func (o Origin) When(own memd.Time) memd.Time {
	if own.IsZero() {
		return o.Date
	}
	return own
}
