package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memd/exchange/mirror"
	"memd/exchange/watch"
	"memd/store"
)

// sides are a folder and a store that a test plays.
type sides struct {
	changes chan watch.Changes
	mu      sync.Mutex    // of what follows
	log     []store.Entry // the newest last
	down    error         // what the store answers, nil while it works
	asked   []time.Duration
	done    []string // what was compared, in words, and the store found and lost
	compare func(mirror.What)
	began   time.Time
}

func (s *sides) say(format string, args ...any) {
	s.locked(func() { s.done = append(s.done, fmt.Sprintf(format, args...)) })
}

func (s *sides) locked(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// fails has the store answer with an error from now on, or work again.
func (s *sides) fails(err error) { s.locked(func() { s.down = err }) }

func (s *sides) failing() (err error) {
	s.locked(func() { err = s.down })
	return err
}

// wrote appends an entry of a write to the log.
func (s *sides) wrote(action, key string) {
	s.locked(func() {
		s.log = append(s.log, store.Entry{Seq: int64(len(s.log)) + 1, Action: action, Namespace: "user", MemoryKey: key})
	})
}

// want is what was said since it was last asked for.
func (s *sides) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.locked(func() {
		if !slices.Equal(s.done, want) {
			t.Errorf("done is %q, not %q", s.done, want)
		}
		s.done = nil
	})
}

func words(w mirror.What) string {
	if w.All {
		return "all"
	}
	parts := slices.Sorted(maps.Keys(w.Paths))
	for k := range w.Keys {
		parts = append(parts, k.Namespace+":"+k.MemoryKey)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// play runs a mirror between sides, in a bubble, until check returns.
func play(t *testing.T, check func(*testing.T, *sides)) {
	synctest.Test(t, func(t *testing.T) {
		s := &sides{changes: make(chan watch.Changes), began: time.Now(), compare: func(mirror.What) {}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			mirror.Run(ctx, mirror.Sides{
				Changes: s.changes,
				Log: func(_ context.Context, limit int) (newest []store.Entry, err error) {
					s.locked(func() {
						s.asked = append(s.asked, time.Since(s.began))
						newest, err = slices.Clone(s.log[max(0, len(s.log)-limit):]), s.down
					})
					slices.Reverse(newest)
					return newest, err
				},
				Compare: func(_ context.Context, what mirror.What) error {
					err := s.failing()
					if err == nil {
						s.say("%s", words(what))
						s.compare(what)
					}
					return err
				},
				Lost:  func(err error) { s.say("lost: %v", err) },
				Found: func() { s.say("found") },
			}, mirror.Pace{})
		}()
		check(t, s)
		cancel()
		<-ended
	})
}

// pass lets so many looks at the log pass.
func pass(looks int) {
	time.Sleep(time.Duration(looks)*2*time.Second + time.Millisecond)
	synctest.Wait()
}

// What files and log name is compared, and nothing while they name nothing.
func TestWhatIsCompared(t *testing.T) {
	play(t, func(t *testing.T, s *sides) {
		s.want(t, "all")
		pass(20)
		s.want(t)
		s.changes <- watch.Changes{Paths: []string{"a.md", "b.md"}}
		s.want(t, "a.md b.md")
		s.wrote("remember_long_term", "k")
		s.wrote("patch", "k")
		s.wrote("forget", "m")
		s.wrote("remember", "") // a short-term memory
		s.wrote(store.Refused, "n")
		pass(1)
		s.want(t, "user:k user:m")
		pass(10)
		s.want(t)
		s.wrote("groom", "")
		pass(1)
		s.want(t, "all")
		for range 60 {
			s.wrote("remember", "")
		}
		pass(1)
		s.want(t, "all") // more than was read
		s.locked(func() { s.log = s.log[:3] })
		pass(1)
		s.want(t, "all") // of another store
		s.changes <- watch.Changes{All: true}
		s.want(t, "all")
		time.Sleep(5 * time.Minute)
		s.want(t, "all") // whatever is told
	})
}

// A change on each side is compared once, and what that writes once more, in which
// nothing is left to do.
func TestEcho(t *testing.T) {
	play(t, func(t *testing.T, s *sides) {
		pass(1)
		s.want(t, "all")
		var left atomic.Int32 // changes that the two sides do not have in common yet
		left.Store(1)
		s.compare = func(mirror.What) {
			if left.Load() > 0 {
				left.Add(-1)
				s.wrote("remember_long_term", "k")
				go func() { s.changes <- watch.Changes{Paths: []string{"k.md"}} }()
			}
		}
		s.changes <- watch.Changes{Paths: []string{"k.md"}}
		pass(30)
		s.want(t, "k.md", "k.md user:k")
		left.Store(1)
		s.wrote("remember_long_term", "k")
		pass(30)
		s.want(t, "user:k", "k.md user:k")
	})
}

// A store that goes away is waited for, ever longer, told of once, and caught up with.
func TestStoreAway(t *testing.T) {
	play(t, func(t *testing.T, s *sides) {
		s.want(t, "all")
		s.fails(errors.New("away"))
		s.locked(func() { s.asked = nil })
		s.changes <- watch.Changes{Paths: []string{"a.md"}}
		s.want(t, "lost: away")
		for range 1000 {
			s.changes <- watch.Changes{Paths: []string{"b.md"}}
		}
		time.Sleep(2 * time.Minute)
		s.want(t)
		s.locked(func() {
			if n := len(s.asked); n < 10 || n > 20 || s.asked[1]-s.asked[0] != time.Second/2 {
				t.Errorf("asked at %v", s.asked)
			}
		})
		s.fails(nil)
		time.Sleep(15 * time.Second)
		s.want(t, "all", "found")
		s.fails(errors.New("away again"))
		pass(1)
		s.want(t, "lost: away again")
		s.fails(nil)
		pass(1)
		s.want(t, "all", "found")
		pass(10)
		s.want(t)
	})
}
