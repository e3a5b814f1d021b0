package notes

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"memd"
)

// Digest identifies what a note says: SHA-256 over all that a person may change in it,
// texts as content_hash takes them; not over how the file is written, nor over what memd
// keeps in it. Notes are resolved, and filled from their row, before they are compared
// by it.
func (n *Note) Digest() string {
	h := sha256.New()
	add := func(values ...string) {
		for _, v := range values {
			_ = binary.Write(h, binary.BigEndian, uint32(len(v))) // a hash takes all
			h.Write([]byte(v))
		}
	}
	add(spaced(n.Name), n.MemoryKey, n.Namespace, string(n.kind()), spaced(n.Description), spaced(n.Body), spaced(n.Why), spaced(n.HowToApply))
	add(strconv.Itoa(n.Importance), n.Source, n.Owner, n.VerifiedAt.String(), n.ExpiresAt.String(), n.ResolvedAt.String())
	for _, list := range [][]string{n.Tags, n.Access} {
		add(strconv.Itoa(len(list)))
		add(list...)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// spaced is a text as content_hash has it: another form of it makes no other memory,
// and so must be no edit of a note.
func spaced(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for word := range strings.FieldsSeq(norm.NFC.String(s)) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// Outcome is how a report counts a note.
type Outcome string

// Outcomes.
const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged"
	Conflict  Outcome = "conflict"
	Refused   Outcome = "refused"
)

// Action is what brings file and row together.
type Action string

// Actions.
const (
	Nothing    Action = "nothing"
	WriteFile  Action = "write_file"  // the file from the row; over the same bytes that is nothing
	RemoveFile Action = "remove_file" // it says what memd wrote, of a row that is no more
	WriteRow   Action = "write_row"   // the row from the file, by Request(Verdict.Base) and Patch
	KeepBoth   Action = "keep_both"   // the row's note to OvertakenPath first, then as WriteRow
)

// Sides are a note as it stands in both places.
type Sides struct {
	Last  string // Digest of what both said when memd last had them agree; "" if never, or not known
	File  *Note  // as it was read, then resolved; nil: no file
	Row   *Note  // from FromMemory, so that its SyncHash is its Digest; nil: no live row
	Fault error  // what is wrong with the file; nothing is done to it
	Gone  bool   // the store knows that the row was forgotten
}

// Verdict is what is to be done about a note.
type Verdict struct {
	Outcome Outcome
	Do      Action
	Reason  string // "" where the outcome says enough
	Base    int    // version of the row that was compared, for a write that goes through only over that
}

// Compare is the three-way comparison: what both last said, what the file says and what
// the row says. A person's edit wins over the row's; the row's is kept. Where Last is
// not known the file's own record is taken: its syncHash tells whether it was edited,
// its version and updatedAt whether the row has moved. That may be of another store:
// there the later of the two times tells which of them has moved. Where the file has no
// record either, a row whose source is the file follows it.
// It reads no clock and touches nothing.
func Compare(s Sides) Verdict {
	switch {
	case s.Fault != nil:
		return Verdict{Outcome: Refused, Do: Nothing, Reason: s.Fault.Error()}
	case s.File == nil && s.Row == nil:
		return Verdict{Outcome: Unchanged, Do: Nothing}
	case s.File == nil:
		return withoutFile(s)
	case s.Row == nil:
		return withoutRow(s)
	}
	v := Verdict{Base: s.Row.Version}
	row := s.Row.SyncHash // its Digest
	own := s.Last == "" && s.File.SyncHash != ""
	edited := !s.unedited()
	switch {
	case s.File.Over(s.Row).Digest() == row:
		v.Outcome, v.Do = Unchanged, WriteFile // what memd keeps in it may be older
	case own && !edited && later(s.File.UpdatedAt, s.Row.UpdatedAt), edited && s.unmoved(row), s.Last == "" && !own && rests(s.File, s.Row):
		v.Outcome, v.Do = Updated, WriteRow
	case !edited:
		v.Outcome, v.Do = Updated, WriteFile
	default:
		v.Outcome, v.Do, v.Reason = Conflict, KeepBoth, "file and memory have both changed: the file holds, the memory's text stands beside it"
		if s.Last == "" && !own {
			v.Reason = "file and memory differ and never were the same: the file holds, the memory's text stands beside it"
		}
	}
	return v
}

// unedited reports whether a file says what memd last knew it to. What it does not state
// is no part of that: it is the row's, and changes with it.
func (s *Sides) unedited() bool {
	if s.Last != "" && s.Row != nil {
		return s.File.Over(s.Row).Digest() == s.Last
	}
	said := s.File.Digest()
	return said == s.File.SyncHash || said == s.Last
}

// unmoved reports whether a row of a digest is the one that the file was last the same
// as.
func (s *Sides) unmoved(row string) bool {
	return row == s.Last || row == s.File.SyncHash ||
		s.Last == "" && s.File.SyncHash != "" && s.Row.Version == s.File.Version && s.Row.UpdatedAt.Equal(s.File.UpdatedAt.Time)
}

// withoutFile gives a row its file. A file that a person removed comes back: what is to
// go is forgotten in the store.
func withoutFile(s Sides) Verdict {
	v := Verdict{Outcome: Created, Do: WriteFile, Base: s.Row.Version}
	if s.Last != "" {
		v.Reason = "the file was removed, the memory stands; memd forget removes both"
	}
	return v
}

// withoutRow gives a file its row, but none that was forgotten.
func withoutRow(s Sides) Verdict {
	gone := s.Gone || s.Last != "" // it had one
	switch {
	case !gone:
		return Verdict{Outcome: Created, Do: WriteRow}
	case s.unedited():
		return Verdict{Outcome: Updated, Do: RemoveFile, Reason: "the memory was forgotten"}
	}
	return Verdict{
		Outcome: Refused, Do: Nothing,
		Reason: "the memory was forgotten, and the file has changed since; to remember it anew give it another name",
	}
}

// rests reports whether a row has the file itself for its source: it says what the file
// said, and the version before stays readable.
func rests(file, row *Note) bool {
	return file.written != nil && file.written.read.Source == "" && file.Source == row.Source
}

func later(a, b memd.Time) bool { return a.After(b.Time) }
