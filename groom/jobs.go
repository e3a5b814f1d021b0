package groom

import (
	"context"
	"slices"
	"strings"
	"time"

	"memd"
	"memd/configs"
	"memd/internal/schedule"
	"memd/store"
)

// Jobs are the full and the light run by the schedules of the configuration, to
// be kept together (see Keep): the full one comes first, for it does a light
// one's work as well. Their last successes are those of any process. The clock
// is that which they are kept by; its zone is the schedules'.
func Jobs(r *Runner, cfg configs.Groom, now func() time.Time) ([]Job, error) {
	full, err := r.job("groom", cfg.Schedule, now, Options{Caller: store.Memd}, fullKey)
	if err != nil {
		return nil, err
	}
	light, err := r.job("light groom", cfg.Light, now, Options{Light: true, Caller: store.Memd}, lightKey, fullKey)
	return []Job{full, light}, err
}

// job is a run by a schedule, whose last success is what the first of marks says
// that says anything.
func (r *Runner) job(name, text string, now func() time.Time, opts Options, marks ...string) (Job, error) {
	job := Job{Name: name, Last: func(ctx context.Context) (time.Time, error) { return r.last(ctx, marks...) }}
	if text == "" {
		return job, nil
	}
	var err error
	job.Schedule, err = schedule.Parse(text)
	job.Do = func(ctx context.Context) error {
		report, err := r.await(ctx, func() (Options, bool, error) {
			last, err := job.Last(ctx)
			at := now()
			if err != nil || job.Schedule.Due(last, at).After(at) {
				return opts, false, err
			}
			opts := opts
			opts.only, err = r.unfinished(ctx, opts.Light, func(began time.Time) bool {
				return began.After(last) && job.Schedule.Due(began, at).After(at)
			})
			return opts, true, err
		})
		if err != nil {
			return err
		}
		return report.Failed()
	}
	return job, err
}

// unfinished names the passes that failed in the newest run of a kind, if that was
// of the turn that is due, which the time tells at which it began: what succeeded
// is not done again with every retry, else the cap of passes that judge would be
// that of a retry. It is nil where the whole run is due.
func (r *Runner) unfinished(ctx context.Context, light bool, thisTurn func(began time.Time) bool) (failed []string, err error) {
	reports, err := r.Reports(ctx)
	newest := slices.IndexFunc(reports, func(r Report) bool { return r.Light == light })
	if err != nil || newest < 0 || !thisTurn(reports[newest].StartedAt.Time) {
		return nil, err
	}
	for _, p := range reports[newest].Passes {
		if p.Error == "" {
			continue
		}
		if !slices.ContainsFunc(passes[:], func(known pass) bool { return known.name == p.Name }) {
			return nil, nil // another release's
		}
		failed = append(failed, p.Name)
	}
	return failed, nil
}

// await is Run once a run under way has ended, as due says then, if it is still
// due: what it was to do may be what that run did.
func (r *Runner) await(ctx context.Context, due func() (Options, bool, error)) (Report, error) {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
	opts, still, err := due()
	if err != nil || !still {
		<-r.turn
		return Report{}, err
	}
	return r.run(ctx, opts)
}

// sinceKey is from when on the schedules count where no run was whole yet, so
// that a first start grooms nothing, and a machine that is restarted every day
// comes to its weekly turn.
const sinceKey = "groom_scheduled_from"

// last is what the first of the marks in the meta table says that says anything:
// one that was spoilt by hand is as good as none. Without any it is from when on
// the schedules count, which is now if nothing tells.
func (r *Runner) last(ctx context.Context, marks ...string) (last time.Time, err error) {
	err = r.store.View(ctx, func(v *store.View) error {
		for _, mark := range append(marks, sinceKey) {
			text, err := v.Meta(mark)
			if err != nil {
				return err
			}
			if at, err := memd.ParseTime(text); err == nil {
				last = at.Time
				return nil
			}
		}
		return nil
	})
	if err != nil || !last.IsZero() {
		return last, err
	}
	now := r.store.Now()
	return now.Time, r.store.Update(ctx, func(tx *store.Tx) error { return tx.SetMeta(sinceKey, now.String(), now) })
}

// Failed names the passes that failed, with their codes, nil where none did.
func (r Report) Failed() error {
	var failed []string
	for _, p := range r.Passes {
		if p.Error != "" {
			failed = append(failed, p.Name+" ("+p.Error+")")
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return memd.Errorf(memd.CodeStoreFailed, "of the groom these passes failed: %s", strings.Join(failed, ", ")).WithHint("memd doctor")
}
