// Package store keeps memories in SQLite. All SQL of memd lives here.
//
// A [Set] is the databases of one directory: the active one, which takes new
// rows, and the historical ones. It has one writer, a goroutine that commits
// queued writes in groups ([Set.Update]), and a few readers that never wait
// for it ([Set.View]). Everything one write touches, row, keyword index, head,
// outbox and audit entry, is one transaction.
//
// The tables stand in package migrations and are explained in docs/format.md;
// a stock sqlite3 shell may read, edit and delete rows while the daemon runs.
package store
