package groom_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the test knows its zone wherever it runs

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
)

var wholeYear = flag.Bool("groom.year", false, "walk a whole year of schedules, not some weeks around each change of the clocks")

// yearly are the schedules of the walk. Half past two on a Sunday is left out
// by one change of the clocks and comes twice at the other.
var yearly = configs.Groom{Schedule: "30 2 * * 0", Light: "0 * * * *"}

// almanac is the schedule of a daemon over a real store, under a clock on a wall
// in Berlin that the test sets. Its time is that of a synctest bubble.
type almanac struct {
	t    *testing.T
	dir  string
	zone *time.Location

	store  *store.Set
	runner *groom.Runner
	cancel func()
	ended  chan struct{}

	mu  sync.Mutex    // guards what follows
	set time.Duration // by how much the clock was set against time that passes
	log bytes.Buffer  // see Write

	seen   groom.Report         // the last one that was looked at
	own    map[memd.Time]bool   // when runs of the test's own began
	last   map[string]memd.Time // when the last run of a kind ended
	counts map[string]int       // scheduled runs of a kind
}

// newAlmanac opens an empty store; its clock says begin.
func newAlmanac(t *testing.T, begin string) *almanac {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation(time.DateTime, begin, zone)
	if err != nil {
		t.Fatal(err)
	}
	a := &almanac{t: t, dir: t.TempDir(), zone: zone, set: time.Until(at),
		own: map[memd.Time]bool{}, counts: map[string]int{}, last: map[string]memd.Time{"full": memd.At(at), "light": memd.At(at)}}
	a.open()
	t.Cleanup(a.close)
	return a
}

func (a *almanac) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Add(a.set).In(a.zone)
}

// open starts the process.
func (a *almanac) open() {
	a.t.Helper()
	var err error
	if a.store, err = store.Open(context.Background(), store.Options{Dir: a.dir, Budgets: configs.DefaultBudgets(), Now: a.now}); err != nil {
		a.t.Fatal(err)
	}
	a.runner = groom.New(a.store, nil)
	a.keep(context.WithCancel(context.Background()))
}

// keep begins to keep the schedule.
func (a *almanac) keep(ctx context.Context, cancel func()) {
	a.t.Helper()
	jobs, err := groom.Jobs(a.runner, yearly, a.now)
	if err != nil {
		a.t.Fatal(err)
	}
	ended := make(chan struct{})
	a.cancel, a.ended = cancel, ended
	go func() {
		defer close(ended)
		groom.Keep(ctx, a.now, slog.New(slog.NewTextHandler(a, nil)), jobs...)
	}()
}

// Write takes the log.
func (a *almanac) Write(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(text)
}

// logged is what was logged since the last look.
func (a *almanac) logged() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.log.Reset()
	return a.log.String()
}

// stop ends the schedule, close the process.
func (a *almanac) stop() { a.cancel(); <-a.ended }

func (a *almanac) close() {
	a.stop()
	if err := a.store.Close(); err != nil {
		a.t.Errorf("close store: %v", err)
	}
}

// turn is the last turn of a kind that is not after at: found minute by minute,
// by nothing but what the clock shows.
func (a *almanac) turn(kind string, at time.Time) time.Time {
	if kind == "light" {
		return at.Truncate(time.Hour)
	}
	day := func(t time.Time) time.Time {
		first := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, a.zone)
		for first.Hour()*60+first.Minute() < 2*60+30 {
			first = first.Add(time.Minute)
		}
		return first
	}
	sunday := time.Date(at.Year(), at.Month(), at.Day()-int(at.Weekday()), 12, 0, 0, 0, a.zone)
	if found := day(sunday); !found.After(at) {
		return found
	}
	return day(sunday.AddDate(0, 0, -7))
}

// pass lets time pass, then a minute within which everything due is done, and
// looks: each turn that came was done once.
func (a *almanac) pass(by time.Duration) {
	a.t.Helper()
	time.Sleep(by)
	synctest.Wait()
	time.Sleep(time.Minute)
	synctest.Wait()
	a.look()
}

// move moves the clock against the time that passes, as a sleep of the machine
// does, or a person; setClock then lets the daemon notice.
func (a *almanac) move(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set += by
}

func (a *almanac) setClock(by time.Duration) { a.t.Helper(); a.move(by); a.pass(0) }

// look goes through the runs since it last did.
func (a *almanac) look() {
	a.t.Helper()
	reports, err := a.runner.Reports(context.Background())
	if err != nil {
		a.t.Fatal(err)
	}
	n := slices.IndexFunc(reports, func(r groom.Report) bool { return reflect.DeepEqual(r, a.seen) })
	if n < 0 && len(reports) == 20 {
		a.t.Fatal("more runs than are kept: the test cannot follow")
	}
	if n < 0 {
		n = len(reports)
	}
	for _, r := range slices.Backward(reports[:n]) {
		a.follow(r)
		a.seen = r
	}
	now := a.now()
	for kind, last := range a.last {
		if turn := a.turn(kind, now.Add(-time.Minute)); last.Before(turn) || last.Sub(now) > time.Hour {
			a.t.Errorf("at %s, %s turn of %s: the last run ended at %s", now, kind, turn, last)
		}
	}
	st, err := a.store.Stats(context.Background())
	if err != nil || st.LastGroomAt != "" && st.LastGroomAt != a.last["full"].String() {
		a.t.Errorf("last_groom_at is %s, error %v; the last full run ended at %s", st.LastGroomAt, err, a.last["full"])
	}
}

// follow takes a run after the one before: a turn came since, or the clock was
// set back behind that.
func (a *almanac) follow(r groom.Report) {
	a.t.Helper()
	kind := "full"
	if r.Light {
		kind = "light"
	}
	if !a.own[r.StartedAt] {
		a.counts[kind]++
		last, turn := a.last[kind], a.turn(kind, r.StartedAt.In(a.zone))
		if !turn.After(last.Time) && last.Sub(r.StartedAt.Time) <= time.Hour {
			a.t.Errorf("a %s run at %s, though none came due since %s", kind, r.StartedAt, last)
		}
		if a.seen.Light && !r.Light && a.seen.StartedAt == r.StartedAt {
			a.t.Errorf("a light run at %s, with a full one right after it", r.StartedAt)
		}
	}
	if !r.Whole() {
		a.t.Errorf("not whole: %+v", r)
	}
	a.last["light"] = r.FinishedAt
	if !r.Light {
		a.last["full"] = r.FinishedAt
	}
}

// byHand runs a groom at the very moment of the next hourly turn, as an outside
// cron does. The daemon's own is under way, or over, or waits for this one.
func (a *almanac) byHand(opts groom.Options) {
	a.t.Helper()
	now := a.now()
	time.Sleep(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
	report, err := a.runner.Run(context.Background(), opts)
	if err == nil {
		a.own[report.StartedAt] = true
	} else if memd.CodeOf(err) != memd.CodeStoreBusy {
		a.t.Error(err)
	}
	a.pass(0)
}

// A daemon keeps its schedules over a year on a laptop: whose lid is shut and
// opened, that is started anew, whose clock is set, in a zone whose clocks change
// twice. Each turn is done once, and each stretch of missed ones made up for once.
func TestYear(t *testing.T) {
	walks := []struct {
		begin string
		days  int
	}{{"2026-03-13 18:20:00", 24}, {"2026-10-09 18:20:00", 24}}
	if *wholeYear {
		walks = walks[:1]
		walks[0].days = 366
	}
	for _, w := range walks {
		t.Run(w.begin, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { walk(newAlmanac(t, w.begin), w.days) })
		})
	}
}

func walk(a *almanac, days int) {
	chance := rand.New(rand.NewPCG(2026, 3))
	a.pass(0)
	if len(a.seen.Passes) > 0 {
		a.t.Errorf("a first start ran a groom: %+v", a.seen)
	}
	for n, began := 0, time.Now(); time.Since(began) < time.Duration(days)*24*time.Hour; n++ {
		if now := a.now(); now.IsDST() != now.Add(20*time.Hour).IsDST() { // a night to be awake in
			a.pass(9 * time.Minute)
			continue
		}
		switch some := time.Duration(1 + chance.IntN(20)); chance.IntN(10) {
		case 0: // the lid is shut and opened
			a.setClock(some * time.Hour)
		case 1:
			a.setClock(some * 10 * time.Minute)
		case 2: // the clock is put right
			a.setClock(-some * 3 * time.Minute)
		case 3:
			a.setClock(-some * 30 * time.Minute)
		case 4: // it runs ahead for a while
			a.setClock(some * 24 * time.Hour)
			a.pass(some * 10 * time.Minute)
			a.setClock(-some * 24 * time.Hour)
		case 5: // the process ends, and some hours later another begins
			a.close()
			time.Sleep(some * 40 * time.Minute)
			a.open()
			a.pass(0)
		case 6:
			a.byHand(groom.Options{Light: n%2 == 0})
		default:
			a.pass(some * 50 * time.Minute)
		}
		if a.t.Failed() {
			a.t.FailNow()
		}
	}
	if a.counts["full"] < days/7 || a.counts["light"] < 12*days {
		a.t.Errorf("only %v runs: the test shows little", a.counts)
	}
}
