// Package importers takes in what people already have: the files of other programs
// that remember. Each form has a reader in a package of its own, which knows nothing of
// a store: it makes [Items] of a file, in bounded memory, and says with file and line
// what it cannot read. [Run] writes them through the ordinary doors, so that whatever
// guards, budgets and namespaces say of a write they say of these.
//
// What an import has written it finds again, so that three imports are one: a long row
// by its key, a short one by its id, which follows from the file alone ([ID]). It
// overwrites no memory of another source and none that was changed since, and brings back
// none that was forgotten. Nothing that it writes counts as verified today: the date is
// that of the file.
//
// What each field becomes is normative in docs/format.md, "Importers".
package importers
