// Package bench measures memd. Its benchmarks compare memd with what it is
// built on, in one run on one machine, and report ratios: those hold where
// absolute figures do not. The command in recall measures retrieval. RESULTS.md
// keeps what was measured, with the commands.
package bench
