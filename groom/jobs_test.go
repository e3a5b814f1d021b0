package groom_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/tiers"
)

// kinds are the reports since the last look, oldest first, F for a full run.
func (a *almanac) kinds() (kinds string) {
	a.t.Helper()
	reports, err := a.runner.Reports(context.Background())
	if err != nil {
		a.t.Fatal(err)
	}
	for _, r := range reports {
		if r.StartedAt.After(a.seen.StartedAt.Time) {
			kinds = map[bool]string{true: "l", false: "F"}[r.Light] + kinds
		}
	}
	if len(reports) > 0 {
		a.seen = reports[0]
	}
	return kinds
}

// minute is time enough for whatever is due.
func (a *almanac) minute() { time.Sleep(time.Minute); synctest.Wait() }

// A first start grooms nothing, then each turn in its time; what was missed is
// made up for by one run, a full one where a full one is owed.
func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlmanac(t, "2026-11-28 18:20:00") // a Saturday
		step := func(want string) {
			t.Helper()
			a.minute()
			if got := a.kinds(); got != want {
				t.Errorf("at %s ran %q, want %q", a.now(), got, want)
			}
		}
		step("")
		time.Sleep(40 * time.Minute)
		step("l") // 19:00
		time.Sleep(8 * time.Hour)
		step("lllllllFl") // 20:00 to 03:00, and 02:30
		a.move(3 * time.Hour)
		step("l")
		a.move(8 * 24 * time.Hour)
		step("F")
		a.close()
		time.Sleep(14 * 24 * time.Hour)
		a.open()
		step("F")
		a.close()
		a.open()
		step("")
	})
}

// A run in which a pass failed is a failure of its job: logged by the pass, taken
// again some minutes later, and no success until then.
func TestJobsPassFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlmanac(t, "2026-11-28 18:20:00")
		h := &house{t: t, dir: a.dir, store: a.store, tiers: tiers.New(a.store)}
		a.minute() // the schedule counts from here
		h.remember(memd.Remember{Summary: "expires", ExpiresAt: memd.At(a.now().Add(10 * time.Minute))})
		h.shell(`CREATE TRIGGER stop BEFORE DELETE ON short BEGIN SELECT RAISE(ABORT, 'no'); END`)
		a.move(40 * time.Minute)
		for range 2 { // the second after five minutes
			a.minute()
			if log, mark := a.logged(), h.meta("last_light_groom_at"); mark != "" || !strings.Contains(log, "scheduled job failed") ||
				!strings.Contains(log, `job="light groom"`) || !strings.Contains(log, "expire_transient (store_failed)") {
				t.Errorf("last_light_groom_at is %q, logged %s", mark, log)
			}
			time.Sleep(4 * time.Minute)
		}
		h.shell(`DROP TRIGGER stop`)
		time.Sleep(10 * time.Minute)
		a.minute()
		if log, mark := a.logged(), h.meta("last_light_groom_at"); mark == "" || !strings.Contains(log, "scheduled job done") {
			t.Errorf("last_light_groom_at is %q, logged %s", mark, log)
		}
		if got := a.kinds(); got != "lll" {
			t.Errorf("ran %q", got)
		}
	})
}

// Whatever moment the end of the daemon cuts a run off at, the schedule ends, no
// success is noted, and the next start takes the run again.
func TestJobsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlmanac(t, "2026-11-28 18:20:00")
		h := &house{t: t, dir: a.dir, store: a.store}
		a.minute()
		a.move(8 * 24 * time.Hour)
		a.stop()
		for n := 0; ; n++ {
			a.keep(cutAfter(n))
			a.minute()
			a.stop()
			if a.runner.Running() != nil {
				t.Fatalf("cut off after %d looks, a run is under way", n)
			}
			if h.meta("last_groom_at") != "" {
				if sum := a.runner.Totals(); n < 20 || sum.Full != (groom.Outcomes{Whole: 1}) {
					t.Errorf("whole after %d looks: the test shows nothing; %+v", n, sum.Full)
				}
				break
			}
			if log := a.logged(); strings.Contains(log, "failed") || a.kinds() != "" {
				t.Fatalf("cut off after %d looks: %s", n, log)
			}
		}
	})
}

// A day of light runs leaves the report of the last full one.
func TestReportsKept(t *testing.T) {
	h := newHouse(t)
	h.groom(groom.Options{})
	h.clock.Advance(time.Hour)
	full := h.groom(groom.Options{})
	for range 25 {
		h.clock.Advance(time.Hour)
		h.groom(light)
	}
	reports, err := h.runner.Reports(context.Background())
	if err != nil || len(reports) != 20 || reports[19].StartedAt != full.StartedAt {
		t.Fatalf("%d reports, error %v", len(reports), err)
	}
	for i, r := range reports[:19] {
		if want := memd.At(h.clock.Now().Add(-time.Duration(i) * time.Hour)); !r.Light || r.StartedAt != want {
			t.Errorf("report %d is of %s, want of %s", i, r.StartedAt, want)
		}
	}
}

// Schedules that are empty are never due.
func TestJobsOff(t *testing.T) {
	jobs, err := groom.Jobs(newHouse(t).runner, configs.Groom{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	groom.Keep(context.Background(), time.Now, slog.New(slog.DiscardHandler), jobs...) // returns
	if _, err := groom.Jobs(newHouse(t).runner, configs.Groom{Light: "hourly"}, time.Now); err == nil {
		t.Error("a schedule that is none is taken")
	}
}
