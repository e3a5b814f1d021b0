package store

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"memd"
)

// Actions of entries that stand for refusals.
const (
	Refused = "refuse"
	Blocked = "guard_block" // with the finding of a guard
)

// Refusal is what is kept of a request that a guard or a rule refused. Nothing of
// it may come from the request but the caller's name.
type Refusal struct {
	Caller string // "" where nothing is known of who it was
	Call   string // the route, "" where it was refused before it reached one
	Code   memd.Code
	Field  string
	// Finding is a rule, and a fingerprint, for which a guard refused; Call is
	// empty then.
	Finding string
}

// refusalBuffer gathers refusals in memory, so that one takes no write. Equal ones
// are one entry a minute, and a flood of unlike ones is one for their code: nobody
// pushes the log out by being refused.
type refusalBuffer struct {
	mu   sync.Mutex
	seen map[Refusal]*refusals
}

// entry stands for n refusals like r.
func (r Refusal) entry(at memd.Time, n int) Entry {
	e := Entry{At: at, Caller: r.Caller, Action: Refused, Detail: r.Call, Code: r.Code, Field: r.Field, Count: n}
	if r.Finding != "" {
		e.Action, e.Detail = Blocked, r.Finding
	}
	return e
}

// refusalOf is what an entry stands for.
func refusalOf(e Entry) Refusal {
	r := Refusal{Caller: e.Caller, Call: e.Detail, Code: e.Code, Field: e.Field}
	if e.Action == Blocked {
		r.Call, r.Finding = "", e.Detail
	}
	return r
}

type refusals struct {
	first   memd.Time // of those not written yet
	count   int       // of them
	written time.Time // when an entry was last written, zero for never
}

const (
	maxRefusals  = 256 // unlike ones in memory
	refusalEvery = time.Minute
)

func (b *refusalBuffer) add(r Refusal, n int, at memd.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen = map[Refusal]*refusals{}
	}
	of := b.seen[r]
	if of == nil {
		if len(b.seen) >= maxRefusals {
			r = Refusal{Code: r.Code}
			of = b.seen[r]
		}
		if of == nil {
			of = &refusals{}
			b.seen[r] = of
		}
	}
	if of.count == 0 {
		of.first = at
	}
	of.count += n
}

// take returns the entries that are due, all that wait where all are, and forgets
// what was last refused a while ago.
func (b *refusalBuffer) take(now memd.Time, all bool) []Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var due []Entry
	for r, of := range b.seen {
		rested := now.Sub(of.written).Abs() >= refusalEvery // whatever becomes of the clock
		switch {
		case of.count > 0 && (rested || all):
			due = append(due, r.entry(of.first, of.count))
			of.count, of.written = 0, now.Time
		case of.count == 0 && rested:
			delete(b.seen, r)
		}
	}
	// Of a flood the entries stay that stand for most.
	slices.SortFunc(due, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(a.Count, b.Count), cmp.Compare(a.Caller+a.Detail+a.Field, b.Caller+b.Detail+b.Field))
	})
	return due
}

// Refuse notes that a request was refused. It only buffers: Flush writes.
func (s *Set) Refuse(r Refusal) { s.refusals.add(r, 1, s.Now()) }

func (s *Set) flushRefusals(ctx context.Context, all bool) error {
	due := s.refusals.take(s.Now(), all)
	if len(due) == 0 {
		return nil
	}
	err := s.Update(ctx, func(tx *Tx) error { return tx.logRefusals(due) })
	if err != nil {
		for _, e := range due {
			s.refusals.add(refusalOf(e), e.Count, e.At)
		}
	}
	return err
}
