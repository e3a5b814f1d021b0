// Package schedule tells when what is done by the clock is due again: a pure
// function of the schedule, the last success and the time. Whoever keeps the
// last success where a restart finds it, and asks often, misses nothing that a
// sleep, a restart or a jump of the clock went over, and does it once.
package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a parsed schedule. The zero one is never due.
type Schedule struct {
	times   cron.Schedule
	elapsed bool // counts time that passed, not hours of the day
}

// Least is the shortest that `@every` may name.
const Least = time.Minute

// form admits what a schedule is made of, and keeps out the TZ= prefixes that
// the parser (v3.0.1) does not survive.
var form = regexp.MustCompile(`^[0-9A-Za-z*/,?. @-]+$`)

// Parse reads the five fields of cron, or @daily and its like, or @every and a
// duration. The error says what is wrong without the text.
func Parse(text string) (s Schedule, err error) {
	defer func() {
		if recover() != nil { // the parser is foreign code fed with a foreign text
			s, err = Schedule{}, errors.New("cannot be read")
		}
	}()
	if text = strings.TrimSpace(text); !form.MatchString(text) {
		return Schedule{}, errors.New("is no schedule of five fields such as 0 3 * * 0")
	}
	s.times, err = cron.ParseStandard(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("is no schedule of five fields such as 0 3 * * 0: %w", err)
	}
	switch times := s.times.(type) {
	case *cron.SpecSchedule:
		const every = 1 << 63 // how the parser marks a field of "*"
		s.elapsed = times.Hour&every != 0
	case cron.ConstantDelaySchedule:
		if s.elapsed = true; times.Delay < Least {
			return Schedule{}, fmt.Errorf("comes more often than every %s", Least)
		}
	}
	leap := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	if s.times.Next(leap).IsZero() {
		return Schedule{}, errors.New("names a day that never comes")
	}
	return s, nil
}

// Off reports whether nothing is ever due.
func (s Schedule) Off() bool { return s.times == nil }

// setBack is how far behind the last success a clock must read to count as set
// back: a smaller step leaves the schedule as it was.
const setBack = time.Hour

// Due is from when on the next turn is due, given the last success (zero for
// none) and the time now, whose zone is the schedule's. It is due now where
// there was no success yet, or where the clock was set back behind it, for then
// nothing tells how long that is ago.
//
// Hours of the day are those of the clock on the wall: a time that the change
// to summer time leaves out is that of the change, one that comes twice is the
// first. A schedule of every hour goes by the time that passes. The schedule
// must not be Off.
func (s Schedule) Due(last, now time.Time) time.Time {
	if last.IsZero() || last.Sub(now) > setBack {
		return now
	}
	last = last.In(now.Location())
	if s.elapsed {
		return s.times.Next(last)
	}
	for wall := onWall(last); ; {
		if wall = s.times.Next(wall); wall.IsZero() {
			return last.AddDate(4, 0, 0) // the parser looks five years ahead
		}
		if at := instant(wall, now.Location()); at.After(last) {
			return at
		}
	}
}

// onWall is what the clock on the wall shows at t, as if it were UTC.
func onWall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instant is when the clock on the wall of a zone shows wall for the first
// time, or steps over it.
func instant(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	begin, end := t.ZoneBounds()
	switch shown := onWall(t); {
	case shown.Before(wall):
		return end
	case shown.After(wall):
		return begin
	case begin.IsZero():
		return t
	}
	_, after := begin.Zone()
	_, before := begin.Add(-1).Zone()
	first := t.Add(time.Duration(after-before) * time.Second)
	if before > after && first.Before(begin) {
		return first
	}
	return t
}
