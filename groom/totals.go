package groom

import (
	"maps"
	"sync"
)

// Totals is what the runs of this process came to. Dry ones and those that were
// cut off are left out.
type Totals struct {
	Full, Light Outcomes
	Freed       int64 // bytes given back to the file system
	Passes      map[string]PassTotals
}

// Outcomes are how many runs of one kind ended how.
type Outcomes struct{ Whole, Failed int }

// PassTotals is what one pass came to.
type PassTotals struct {
	Changed, Skipped int
	Ran              bool
	MS               float64 // that it took when it last ran
}

// totals are Totals that are safe for concurrent use.
type totals struct {
	mu  sync.Mutex
	sum Totals
}

// Totals returns what the runs of this process came to so far; every pass is in
// it.
func (r *Runner) Totals() Totals {
	r.totals.mu.Lock()
	defer r.totals.mu.Unlock()
	sum := r.totals.sum
	sum.Passes = make(map[string]PassTotals, len(passes))
	for _, p := range passes {
		sum.Passes[p.name] = PassTotals{}
	}
	maps.Copy(sum.Passes, r.totals.sum.Passes)
	return sum
}

// add counts a run that ended with err.
func (t *totals) add(opts Options, report Report, err error) {
	if opts.DryRun {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	kind := &t.sum.Full
	if opts.Light {
		kind = &t.sum.Light
	}
	if err == nil && report.Whole() {
		kind.Whole++
	} else {
		kind.Failed++
	}
	if t.sum.Passes == nil {
		t.sum.Passes = map[string]PassTotals{}
	}
	for _, p := range report.Passes {
		was := t.sum.Passes[p.Name]
		t.sum.Passes[p.Name] = PassTotals{Changed: was.Changed + p.Changed, Skipped: was.Skipped + p.Skipped, Ran: true, MS: p.MS}
		t.sum.Freed += p.Bytes
	}
}
