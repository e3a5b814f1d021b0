package mirror

import (
	"context"
	"time"

	"memd/exchange/watch"
	"memd/store"
)

// Pace is how long is waited for what. Zero fields are the defaults.
type Pace struct {
	Ask   time.Duration // from one look at the store's log to the next; 2 s
	Whole time.Duration // from one comparison of all to the next; 5 minutes
	Retry time.Duration // before the store is tried anew, doubled each time; 500 ms
	Most  time.Duration // before it is, at most; 15 s
}

func (p Pace) withDefaults() Pace {
	for _, d := range []struct {
		to  *time.Duration
		def time.Duration
	}{{&p.Ask, 2 * time.Second}, {&p.Whole, 5 * time.Minute}, {&p.Retry, 500 * time.Millisecond}, {&p.Most, 15 * time.Second}} {
		if *d.to <= 0 {
			*d.to = d.def
		}
	}
	return p
}

// Sides are the folder and the store.
type Sides struct {
	Changes <-chan watch.Changes // of the folder
	// Log returns the newest entries of the store's log, the newest first.
	Log func(ctx context.Context, limit int) ([]store.Entry, error)
	// Compare brings both together as far as what goes. Its error means that the
	// store could not be reached, or failed, and that all is to be tried anew.
	Compare func(ctx context.Context, what What) error
	// Lost is told, once, why the store cannot be reached, and Found that it can again.
	Lost  func(err error)
	Found func()
}

// Run keeps the two sides the same until ctx ends.
func Run(ctx context.Context, s Sides, p Pace) {
	m := &mirror{Sides: s, pace: p.withDefaults(), due: What{All: true}}
	m.run(ctx)
}

type mirror struct {
	Sides
	pace Pace
	due  What          // what is to be compared
	seen int64         // the newest entry of the log that was taken into account
	wait time.Duration // how long the store is left alone after a failure; 0: none
}

func (m *mirror) run(ctx context.Context) {
	whole := time.NewTicker(m.pace.Whole)
	defer whole.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-m.Changes:
			m.due.files(c)
			if m.wait > 0 {
				continue // when the store is tried anew
			}
		case <-whole.C:
			m.due.all()
			if m.wait > 0 {
				continue
			}
		case <-next.C:
		}
		err := m.turn(ctx)
		if ctx.Err() != nil {
			return
		}
		next.Reset(m.after(err))
	}
}

// turn asks what is new in the store, and compares what is due.
func (m *mirror) turn(ctx context.Context) error {
	if err := m.ask(ctx); err != nil {
		return err
	}
	if m.due.none() {
		return nil
	}
	err := m.Compare(ctx, m.due)
	if err == nil {
		m.due = What{}
	}
	return err
}

// after is how long is waited after a turn.
func (m *mirror) after(err error) time.Duration {
	switch {
	case err != nil && m.wait == 0:
		m.Lost(err)
		m.wait = m.pace.Retry
		m.due.all() // nobody knows how far it came
		return m.wait
	case err != nil:
		m.wait = min(2*m.wait, m.pace.Most)
		return m.wait
	case m.wait > 0:
		m.wait = 0
		m.Found()
	}
	return m.pace.Ask
}
