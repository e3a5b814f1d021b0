package embedding

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Waiting is a row that waits for its vector.
type Waiting struct{ ID, Text string }

// Outcome is how the attempt to embed a row ended.
type Outcome int

// Outcomes.
const (
	Released Outcome = iota // no attempt: the row waits on as if it had not been leased
	Deferred                // an attempt that tells nothing of the text: others have a turn first
	Rejected                // an attempt that counts, towards the row's being parked
	Wordless                // the text has no vector, and never will have
	Embedded                // it has one
)

// Settled is a leased row after the attempt. Vector is set where Outcome is
// Embedded.
type Settled struct {
	Waiting
	Outcome Outcome
	Vector  []float32
}

// Outbox is where rows wait for their vectors. Package store, which is above
// this one, has it.
type Outbox interface {
	// Lease takes up to n rows, which it gives to nobody else for a while. It
	// waits for no other work than a write's.
	Lease(ctx context.Context, n int) ([]Waiting, error)

	// Deliver ends the lease of rows. A vector is kept only if the row's text is
	// still the one that was leased; else the row waits on.
	Deliver(ctx context.Context, rows []Settled) error

	// Fill has some rows wait that have no vector of the embedder's model, and
	// reports whether there may be more of them.
	Fill(ctx context.Context) (more bool, err error)

	// Queued holds a value after rows were added.
	Queued() <-chan struct{}
}

// Pauses of a Worker.
const (
	idlePause    = 30 * time.Second // without news, for rows that a shell has queued
	firstPause   = time.Second      // after a failure, doubled with each
	longestPause = 5 * time.Minute
	lastingPause = 10 * time.Minute // after a fault that does not pass by itself
)

// Most texts of a call, where the caller does not say.
const defaultBatch = 32

// maxSuspects bounds what is remembered of texts that failed alone.
const maxSuspects = 1024

// Worker gives rows their vectors, one batch after the other, until it is
// stopped.
type Worker struct {
	embedder Embedder
	outbox   Outbox
	log      *slog.Logger
	most     int // texts of a call

	size     int             // texts of the next call; fewer after a failure
	failures int             // in a row
	suspects map[string]bool // rows that failed alone; whether another text had a vector since
	told     string          // the failure that was logged last

	stop context.CancelFunc
	done chan struct{}
}

// Start starts a Worker, which asks for batch texts a call (0 for 32). The
// caller must Stop it before the outbox or the embedder is closed.
func Start(ctx context.Context, e Embedder, o Outbox, batch int, log *slog.Logger) *Worker {
	if batch <= 0 {
		batch = defaultBatch
	}
	w := &Worker{embedder: e, outbox: o, log: log, most: batch, size: batch, suspects: map[string]bool{}, done: make(chan struct{})}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			if pause, idle := w.turn(ctx); pause > 0 {
				w.rest(ctx, pause, idle)
			}
		}
	}()
	return w
}

// Stop ends the call under way, keeps what it has brought and waits for the end.
func (w *Worker) Stop() {
	w.stop()
	<-w.done
}

// rest waits, where the worker is idle only until rows are queued.
func (w *Worker) rest(ctx context.Context, pause time.Duration, idle bool) {
	var queued <-chan struct{}
	if idle {
		queued = w.outbox.Queued()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-queued:
	case <-ctx.Done():
	}
}

// turn embeds one batch, and returns how long to wait before the next and
// whether that is for want of rows.
func (w *Worker) turn(ctx context.Context) (pause time.Duration, idle bool) {
	rows, err := w.outbox.Lease(ctx, w.size)
	if err == nil && len(rows) == 0 {
		var more bool
		if more, err = w.outbox.Fill(ctx); err == nil {
			if more {
				return 0, false
			}
			return idlePause, true
		}
	}
	if err != nil {
		return w.failed(ctx, "rows that wait for a vector not read", err), false
	}
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.Text
	}
	vectors, fault := w.embedder.Embed(ctx, texts)
	settled, fault := w.sort(rows, vectors, fault)
	// What a call has brought is kept even when the worker is to stop.
	if err := w.outbox.Deliver(context.WithoutCancel(ctx), settled); err != nil {
		return w.failed(ctx, "vectors not stored", err), false
	}
	if fault != nil {
		w.size = max(1, w.size/2)
		return w.failed(ctx, "no vectors from the embedder", fault), false
	}
	if w.failures > 0 {
		w.log.Info("vectors are made again")
	}
	w.failures, w.told, w.size = 0, "", min(w.most, 2*w.size)
	return 0, false
}

// errShort is the fault of an embedder that breaks its promise.
var errShort = errors.New("fewer vectors than texts, and no error")

// sort tells for each row how the attempt ended, and returns the fault of the
// embedder, nil if it had none.
func (w *Worker) sort(rows []Waiting, vectors [][]float32, err error) ([]Settled, error) {
	refused, isRefused := errors.AsType[*Refused](err)
	_, isFault := errors.AsType[*Fault](err)
	vectors = vectors[:min(len(vectors), len(rows))]
	switch {
	case len(vectors) == len(rows) && (err == nil || isRefused && !isFault):
		err = nil
	case err == nil || isRefused && !isFault:
		err = &Fault{Passing: true, Err: errShort}
	}
	settled := make([]Settled, len(rows))
	some := false
	for i, r := range rows {
		settled[i].Waiting = r
		if i >= len(vectors) {
			continue
		}
		why := error(nil)
		if isRefused {
			why = refused.Texts[i]
		}
		if why == nil && vectors[i] != nil {
			why = Check(vectors[i], w.embedder.Dim())
		}
		switch {
		case why != nil:
			settled[i].Outcome = Rejected
		case vectors[i] == nil:
			settled[i].Outcome = Wordless
		default:
			settled[i].Outcome, settled[i].Vector = Embedded, vectors[i]
			some = true
		}
		delete(w.suspects, r.ID)
	}
	if some {
		for id := range w.suspects {
			w.suspects[id] = true
		}
	}
	if err != nil && len(rows) == 1 && len(vectors) == 0 && !errors.Is(err, context.Canceled) {
		settled[0].Outcome = w.suspect(rows[0].ID)
	}
	return settled, err
}

// suspect is the outcome of a row whose text was sent alone, to an embedder that
// failed. It is the text's fault only if others had vectors between two such
// failures: a server that is down parks nothing.
func (w *Worker) suspect(id string) Outcome {
	since := w.suspects[id]
	if len(w.suspects) >= maxSuspects {
		clear(w.suspects)
	}
	w.suspects[id] = false
	if since {
		return Rejected
	}
	return Deferred
}

// failed tells of a failure, the first time it is met, and returns how long to
// wait.
func (w *Worker) failed(ctx context.Context, what string, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	w.failures++
	pause := min(firstPause<<min(w.failures-1, 16), longestPause)
	if fault, ok := errors.AsType[*Fault](err); ok {
		if !fault.Passing {
			pause = lastingPause
		}
		pause = max(pause, fault.After)
	}
	if text := what + err.Error(); text != w.told {
		w.told = text
		w.log.Warn(what, "error", err, "again_in", pause)
	}
	return pause
}
