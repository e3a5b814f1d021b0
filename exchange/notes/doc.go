// Package notes is the form in which long-term memories stand in a folder that
// people read, diff and review: one Markdown file a memory, and MEMORY.md, the
// index. It holds the form alone and touches no file and no store.
//
// A note is YAML frontmatter between two lines of three hyphens, then a body:
//
//	---
//	name: meeting-style
//	description: Minutes go out within 24 hours
//	type: feedback
//	memory_key: meeting-style
//	importance: 7
//	---
//	Minutes go out within 24 hours, as decisions, open points and risks.
//
//	**Why:** what was agreed on Friday was forgotten on Monday
//
//	**How to apply:** write them right after the meeting
//
// [Parse] keeps how a file was written: comments, order, quoting, line ends, a byte
// order mark and the fields that memd does not know. [Note.Render] writes only what
// changed, so that a note that was only read comes out byte for byte. What cannot be
// read is a [Fault] with its line, and is never rendered.
//
// [FromMemory], [Note.Request] and [Note.Patch] lead to the store and back, [Path]
// gives a note its file, [Compare] says what is to be done about a note, its file and
// its row. The form is normative in docs/format.md, "Notes".
package notes
