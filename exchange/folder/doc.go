// Package folder brings a folder of Markdown notes and the long-term tier together:
// [Import] takes what people wrote into the store, [Export] writes what the store knows
// into the folder, [Sync] does both. Package notes has the form of a file and decides
// what is to be done about it; this package reads and writes, and reports.
//
// A file is found again by namespace and memory_key, wherever in the folder it stands.
// It is read and written through guard/confine: no link leads out, nothing waits for a
// pipe, a file is replaced whole, and one that a person changed meanwhile stays.
// Everything that is written into the store goes through its ordinary doors, so that
// guards and budgets hold; what they refuse is reported, and the rest goes on.
//
// The rules are normative in docs/format.md, "Notes".
package folder
