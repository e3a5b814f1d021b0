package groom

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"memd"
	"memd/store"
)

// Options are what a caller asks of a run.
type Options struct {
	DryRun bool `json:"dry_run,omitempty"` // plan only; changed is what the run would change
	Force  bool `json:"force,omitempty"`   // lift the cap of judgement passes
	Light  bool `json:"light,omitempty"`   // only what belongs into every hour
}

// Pass is the outcome of one pass.
type Pass struct {
	Name    string  `json:"name"`
	Planned int     `json:"planned"`
	Changed int     `json:"changed"`
	Skipped int     `json:"skipped"` // changed by others since the plan
	Capped  bool    `json:"capped"`
	MS      float64 `json:"ms"`
	Error   string  `json:"error,omitempty"` // a code, never a cause
}

// Report is the outcome of a run.
type Report struct {
	DryRun     bool      `json:"dry_run"`
	Light      bool      `json:"light"`
	StartedAt  memd.Time `json:"started_at"`
	FinishedAt memd.Time `json:"finished_at"`
	Passes     []Pass    `json:"passes"`
}

// Whole reports whether every pass of a real run succeeded.
func (r Report) Whole() bool {
	for _, p := range r.Passes {
		if p.Error != "" {
			return false
		}
	}
	return !r.DryRun
}

// keptReports is how many reports are kept.
const keptReports = 20

// Runner runs passes over a store, one run at a time. It is safe for
// concurrent use.
type Runner struct {
	store *store.Set
	log   *slog.Logger

	mu sync.Mutex // held for a run
}

// New makes a Runner on an open store.
func New(s *store.Set, log *slog.Logger) *Runner {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Runner{store: s, log: log}
}

// Run runs the passes in order. A pass that fails is reported by name and the
// rest still run; only a context at its end stops the run. Two runs never
// overlap: the second is refused with store_busy.
func (r *Runner) Run(ctx context.Context, opts Options) (Report, error) {
	if !r.mu.TryLock() {
		return Report{}, memd.Errorf(memd.CodeStoreBusy, "a groom is running").WithHint("wait for it to end")
	}
	defer r.mu.Unlock()
	if err := r.store.FlushAccess(ctx); err != nil {
		return Report{}, err
	}
	report := Report{DryRun: opts.DryRun, Light: opts.Light, StartedAt: r.store.Now(), Passes: []Pass{}}
	for _, p := range passes {
		if opts.Light && !p.light {
			continue
		}
		began := r.store.Clock()
		pass, err := p.run(ctx, r.store, opts)
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		pass.Name = p.name
		pass.MS = float64(r.store.Clock().Sub(began).Microseconds()) / 1000
		if err != nil {
			pass.Error = string(memd.CodeOf(err))
			r.log.Error("groom pass failed", "pass", p.name, "error", err)
		}
		report.Passes = append(report.Passes, pass)
	}
	report.FinishedAt = r.store.Now()
	return report, r.keep(ctx, report, opts)
}

// reportsKey is where the last reports stand in the meta table.
const reportsKey = "groom_reports"

// keep remembers a real run; last_groom_at moves only after a whole one. A run
// that changed nothing leaves no byte but these.
func (r *Runner) keep(ctx context.Context, report Report, opts Options) error {
	if opts.DryRun {
		return nil
	}
	past, err := r.Reports(ctx)
	if err != nil {
		return err
	}
	past = append([]Report{report}, past...)
	encoded, err := json.Marshal(past[:min(len(past), keptReports)])
	if err != nil {
		return err
	}
	return r.store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SetMeta(reportsKey, string(encoded), report.FinishedAt); err != nil {
			return err
		}
		if opts.Light || !report.Whole() {
			return nil
		}
		return tx.SetMeta("last_groom_at", report.FinishedAt.String(), report.FinishedAt)
	})
}

// Reports returns the last runs, newest first.
func (r *Runner) Reports(ctx context.Context) ([]Report, error) {
	reports := []Report{}
	err := r.store.View(ctx, func(v *store.View) error {
		encoded, err := v.Meta(reportsKey)
		if err != nil || encoded == "" {
			return err
		}
		return json.Unmarshal([]byte(encoded), &reports)
	})
	return reports, err
}
