// Package importers takes in what people already have: the files of other programs
// that remember. Each form has a reader in a package of its own, which knows nothing of
// a store: it makes [Items] of a file, in bounded memory, and says with file and line
// what it cannot read. What they have in common is here.
//
// What each field becomes is normative in docs/format.md, "Importers".
package importers
