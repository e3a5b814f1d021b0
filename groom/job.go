package groom

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"memd/internal/schedule"
)

// Job is what is done by a schedule.
type Job struct {
	Name     string // for the log
	Schedule schedule.Schedule
	Last     func(context.Context) (time.Time, error) // when it last succeeded, zero for never; it outlives the process
	Do       func(context.Context) error              // moves Last where it succeeds
}

const (
	// wake is how long nobody looks at the clock at most. A timer stands still
	// while the machine sleeps and does not see the clock being set.
	wake = time.Minute

	// How long a job that failed is left alone: the first time, and at most.
	retryFirst, retryMost = 5 * time.Minute, time.Hour
)

// Keep does the jobs whenever they are due, one turn after the other, until ctx
// is done; a turn under way then ends before Keep does. However many turns were
// missed, one makes up for them. A turn that fails is logged and taken again
// some minutes later. Jobs that are due at once are done in their order, and
// one whose Last an earlier one has moved is due no more.
func Keep(ctx context.Context, now func() time.Time, log *slog.Logger, jobs ...Job) {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return j.Schedule.Off() })
	past := make([]turns, len(jobs))
	for len(jobs) > 0 && ctx.Err() == nil {
		wait := wake
		for i, j := range jobs {
			wait = min(wait, j.turn(ctx, &past[i], now, log))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// turns are what became of the turns of a job within this process.
type turns struct {
	before time.Time // what Last said when the last one began that succeeded
	done   time.Time // when that one began
	failed time.Time // when the last one began, if it failed
	fails  int       // how many have failed since one succeeded
}

// turn does the job if it is due, and returns for how long to wait then.
func (j Job) turn(ctx context.Context, past *turns, now func() time.Time, log *slog.Logger) time.Duration {
	at := now().Round(0) // as the clock has it, which a sleep does not stop
	if past.resting(at) {
		return wake
	}
	last, err := j.Last(ctx)
	before := last
	if last.Before(past.done) || last.Equal(past.before) { // it succeeded and could not be noted
		last = past.done
	}
	if err == nil {
		if due := j.Schedule.Due(last, at); due.After(at) {
			return min(wake, due.Sub(at))
		}
		err = j.Do(ctx)
	}
	if err == nil {
		*past = turns{before: before, done: at}
		log.Info("scheduled job done", "job", j.Name)
		return 0
	}
	if ctx.Err() == nil {
		past.failed = at
		past.fails++
		log.Error("scheduled job failed", "job", j.Name, "retry_in", past.rest().String(), "error", err)
	}
	return wake
}

// resting reports whether the last turn failed too short a time ago to try
// again. Where the clock was set back, nothing tells how long that is.
func (p *turns) resting(at time.Time) bool {
	since := at.Sub(p.failed)
	return p.fails > 0 && since >= 0 && since < p.rest()
}

// rest is for how long a job is left alone after that many failures.
func (p *turns) rest() time.Duration {
	rest := retryFirst
	for n := 1; n < p.fails && rest < retryMost; n++ {
		rest *= 2
	}
	return min(rest, retryMost)
}
