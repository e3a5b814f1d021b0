package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	fails   error         // of the store and of comparing, nil while they work
	asked   []time.Duration
	done    []string // what happened, in words
	compare func() (again bool)
	began   time.Time
}

func (s *sides) say(format string, args ...any) {
	s.done = append(s.done, fmt.Sprintf(format, args...))
}

func (s *sides) locked(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// wrote appends an entry of a write to the log.
func (s *sides) wrote(action, namespace, key string) {
	s.log = append(s.log, store.Entry{Seq: int64(len(s.log)) + 1, Action: action, Namespace: namespace, MemoryKey: key})
}

// write is wrote for who does not hold the lock.
func (s *sides) write(action, key string) { s.locked(func() { s.wrote(action, "user", key) }) }

func (s *sides) fail(err error) { s.locked(func() { s.fails = err }) }

// touch tells of changed files.
func (s *sides) touch(names ...string) { s.changes <- watch.Changes{Paths: names} }

// want is what happened since it was last asked for.
func (s *sides) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.locked(func() {
		if !slices.Equal(s.done, want) {
			t.Errorf("it was %q, not %q", s.done, want)
		}
		s.done = nil
	})
}

// play runs a loop between sides, in a bubble, until check returns or the loop ends,
// and returns its error.
func play(t *testing.T, namespace string, check func(*testing.T, *sides)) (err error) {
	synctest.Test(t, func(t *testing.T) {
		s := &sides{changes: make(chan watch.Changes), began: time.Now(), compare: func() bool { return false }}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		log := func(_ context.Context, limit int) (newest []store.Entry, err error) {
			s.locked(func() {
				s.asked = append(s.asked, time.Since(s.began))
				newest, err = slices.Clone(s.log[max(0, len(s.log)-limit):]), s.fails
			})
			slices.Reverse(newest)
			return newest, err
		}
		compare := func(_ context.Context, touched []string) (again bool, err error) {
			s.locked(func() {
				if err = s.fails; err == nil {
					s.say("%s", strings.TrimSpace("compared "+strings.Join(touched, " ")))
					again = s.compare()
				}
			})
			return again, err
		}
		lost := func(err error) { s.locked(func() { s.say("lost: %v", err) }) }
		found := func() { s.locked(func() { s.say("found") }) }
		go func() {
			defer close(ended)
			err = mirror.Loop(ctx, namespace, s.changes, log, compare, lost, found)
		}()
		check(t, s)
		cancel()
		<-ended
	})
	return err
}

// pass lets so many looks at the log pass.
func pass(looks int) {
	time.Sleep(time.Duration(looks)*2*time.Second + time.Millisecond)
	synctest.Wait()
}

// What files and log tell of is compared, and nothing while they tell of nothing that
// concerns a note.
func TestWhenIsCompared(t *testing.T) {
	_ = play(t, "", func(t *testing.T, s *sides) {
		s.want(t, "compared")
		pass(20)
		s.want(t)
		s.touch("a.md", "sub/b.md", "c.txt", "MEMORY.md", "a.memd.md", ".x.md")
		s.want(t, "compared a.md sub/b.md MEMORY.md")
		s.touch("c.txt", "a.memd.md")
		s.write("remember", "") // a short-term memory
		s.write(store.Refused, "n")
		pass(10)
		s.want(t)
		s.write("remember_long_term", "k")
		s.write("forget", "m")
		pass(10)
		s.want(t, "compared")
		s.write("groom", "")
		pass(1)
		s.want(t, "compared")
		for range 60 {
			s.write("remember", "")
		}
		pass(10)
		s.want(t, "compared") // more than was read
		s.locked(func() { s.log = s.log[:3] })
		pass(10)
		s.want(t, "compared") // of another store
		s.changes <- watch.Changes{All: true}
		s.want(t, "compared")
		time.Sleep(5 * time.Minute)
		s.want(t, "compared") // whatever is told
	})
	_ = play(t, "team/x", func(t *testing.T, s *sides) {
		s.want(t, "compared")
		s.write("remember_long_term", "k")
		pass(10)
		s.want(t)
		s.locked(func() { s.wrote("patch", "team/x", "k") })
		pass(1)
		s.want(t, "compared")
	})
}

// After a change on one side memd writes the other. It is told of that, compares once
// more, and finds nothing left to do.
func TestEcho(t *testing.T) {
	_ = play(t, "", func(t *testing.T, s *sides) {
		pass(1)
		s.want(t, "compared")
		left := 1 // changes that the two sides do not have in common yet
		s.locked(func() {
			s.compare = func() bool {
				if left > 0 {
					left--
					s.wrote("remember_long_term", "user", "k")
					go s.touch("k.md")
				}
				return false
			}
		})
		s.touch("k.md")
		pass(30)
		s.want(t, "compared k.md", "compared k.md")
		s.locked(func() { left = 1 })
		s.write("remember_long_term", "k")
		pass(30)
		s.want(t, "compared", "compared k.md")
	})
}

// A store that goes away is waited for, ever longer, told of once, and caught up with.
func TestStoreAway(t *testing.T) {
	_ = play(t, "", func(t *testing.T, s *sides) {
		s.want(t, "compared")
		s.fail(errors.New("away"))
		s.locked(func() { s.asked = nil })
		s.touch("a.md")
		s.want(t, "lost: away")
		for range 1000 {
			s.touch("b.md")
		}
		time.Sleep(2 * time.Minute)
		s.want(t)
		s.locked(func() {
			if n := len(s.asked); n < 10 || n > 20 || s.asked[1]-s.asked[0] != time.Second/2 {
				t.Errorf("asked at %v", s.asked)
			}
		})
		s.fail(nil)
		time.Sleep(15 * time.Second)
		s.want(t, strings.TrimSpace("compared a.md"+strings.Repeat(" b.md", 1000)), "found")
		s.fail(errors.New("away again"))
		pass(1)
		s.want(t, "lost: away again")
		s.fail(nil)
		pass(1)
		s.want(t, "compared", "found")
		pass(10)
		s.want(t)
	})
}

// What was refused for now is tried again soon.
func TestAgain(t *testing.T) {
	_ = play(t, "", func(t *testing.T, s *sides) {
		left := 3
		s.locked(func() { s.compare = func() bool { left--; return left > 0 } })
		pass(10)
		s.want(t, "compared", "compared", "compared")
	})
}

// What cannot be brought together at first, and what has come to an end, is waited for
// by nobody.
func TestEnds(t *testing.T) {
	for name, with := range map[string]error{"at first": errors.New("no"), "for good": mirror.Final(errors.New("no"))} {
		err := play(t, "", func(t *testing.T, s *sides) {
			if name == "for good" {
				s.want(t, "compared")
			}
			s.fail(with)
			pass(10)
			s.want(t)
		})
		if err == nil || err.Error() != "no" {
			t.Errorf("%s: it ends by %v", name, err)
		}
	}
}
