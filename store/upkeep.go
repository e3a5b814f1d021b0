package store

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"
)

// upkeep is the goroutine of what a Set does beside requests: it makes room
// after a rollover, goes on with a retirement that was cut short, and reads
// what writes ask of historical databases.
type upkeep struct {
	loop
	room   atomic.Bool // whether something came for which room is to be made
	hashes atomic.Bool // whether a write asked for content hashes that are not read yet
	begun  atomic.Bool // whether it has gone on with what was cut short, as far as it could
}

// loop is a goroutine that looks for work when it is woken.
type loop struct {
	calls chan struct{} // holds one
	stop  context.CancelFunc
	done  chan struct{}
}

func (u *upkeep) begin(ctx context.Context, s *Set) {
	ctx, u.stop = context.WithCancel(context.WithoutCancel(ctx))
	u.done = make(chan struct{})
	if full, err := s.wasFull(ctx); err != nil {
		s.log.Error("no room looked for", "error", err)
	} else {
		s.full.Store(full)
	}
	u.room.Store(true)
	go func() {
		defer close(u.done)
		for {
			if u.room.Swap(false) {
				if err := s.tidy(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errClosing) {
					s.log.Error("no room made for historical databases", "error", err)
				}
			}
			u.begun.Store(true)
			if u.hashes.Swap(false) {
				s.loadHashes(ctx)
			}
			select {
			case <-u.calls:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// makeRoom has room made beside requests.
func (u *upkeep) makeRoom() {
	u.room.Store(true)
	u.wake()
}

// tidy makes room. A Set that is open as it is only carries retirements through
// that were cut short.
func (s *Set) tidy(ctx context.Context) error {
	if !s.asItIs {
		_, err := s.MakeRoom(ctx)
		return err
	}
	s.making.Lock()
	defer s.making.Unlock()
	return s.retireSurplus(ctx, math.MaxInt, &Room{})
}

// wake has the goroutine look for work. It never waits.
func (l *loop) wake() {
	select {
	case l.calls <- struct{}{}:
	default:
	}
}

// end stops the goroutine and waits for it.
func (l *loop) end() {
	if l.stop != nil {
		l.stop()
		<-l.done
	}
}

// gently calls turn, one turn of the writer within longer work, until it says
// that there is no more. Where others write meanwhile it leaves them as much
// time as each turn took, so that they do not wait for one at every write.
func (s *Set) gently(ctx context.Context, turn func() (more bool, err error)) error {
	for {
		before, began := s.writer.taken.Load(), s.now()
		more, err := turn()
		if err != nil || !more {
			return err
		}
		if s.writer.taken.Load()-before < 2 {
			continue
		}
		wait := time.NewTimer(min(s.now().Sub(began), 200*time.Millisecond))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}
