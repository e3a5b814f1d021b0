package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"memd"
	"memd/exchange/watch"
)

// fed is a folder under watch, of which the test tells what the system would.
type fed struct {
	t      *testing.T
	dir    string
	w      *watch.Watcher
	events chan fsnotify.Event
	errors chan error
	full   atomic.Bool // the system has no more watches to give
}

// feed watches in a bubble, until check returns.
func feed(t *testing.T, o watch.Options, check func(*fed)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := &fed{t: t, dir: dir, events: make(chan fsnotify.Event), errors: make(chan error)}
		w, err := watch.Open(dir, o)
		must(t, err)
		f.w = w
		must(t, w.Fed(f.events, f.errors, func(string) error {
			if f.full.Load() {
				return &os.PathError{Op: "watch", Err: syscall.ENOSPC}
			}
			return nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		if c := <-w.Changes(); !c.All {
			t.Errorf("at first %v", c)
		}
		check(f)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		must(t, w.Close())
	})
}

func (f *fed) write(name, text string) { put(f.t, filepath.Join(f.dir, name), text) }

func (f *fed) say(name string) {
	f.events <- fsnotify.Event{Name: filepath.Join(f.dir, name), Op: fsnotify.Write}
}

// told is what is told next, and after how long.
func (f *fed) told() ([]string, time.Duration) {
	began := time.Now()
	c := <-f.w.Changes()
	return c.Paths, time.Since(began)
}

func (f *fed) want(after time.Duration, paths ...string) {
	f.t.Helper()
	if got, took := f.told(); !slices.Equal(got, paths) || took != after {
		f.t.Errorf("told of %v after %s, not of %v after %s", got, took, paths, after)
	}
}

// Changes are told together once it is quiet, or after a while where it never is.
func TestQuietTime(t *testing.T) {
	feed(t, watch.Options{}, func(f *fed) {
		f.say("b.md")
		time.Sleep(200 * time.Millisecond)
		f.say("a.md")
		f.say("a.md")
		f.want(300*time.Millisecond, "a.md", "b.md")

		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
					f.say("busy.md")
				}
			}
		}()
		f.want(2100*time.Millisecond, "busy.md")
		close(stop)
		synctest.Wait()
	})
}

// What is told while nobody listens is kept, together.
func TestNobodyListens(t *testing.T) {
	feed(t, watch.Options{}, func(f *fed) {
		for _, name := range []string{"a.md", "b.md", "a.md", "c.md"} {
			f.say(name)
			time.Sleep(time.Minute / 2)
		}
		f.want(0, "a.md")
		f.want(0, "a.md", "b.md", "c.md")
		for i := range 10_001 {
			f.say(strings.Repeat("x", i%100) + time.Duration(i).String() + ".md")
		}
		time.Sleep(time.Second)
		if c := <-f.w.Changes(); !c.All || len(c.Paths) > 0 {
			t.Errorf("of more than 10,000 files %d are named", len(c.Paths))
		}
	})
}

// What the system does not tell of is found at the next look, once.
func TestLook(t *testing.T) {
	feed(t, watch.Options{}, func(f *fed) {
		time.Sleep(30 * time.Second)
		f.write("a/b.md", "one")
		f.want(30*time.Second+300*time.Millisecond, "a/b.md")
		info, err := os.Stat(filepath.Join(f.dir, "a/b.md"))
		must(t, err)
		// Another file of the same length and time is another file.
		f.write("a/c.md", "two")
		must(t, os.Chtimes(filepath.Join(f.dir, "a/c.md"), info.ModTime(), info.ModTime()))
		must(t, os.Rename(filepath.Join(f.dir, "a/c.md"), filepath.Join(f.dir, "a/b.md")))
		f.want(time.Minute, "a/b.md")
		must(t, os.RemoveAll(filepath.Join(f.dir, "a")))
		f.want(time.Minute, "a/b.md")
		f.say("z.md") // what the system told of is not found again
		f.want(300*time.Millisecond, "z.md")
		f.write("y.md", "y")
		f.say("y.md")
		f.want(300*time.Millisecond, "y.md")
		select {
		case c := <-f.w.Changes():
			t.Errorf("told of %v", c)
		case <-time.After(time.Hour):
		}
	})
}

// Where the system loses events the folder is looked at at once.
func TestOverflow(t *testing.T) {
	feed(t, watch.Options{}, func(f *fed) {
		f.write("lost/a.md", "a")
		f.errors <- fsnotify.ErrEventOverflow
		f.want(300*time.Millisecond, "lost/a.md")
		for range 100 {
			f.errors <- errors.New("any other")
		}
		f.write("b.md", "b")
		f.errors <- errors.New("any other")
		f.want(300*time.Millisecond, "b.md")
	})
}

// Where the system has no more watches to give the folder is looked at more often, its
// user is told how to mend that, once, and it ends when there are some again.
func TestNoMoreWatches(t *testing.T) {
	var said []error
	feed(t, watch.Options{Warn: func(err error) { said = append(said, err) }}, func(f *fed) {
		f.full.Store(true)
		f.write("a/b.md", "one")
		f.want(time.Minute+300*time.Millisecond, "a/b.md")
		f.write("a/b.md", "other")
		f.want(5*time.Second, "a/b.md")
		f.full.Store(false)
		time.Sleep(10 * time.Second)
		f.write("a/b.md", "the third")
		if got, took := f.told(); !slices.Equal(got, []string{"a/b.md"}) || took < 10*time.Second {
			t.Errorf("told of %v after %s", got, took)
		}
		f.full.Store(true)
		f.write("c/d.md", "one")
		f.want(time.Minute, "c/d.md")
	})
	if len(said) != 1 {
		t.Fatalf("said %d times", len(said))
	}
	if e, ok := errors.AsType[*memd.Error](said[0]); !ok || !strings.Contains(e.Hint, "max_user_watches") {
		t.Errorf("said %v", said[0])
	}
}
