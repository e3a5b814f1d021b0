package groom

import (
	"context"
	"encoding/json"
	"slices"

	"memd/store"
)

// Of reports that are kept: how many, and the bytes of all together.
const (
	keptReports = 20
	keptBytes   = 48 << 10
)

// reportsKey is where they stand in the meta table.
const reportsKey = "groom_reports"

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

// encode is the kept form of reports, newest first. Of what is too long, first the
// oldest reports lose their pairs and then their ids, and then the oldest go.
func encode(reports []Report) (string, error) {
	for oldest := len(reports) - 1; ; oldest-- {
		encoded, err := json.Marshal(reports)
		if err != nil || len(encoded) <= keptBytes || len(reports) == 1 && oldest < 0 {
			return string(encoded), err
		}
		if oldest < 0 {
			reports = reports[:len(reports)-1]
			continue
		}
		reports[oldest] = shortened(reports[oldest], len(encoded)-keptBytes)
	}
}

// idBytes is what an id takes in a report.
const idBytes = len(`"01900000-0000-7000-8000-000000000000",`)

// shortened is a report without pairs and with so many ids fewer that it is that
// many bytes shorter, if it has as many.
func shortened(r Report, bytes int) Report {
	r.Passes = slices.Clone(r.Passes)
	for i := range r.Passes {
		if p := &r.Passes[i]; len(p.Pairs) > 0 {
			text, _ := json.Marshal(p.Pairs) // of nothing but texts: it cannot fail
			bytes -= len(text) + len(`,"pairs":`)
			p.Pairs = nil
		}
	}
	for i := len(r.Passes) - 1; i >= 0 && bytes > 0; i-- {
		p := &r.Passes[i]
		if len(p.IDs) == 0 {
			continue
		}
		const counted = len(`,"more_ids":0000000000`) // may come to it
		drop := min(len(p.IDs), (bytes+counted)/idBytes+1)
		p.IDs = p.IDs[:len(p.IDs)-drop]
		p.MoreIDs += drop
		bytes -= drop*idBytes - counted
	}
	return r
}

// Reports returns the last runs, newest first. What was spoilt by hand is as good
// as none: it must not keep the next run from ending whole.
func (r *Runner) Reports(ctx context.Context) ([]Report, error) {
	reports := []Report{}
	err := r.store.View(ctx, func(v *store.View) error {
		encoded, err := v.Meta(reportsKey)
		if err != nil || encoded == "" {
			return err
		}
		if json.Unmarshal([]byte(encoded), &reports) != nil || reports == nil {
			reports = []Report{}
		}
		return nil
	})
	for _, report := range reports {
		for i := range report.Passes {
			if report.Passes[i].IDs == nil { // as an earlier release kept it
				report.Passes[i].IDs = []string{}
			}
		}
	}
	return reports, err
}
