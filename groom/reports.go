package groom

import "slices"

// keptReports is how many reports are kept.
const keptReports = 20

// worthKeeping are the reports to keep of past, newest first: the last ones, and
// in any case that of the last full run, which those of a day of light runs would
// push out.
func worthKeeping(past []Report) []Report {
	if len(past) <= keptReports {
		return past
	}
	kept := past[:keptReports]
	full := slices.IndexFunc(past, func(r Report) bool { return !r.Light })
	if full >= keptReports {
		kept = append(slices.Clone(kept[:keptReports-1]), past[full])
	}
	return kept
}
