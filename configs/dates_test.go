package configs

import (
	"testing"
	"time"
)

// A zone is known by its name, from the file and from the environment, also where the
// machine has no list of zones.
func TestDatesZone(t *testing.T) {
	t.Setenv("ZONEINFO", t.TempDir())
	at := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text, env string
		want      int // the day there
	}{
		{"dates: {time_zone: Asia/Shanghai}", "", 1},
		{"dates: {time_zone: America/New_York}", "", 30},
		{"dates: {time_zone: America/New_York}", "MEMD_DATES_TIME_ZONE=Asia/Shanghai", 1},
		{"dates: {time_zone: UTC}", "", 30},
		{"", "", at.In(time.Local).Day()},
	} {
		l := load(t, Options{File: write(t, c.text), Env: home(t, c.env)})
		if got := at.In(l.Dates.Zone()).Day(); got != c.want || !l.Dates.Absolute {
			t.Errorf("%q %q: day %d of %+v, want %d", c.text, c.env, got, l.Dates, c.want)
		}
	}
	if l := load(t, Options{File: write(t, "dates: {absolute: false}"), Env: home(t)}); l.Dates.Absolute {
		t.Error("absolute: false is not heard")
	}
	if got := (Dates{TimeZone: "nowhere"}).Zone(); got != time.UTC {
		t.Errorf("no zone is %s", got)
	}
}
