// Package memd is the vocabulary of the memd daemon: the words every other
// package uses, and nothing that does work.
//
// A [Memory] lives in one of four tiers: transient (one session), short,
// long (keyed, sourced, verified) and archive; the fifth table, meta, holds
// the daemon's own state and never reaches a model. A [Caller] accompanies
// every call. What goes wrong is an [Error] with a [Code]; one table maps a
// code to its HTTP status and exit code.
//
// A tour of the house, from the door inwards:
//
//	cmd/memd    arguments, wiring, start and stop order
//	api         HTTP: decode, authenticate, call, map errors
//	recall      candidates, ranking, explain, context assembly
//	groom       the passes that keep the store trustworthy
//	exchange    memories leaving and entering: notes that people read
//	tiers       the only door in: what each tier takes, keeps and refuses
//	store       SQLite: rows, keyword index, heads, the writer and the readers
//	configs     memd.yaml and its loader
//	migrations  the SQL that shapes a database
//
// Imports run downward in that order only; internal/archtest holds the rule.
// This package imports the standard library alone.
package memd
