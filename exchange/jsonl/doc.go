// Package jsonl is the form in which a whole store leaves and enters: one JSON object a
// line, a header first and a trailer last, so that a file that was cut short is noticed.
// docs/format.md says what stands in a line; memd.Record is one.
//
// Writer writes the form, Reader reads it from whoever wrote it, and Import sends what a
// Reader finds to a store, some lines at a time, and reports on every line that did not
// get in. What a line says nobody but the store takes apart: its rules are told from
// there. Sender is for records that come from elsewhere than a file of lines.
package jsonl
