package groom_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"memd"
	"memd/groom"
	"memd/store"
	"memd/tiers"
)

// unread inserts short rows that nobody ever read and that matter little, of eight
// days ago.
func (a *almanac) unread(n int) {
	a.t.Helper()
	at := memd.At(a.now().Add(-8 * day))
	err := a.store.Update(context.Background(), func(tx *store.Tx) error {
		for i := range n {
			m := memd.Memory{
				ID: fmt.Sprintf("01800000-0000-7000-8000-%012d", i), Tier: memd.Short, Namespace: memd.DefaultNamespace,
				Kind: memd.Event, Summary: fmt.Sprint("unread ", i), Importance: 1, SourceStatus: memd.SourceNone,
				CreatedAt: at, UpdatedAt: at, WrittenAt: at, Tags: []string{}, Access: []string{},
			}
			m.ContentHash = tiers.ContentHash(&m)
			if err := tx.Insert(&m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// full are the reports of full runs, newest first.
func (a *almanac) full() (full []groom.Report) {
	a.t.Helper()
	reports, err := a.runner.Reports(context.Background())
	if err != nil {
		a.t.Fatal(err)
	}
	for _, r := range reports {
		if !r.Light {
			full = append(full, r)
		}
	}
	return full
}

// However often a run is taken again of which a pass failed, over a restart too,
// the passes that succeeded are not: their cap is that of a turn. The next turn is
// a whole one.
func TestRetryOfFailedPassesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlmanac(t, "2026-11-28 18:20:00") // a Saturday
		a.minute()                                // the schedule counts from here
		h := &house{t: t, dir: a.dir, store: a.store, tiers: tiers.New(a.store)}
		a.unread(500)
		if _, err := h.tiers.Note(context.Background(), root, "s", memd.Note{Summary: "a note", TTL: "90s"}); err != nil {
			t.Fatal(err)
		}
		h.shell(`CREATE TRIGGER stop BEFORE DELETE ON transient BEGIN SELECT RAISE(ABORT, 'no'); END`)
		left := func(when string, want int) {
			t.Helper()
			h.store = a.store
			if n := h.count(memd.Short); n != want {
				t.Errorf("%s: %d short rows are left, want %d", when, n, want)
			}
		}
		time.Sleep(8*time.Hour + 10*time.Minute) // 02:31
		synctest.Wait()
		left("after the turn", 400)
		time.Sleep(3 * time.Hour)
		left("after some retries", 400)
		a.close()
		a.open()
		a.minute()
		left("after a restart", 400)
		runs := a.full()
		if len(runs) < 5 || len(runs[0].Passes) != 1 || runs[0].Passes[0].Name != "expire_transient" || len(runs[len(runs)-1].Passes) < 12 {
			t.Errorf("%d runs, the last %+v", len(runs), runs[0].Failed())
		}
		h.shell(`DROP TRIGGER stop`)
		if mark := h.meta("last_groom_at"); mark != "" {
			t.Errorf("a success is noted: %s", mark)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if runs := a.full(); h.meta("last_groom_at") != runs[0].FinishedAt.String() || len(runs[0].Passes) != 1 {
			t.Errorf("last_groom_at is %q after a run of %d passes", h.meta("last_groom_at"), len(runs[0].Passes))
		}
		left("after the success", 400)
		a.move(7 * day)
		a.minute()
		if runs := a.full(); len(runs[0].Passes) < 12 || !runs[0].Whole() {
			t.Errorf("the next turn: %d passes, %v", len(runs[0].Passes), runs[0].Failed())
		}
		left("after the next turn", 300)
	})
}

// A database that cannot be read fails every pass, and with every retry again:
// what judges takes no more for that.
func TestRetryWithoutADatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlmanac(t, "2026-11-28 18:20:00")
		a.minute()
		h := &house{t: t, dir: a.dir, store: a.store, tiers: tiers.New(a.store)}
		h.remember(memd.Remember{Summary: "in the database that is lost", Importance: new(9)})
		h.roll()
		a.unread(500)
		a.close()
		lost, err := filepath.Glob(filepath.Join(a.dir, store.HistoryDir, "*.db"))
		if err != nil || len(lost) != 1 {
			t.Fatal(lost, err)
		}
		if err := os.Truncate(lost[0], 0); err != nil {
			t.Fatal(err)
		}
		a.open()
		h.store = a.store
		a.move(8 * day)
		for range 5 {
			a.move(2 * time.Hour)
			a.minute()
		}
		if runs := a.full(); len(runs) < 4 || len(runs[0].Passes) < 12 || runs[0].Whole() {
			t.Fatalf("%d runs: the test shows nothing", len(runs))
		}
		if n := h.count(memd.Short); n != 400 {
			t.Errorf("%d short rows are left, want 400", n)
		}
	})
}

// A turn that comes while a pass still fails is a whole run, and so is one by hand.
func TestTurnAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAlmanac(t, "2026-11-28 18:20:00")
		a.minute()
		h := &house{t: t, dir: a.dir, store: a.store, tiers: tiers.New(a.store)}
		a.unread(500)
		if _, err := h.tiers.Note(context.Background(), root, "s", memd.Note{Summary: "a note", TTL: "90s"}); err != nil {
			t.Fatal(err)
		}
		h.shell(`CREATE TRIGGER stop BEFORE DELETE ON transient BEGIN SELECT RAISE(ABORT, 'no'); END`)
		a.move(8 * day)
		a.minute()
		a.move(7 * day)
		a.minute()
		if n := h.count(memd.Short); n != 300 {
			t.Errorf("%d short rows are left after two turns, want 300", n)
		}
		report, err := a.runner.Run(context.Background(), groom.Options{})
		if err != nil || len(report.Passes) < 12 {
			t.Errorf("by hand: %d passes, %v", len(report.Passes), err)
		}
		if n := h.count(memd.Short); n != 200 {
			t.Errorf("%d short rows are left after a run by hand, want 200", n)
		}
	})
}
