package groom

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"memd"
	"memd/guard/sources"
	"memd/store"
	"memd/tiers"
)

// Options are what a caller asks of a run.
type Options struct {
	DryRun bool `json:"dry_run,omitempty"` // plan only; changed is what the run would change
	Force  bool `json:"force,omitempty"`   // lift the cap of judgement passes
	Light  bool `json:"light,omitempty"`   // only what belongs into every hour

	Caller string `json:"-"` // who asked, for the log; "" leaves no entry

	only []string // of these the passes with these names alone, nil for all
}

// Pass is the outcome of one pass.
type Pass struct {
	Name    string   `json:"name"`
	Planned int      `json:"planned"`
	Changed int      `json:"changed"`
	Skipped int      `json:"skipped"` // changed by others since the plan
	Capped  bool     `json:"capped"`
	Bytes   int64    `json:"bytes"` // given back to the file system
	MS      float64  `json:"ms"`
	IDs     []string `json:"ids"` // of the rows that changed, the first maxIDs
	// MoreIDs is how many there are beyond IDs. A report that is kept holds fewer
	// of them than the answer to a run.
	MoreIDs int `json:"more_ids,omitempty"`
	// Pairs are the rows that say the same, by report_duplicates: the first maxPairs,
	// of a report that is kept fewer.
	Pairs []Pair `json:"pairs,omitempty"`
	Error string `json:"error,omitempty"` // a code, never a cause
}

// Pair is two heads of one namespace that say the same, for a person to choose
// between. The first is the one whose key comes first.
type Pair struct {
	Namespace string    `json:"namespace"`
	IDs       [2]string `json:"ids"`
	Keys      [2]string `json:"keys"`
	Reason    reason    `json:"reason"`
}

// maxPairs bounds the pairs of one pass.
const maxPairs = 100

// maxIDs bounds the ids of one pass in the answer to a run.
const maxIDs = 1000

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

// Progress is how far a run has come.
type Progress struct {
	DryRun    bool      `json:"dry_run"`
	Light     bool      `json:"light"`
	StartedAt memd.Time `json:"started_at"`
	Pass      string    `json:"pass"`    // under way
	Planned   int       `json:"planned"` // by it
	Changed   int       `json:"changed"`
}

// Runner runs passes over a store, one run at a time. It is safe for
// concurrent use.
type Runner struct {
	store   *store.Set
	sources *sources.Checker
	log     *slog.Logger
	life    context.Context // of the process, nil for no end; see WithLife

	turn     chan struct{} // holds one during a run
	progress atomic.Pointer[Progress]
	totals   totals
}

// New makes a Runner on an open store.
func New(s *store.Set, log *slog.Logger) *Runner {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Runner{store: s, log: log, turn: make(chan struct{}, 1), sources: sources.New(nil)}
}

// WithSources has the Runner look at the artefacts that memories rest on.
func (r *Runner) WithSources(c *sources.Checker) *Runner {
	r.sources = c
	return r
}

// WithLife has runs that were asked for end with life, before they are done. Those
// by a schedule end with their own context.
func (r *Runner) WithLife(life context.Context) *Runner {
	r.life = life
	return r
}

// Running is how far the run under way has come, nil where there is none.
func (r *Runner) Running() *Progress { return r.progress.Load() }

// Run runs the passes in order. A pass that fails is reported by name and the
// rest still run; only a context at its end stops the run. Two runs never
// overlap: the second is refused with store_busy, and so is one that the end of
// the process cuts off.
func (r *Runner) Run(ctx context.Context, opts Options) (Report, error) {
	select {
	case r.turn <- struct{}{}:
	default:
		return Report{}, memd.Errorf(memd.CodeStoreBusy, "a groom is running").WithHint("wait for it to end")
	}
	living, ended := ctx, func() bool { return false }
	if r.life != nil {
		both, end := context.WithCancel(ctx)
		defer end()
		defer context.AfterFunc(r.life, end)()
		living, ended = both, func() bool { return r.life.Err() != nil && ctx.Err() == nil }
	}
	report, err := r.run(living, opts)
	switch {
	case err != nil && ended():
		return report, memd.Errorf(memd.CodeStoreBusy, "the groom was cut off").
			WithHint("memd is ending; the next run goes on where this stopped")
	case err == nil && report.Whole():
		r.tell(report)
	}
	return report, err
}

// entry is what the log of writes keeps of a run; ok is false where it keeps nothing:
// of a dry run, and of a scheduled light one that had nothing to do.
func (o Options) entry(report Report) (e store.Entry, ok bool) {
	changed, failed := 0, 0
	for _, p := range report.Passes {
		changed += p.Changed
		if p.Error != "" {
			failed++
		}
	}
	if o.Caller == "" || o.Caller == store.Memd && o.Light && changed == 0 && failed == 0 {
		return e, false
	}
	e = store.Entry{At: report.FinishedAt, Caller: o.Caller, Action: "groom", Detail: "full"}
	if o.Light {
		e.Detail = "light"
	}
	if o.Force {
		e.Detail += ", forced"
	}
	e.Detail += fmt.Sprintf(", %d changed", changed)
	if failed > 0 {
		e.Detail += fmt.Sprintf(", %d passes failed", failed)
	}
	return e, true
}

// tell logs a run that was asked for and succeeded; a schedule logs its own.
func (r *Runner) tell(report Report) {
	changed := 0
	for _, p := range report.Passes {
		changed += p.Changed
	}
	ms := float64(report.FinishedAt.Sub(report.StartedAt.Time).Microseconds()) / 1000
	r.log.Info("groom done", "light", report.Light, "dry_run", report.DryRun, "changed", changed, "ms", ms)
}

// run is Run in its turn, which it ends.
func (r *Runner) run(ctx context.Context, opts Options) (report Report, err error) {
	defer func() {
		if err == nil || ctx.Err() == nil { // not one that was cut off
			r.totals.add(opts, report, err)
		}
		r.progress.Store(nil)
		<-r.turn
	}()
	if err := r.store.FlushAccess(ctx); err != nil {
		return Report{}, err
	}
	now := r.store.Now()
	report = Report{DryRun: opts.DryRun, Light: opts.Light, StartedAt: now, Passes: []Pass{}}
	here := &run{Runner: r, opts: opts, now: now, rules: tiers.New(r.store), moved: tiers.Moved{}, barred: map[string]bool{}}
	for _, p := range passes {
		if opts.Light && !p.light || opts.only != nil && !slices.Contains(opts.only, p.name) {
			continue
		}
		began := r.store.Clock()
		pass, err := here.perform(ctx, p)
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		pass.MS = float64(r.store.Clock().Sub(began).Microseconds()) / 1000
		if err != nil {
			pass.Error = string(memd.CodeOf(err))
			r.log.Error("groom pass failed", "pass", p.name, "error", err)
		} else if err := here.unread(ctx); err != nil {
			pass.Error = string(memd.CodeOf(err))
		}
		report.Passes = append(report.Passes, pass)
	}
	report.FinishedAt = r.store.Now()
	return report, r.keep(ctx, report, opts)
}

// Where the ends of the last whole runs stand: of a full one, and of any.
const (
	fullKey  = "last_groom_at"
	lightKey = "last_light_groom_at"
)

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
	encoded, err := encode(worthKeeping(past))
	if err != nil {
		return err
	}
	return r.store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SetMeta(reportsKey, string(encoded), report.FinishedAt); err != nil {
			return err
		}
		if e, ok := opts.entry(report); ok {
			if err := tx.Audit(e); err != nil {
				return err
			}
		}
		if !report.Whole() {
			return nil
		}
		if err := tx.SetMeta(lightKey, report.FinishedAt.String(), report.FinishedAt); err != nil || opts.Light {
			return err
		}
		return tx.SetMeta(fullKey, report.FinishedAt.String(), report.FinishedAt)
	})
}
