package groom_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memd/groom"
	"memd/internal/schedule"
)

// errNotNoted is the success of a job that does not move its last success.
var errNotNoted = errors.New("not noted")

// desk is a job under a clock that the test sets.
type desk struct {
	t      *testing.T
	mu     sync.Mutex    // guards what follows; the job may wake as the test does
	set    time.Duration // by how much the clock was set against time that passes
	last   time.Time     // as the store would keep it
	done   []string      // when the job was done, by the clock
	begun  int
	do     func(context.Context) error
	log    bytes.Buffer // see Write
	cancel context.CancelFunc
	ended  chan struct{}
}

func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Add(d.set).UTC()
}

// Write takes the log.
func (d *desk) Write(text []byte) (n int, err error) {
	d.edit(func() { n, err = d.log.Write(text) })
	return n, err
}

// seen is how often the job was begun, when it was done, and what was logged.
func (d *desk) seen() (begun int, done []string, log string) {
	d.edit(func() { begun, done, log = d.begun, slices.Clone(d.done), d.log.String() })
	return begun, done, log
}

// edit changes what the job sees.
func (d *desk) edit(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// start keeps the job by a schedule; within a bubble it is 2000-01-01 00:00 UTC.
// What the job does is do, nil for nothing.
func start(t *testing.T, text string, do func(context.Context) error) *desk {
	t.Helper()
	s, err := schedule.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, do: do}
	d.restart(s)
	return d
}

func (d *desk) restart(s schedule.Schedule) {
	job := groom.Job{Name: "test", Schedule: s,
		Last: func(context.Context) (last time.Time, err error) {
			d.edit(func() { last = d.last })
			return last, nil
		},
		Do: func(ctx context.Context) error {
			began := d.now()
			var do func(context.Context) error
			d.edit(func() { d.begun++; do = d.do })
			if do != nil {
				if err := do(ctx); err == errNotNoted {
					return nil
				} else if err != nil {
					return err
				}
			}
			d.edit(func() { d.last, d.done = began, append(d.done, began.Format("02 15:04")) })
			return nil
		}}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel, d.ended = cancel, make(chan struct{})
	go func() {
		defer close(d.ended)
		groom.Keep(ctx, d.now, slog.New(slog.NewTextHandler(d, nil)), job)
	}()
	d.t.Cleanup(d.stop)
}

func (d *desk) stop() {
	d.cancel()
	<-d.ended
}

// pass lets time pass; sleep does so without a timer seeing it.
func (d *desk) pass(by time.Duration) { time.Sleep(by); synctest.Wait() }
func (d *desk) sleep(by time.Duration) {
	d.edit(func() { d.set += by })
	d.pass(time.Minute)
}

func (d *desk) want(when ...string) {
	d.t.Helper()
	if _, done, _ := d.seen(); !slices.Equal(done, when) {
		d.t.Errorf("done at %q, want %q", done, when)
	}
	d.edit(func() { d.done = nil })
}

func TestJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, "30 2 * * *", nil)
		d.pass(time.Second)
		d.want("01 00:00") // never done before
		d.pass(2*time.Hour + 29*time.Minute)
		d.want()
		d.pass(time.Minute)
		d.want("01 02:30")
		d.pass(48 * time.Hour)
		d.want("02 02:30", "03 02:30")
	})
}

// Whatever was missed is made up for once.
func TestJobMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, "30 2 * * *", nil)
		d.pass(time.Hour)
		d.want("01 00:00")
		d.sleep(80 * time.Hour)
		d.want("04 09:01")
		d.pass(time.Hour)
		d.want()

		d.stop() // and so what a process missed that did not run
		time.Sleep(24 * time.Hour)
		s, err := schedule.Parse("30 2 * * *")
		if err != nil {
			t.Fatal(err)
		}
		d.restart(s)
		d.pass(time.Second)
		d.want("05 10:01")
		d.stop()
		d.restart(s)
		d.pass(time.Hour)
		d.want()
	})
}

// A clock that jumps forward and back again has the job done once at each end,
// and not for as long as the jump was.
func TestJobClockSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, "30 2 * * *", nil)
		d.pass(time.Hour)
		d.want("01 00:00")
		d.sleep(20 * 24 * time.Hour)
		d.want("21 01:01")
		d.sleep(-20 * 24 * time.Hour)
		d.want("01 01:02")
		d.pass(time.Hour)
		d.want()
		d.pass(time.Hour)
		d.want("01 02:30")
		d.sleep(-10 * time.Minute) // less than tells anything
		d.pass(time.Hour)
		d.want()
	})
}

// A failure is logged and the job tried again after some minutes, ever more of
// them; success ends that.
func TestJobFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, "0 3 * * 0", func(context.Context) error { return errors.New("the disk is full") })
		d.pass(time.Second)
		if begun, _, log := d.seen(); begun != 1 || !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "the disk is full") || !strings.Contains(log, "retry_in=5m0s") {
			t.Errorf("begun %d times, logged %s", begun, log)
		}
		for _, c := range []struct {
			pass  time.Duration
			begun int
		}{{4 * time.Minute, 1}, {time.Minute, 2}, {9 * time.Minute, 2}, {time.Minute, 3}, {20 * time.Minute, 4}, {40 * time.Minute, 5}, {5 * time.Hour, 10}} {
			d.pass(c.pass)
			if begun, _, _ := d.seen(); begun != c.begun {
				t.Errorf("after %s more begun %d times, want %d", c.pass, begun, c.begun)
			}
		}
		d.sleep(-48 * time.Hour) // a clock set back is no reason to wait for two days
		if begun, _, _ := d.seen(); begun != 11 {
			t.Errorf("the clock set back, begun %d times, want 11", begun)
		}
		d.edit(func() { d.do = nil })
		for _, by := range []time.Duration{time.Hour, 24 * time.Hour} {
			d.pass(by)
			if _, done, _ := d.seen(); len(done) != 1 {
				t.Errorf("%s later done at %q, want once", by, done)
			}
		}
	})
}

// A job that is done but not noted is not done again at once.
func TestJobNotNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, "30 2 * * *", nil)
		for range 60 {
			d.pass(time.Minute)
			d.edit(func() { d.last = time.Time{} })
		}
		if begun, _, _ := d.seen(); begun != 1 {
			t.Errorf("begun %d times in an hour", begun)
		}
	})
}

// Nor is one whose last success, which cannot be noted anew, lies years ahead of
// a clock that was put right since.
func TestJobNotNotedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
		d := start(t, "30 2 * * *", func(context.Context) error { return errNotNoted })
		d.pass(time.Second)
		d.edit(func() { d.last = ahead })
		d.pass(3 * time.Hour)
		if begun, _, _ := d.seen(); begun != 3 {
			t.Errorf("begun %d times in three hours, want at the start, once it lies ahead, and at 02:30", begun)
		}
	})
}

// The end of the process cancels the job and waits for it; no two turns are
// under way at a time, however long one takes.
func TestJobStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under, most atomic.Int32
		let := make(chan struct{})
		d := start(t, "* * * * *", func(ctx context.Context) error {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			<-ctx.Done()
			<-let // it takes its time
			return ctx.Err()
		})
		d.pass(10 * time.Minute)
		if begun, _, _ := d.seen(); begun != 1 || under.Load() != 1 {
			t.Errorf("begun %d times, %d under way", begun, under.Load())
		}
		d.cancel()
		synctest.Wait()
		select {
		case <-d.ended:
			t.Error("ended before the job did")
		default:
		}
		close(let)
		<-d.ended
		if _, _, log := d.seen(); most.Load() != 1 || under.Load() != 0 || strings.Contains(log, "level=ERROR") {
			t.Errorf("%d at a time, %d left, logged %s", most.Load(), under.Load(), log)
		}
	})
}

// Without a schedule there is nothing to do.
func TestJobOff(t *testing.T) {
	groom.Keep(context.Background(), time.Now, slog.New(slog.DiscardHandler))
	groom.Keep(context.Background(), time.Now, slog.New(slog.DiscardHandler), groom.Job{}, groom.Job{})
}
