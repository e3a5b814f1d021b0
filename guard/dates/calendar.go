package dates

import (
	"strconv"
	"strings"
	"time"

	"github.com/tj/go-naturaldate"
)

// calendar says which days phrases tell on the day of at.
type calendar struct {
	at    time.Time
	known map[phrase][2]string // what was asked before, for a text says tomorrow again and again
}

// dates are what ask says of a phrase.
func (c calendar) dates(p phrase) (first, last string) {
	if p.unit == none {
		return "", ""
	}
	both, ok := c.known[p]
	if !ok {
		both[0], both[1] = c.ask(p)
		c.known[p] = both
	}
	return both[0], both[1]
}

// ask are the day, month or year of a phrase, or the first and the last day of more
// than one; "" where it tells none.
func (c calendar) ask(p phrase) (first, last string) {
	y, m, d := c.at.Date()
	// Noon of that day where no clock is ever set, so that a day has 24 hours.
	today := time.Date(y, m, d, 12, 0, 0, 0, time.UTC)
	at, form := today, time.DateOnly
	switch p.unit {
	case day:
		at = told(count(p.n, "day"), today)
	case month: // from the middle, which every month has
		at, form = told(count(p.n, "month"), time.Date(y, m, 15, 12, 0, 0, 0, time.UTC)), "2006-01"
	case year:
		at, form = told(count(p.n, "year"), time.Date(y, m, 15, 12, 0, 0, 0, time.UTC)), "2006"
	case week, weekend, ofWeek:
		monday := mondayOf(told(count(p.n, "week"), today))
		from, to := monday, monday.AddDate(0, 0, 6)
		switch {
		case monday.IsZero():
			return "", ""
		case p.unit == weekend:
			from = monday.AddDate(0, 0, 5)
		case p.unit == ofWeek:
			return monday.AddDate(0, 0, weekNumber(p.weekday)).Format(form), ""
		}
		return from.Format(form), to.Format(form)
	default:
		at = weekday(p, today)
	}
	if at.IsZero() || at.Year() < 1000 || at.Year() > 9999 {
		return "", ""
	}
	return at.Format(form), ""
}

// weekday is the day that a weekday stands for, the zero time where it may be more
// than one: a weekday on that very day, the last Monday on a Friday.
func weekday(p phrase, today time.Time) time.Time {
	past, now := weekNumber(p.weekday) < weekNumber(today.Weekday()), p.weekday == today.Weekday()
	switch {
	case p.unit != within && p.unit != latest && now, p.unit == latest && past, p.unit == within && past:
		return time.Time{}
	case p.unit == within && now:
		return today
	case p.unit == behind, p.unit == latest:
		return told("last "+strings.ToLower(p.weekday.String()), today)
	}
	return told("next "+strings.ToLower(p.weekday.String()), today) // for the library, the first one to come
}

// count is the phrase for n units from today: in 3 days, 2 weeks ago.
func count(n int, unit string) string {
	switch {
	case n == 0:
		return "today"
	case n < 0:
		return strconv.Itoa(-n) + " " + unit + "s ago"
	}
	return "in " + strconv.Itoa(n) + " " + unit + "s"
}

// told is the time that the library makes of a phrase, the zero time for none.
func told(phrase string, from time.Time) (at time.Time) {
	defer func() {
		if recover() != nil { // it parses by panics of its own making
			at = time.Time{}
		}
	}()
	at, err := naturaldate.Parse(phrase, from, naturaldate.WithDirection(naturaldate.Future))
	if err != nil {
		return time.Time{}
	}
	return at
}

// mondayOf is the Monday of a day's week, as ISO 8601 has weeks; the zero time of that.
func mondayOf(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.AddDate(0, 0, -weekNumber(at.Weekday()))
}

// weekNumber is the place of a day in its week, from 0 for Monday.
func weekNumber(d time.Weekday) int { return (int(d) + 6) % 7 }
