// Package artefacts makes long-term memories of what people write and review: the
// rules in AGENTS.md and its like, skills, decision records and runbooks.
//
// [Read] takes Markdown apart, into one [Item] for each item of a list and each
// section of prose, and touches no file and no store. [Index] finds the files of a
// folder, holds what they say against the rows that it wrote before, and writes what
// is new, what changed and what is gone. docs/operations.md, "Artefacts", says what
// comes of what.
package artefacts
