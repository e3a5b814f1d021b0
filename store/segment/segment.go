// Package segment is a keyword index of the rows of one tier of one database,
// held in memory. It is derived from the rows and never the truth: it can be
// made anew from them at any time, and nothing of it is written to disk.
//
// Rows have ordinals, 0, 1, 2 and so on, in the order in which they were added.
// A row is never changed or taken out: whoever adds one again has to know that
// the ordinal before is dead; [Rows.Find] gives the last.
//
// [Growing] takes rows, [Frozen] is what it becomes when it takes no more. Both
// are an [Index] and answer alike. The parts:
//
//   - [Rows] holds what is known of a row beside its terms, in columns of about
//     16 bytes a row;
//   - a posting list, a byte slice, holds for each row with a term how often
//     the term stands in its text and in its labels ([Postings] has the form).
//     Growing has a slice for each term and finds it by a map; Frozen has one
//     blob of them all, in the order of the terms;
//   - the dictionary of Frozen holds the terms in order of their bytes, in
//     blocks of 16, each as what it shares with the term before and the rest,
//     with the number of its postings and their bytes. A term is found by binary
//     search over the blocks, then from entry to entry.
//
// Terms are those of [memd/store/terms.Indexer], hence those of the keyword
// index in the database, except that words over 256 bytes have none.
//
// Any number may read an index at once, but nobody a Growing while a row is
// added. There, a Postings is fixed when it is made: it may be read to its end
// while rows are added.
package segment

// Index is what Growing and Frozen have in common.
type Index interface {
	// Rows are the rows of the index.
	Rows() *Rows
	// DF is in how many rows a term stands, in text or labels.
	DF(term string) int
	// Postings returns these rows. Rows added later are not among them.
	Postings(term string) Postings
	// Bytes is about how much memory the index holds.
	Bytes() int
}

var (
	_ Index = (*Growing)(nil)
	_ Index = (*Frozen)(nil)
)
