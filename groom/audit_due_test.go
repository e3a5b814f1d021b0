package groom

import (
	"testing"
	"time"

	"memd"
)

// What became due between a full run of which a pass failed and its retry is no
// fault of groom's: the passes that had succeeded did not run again.
func TestDueAfterRetry(t *testing.T) {
	at := func(minute int) memd.Time {
		return memd.At(time.Date(2026, 11, 29, 2, minute, 0, 0, time.UTC))
	}
	whole, retry, light := make([]Pass, len(passes)), make([]Pass, 1), Report{Light: true, FinishedAt: at(50)}
	e := evidence{now: at(55), lastFull: at(40), reports: []Report{
		light, {FinishedAt: at(45), Passes: whole}, // one that failed later
		{FinishedAt: at(40), Passes: retry}, {FinishedAt: at(35), Passes: retry}, light, {FinishedAt: at(30), Passes: whole}, {FinishedAt: at(10), Passes: whole},
	}}
	if due := e.due(); due != at(30) {
		t.Errorf("due since %s, want since %s", due, at(30))
	}
	e.reports = e.reports[3:]
	e.lastFull = at(30)
	if due := e.due(); due != at(30) {
		t.Errorf("after a whole run due since %s, want since %s", due, at(30))
	}
}
