package schedule_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the test knows its zones wherever it runs

	"memd/internal/schedule"
)

func parse(t testing.TB, text string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

const layout = "2006-01-02 15:04:05 -0700"

func at(t testing.TB, text string, z *time.Location) time.Time {
	t.Helper()
	when, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return when.In(z)
}

func TestParse(t *testing.T) {
	for _, text := range []string{"0 3 * * 0", "*/15 * * * *", "30 2 * * mon-fri", " 0 0 29 2 * ", "@daily", "@every 90m", "0 3 ? * SUN"} {
		if parse(t, text).Off() {
			t.Errorf("%q is off", text)
		}
	}
	for _, text := range []string{
		"", "   ", "0 3 * *", "0 3 * * * *", "61 * * * *", "* 24 * * *", "x", "0 3 * * 7", ", * * * *", "*/0 * * * *",
		"TZ=UTC", "TZ=UTC 0 3 * * *", "CRON_TZ=x", "@", "@never", "@every", "@every 5s", "@every -1h", "0 0 30 2 *", "0\t3 * * *\x00",
	} {
		if _, err := schedule.Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: an error of several lines: %v", text, err)
		}
	}
	if !(schedule.Schedule{}).Off() {
		t.Error("the zero schedule is not off")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"0 3 * * 0", "@every 1h", "TZ=UTC", "1-5/2,7 * * jan ?"} {
		f.Add(text)
	}
	last := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schedule.Parse(text)
		if err != nil {
			return
		}
		if due := s.Due(last, last); !due.After(last) {
			t.Errorf("%q is due at %s, right after it was done", text, due)
		}
	})
}

func TestDue(t *testing.T) {
	berlin, howe := zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe")
	for _, c := range []struct {
		name, text      string
		zone            *time.Location
		last, now, want string // no want: now
	}{
		{"the same day", "30 2 * * *", time.UTC, "2026-11-30 01:00:00 +0000", "2026-11-30 01:00:00 +0000", "2026-11-30 02:30:00 +0000"},
		{"done on the minute", "30 2 * * *", time.UTC, "2026-11-30 02:30:00 +0000", "2026-11-30 02:30:01 +0000", "2026-12-01 02:30:00 +0000"},
		{"missed: the first of those missed", "30 2 * * *", time.UTC, "2026-11-01 02:30:09 +0000", "2026-11-30 09:00:00 +0000", "2026-11-02 02:30:00 +0000"},
		{"set back a little", "30 2 * * *", time.UTC, "2026-11-30 02:30:05 +0000", "2026-11-30 02:29:50 +0000", "2026-12-01 02:30:00 +0000"},
		{"set back far", "30 2 * * *", time.UTC, "2036-01-01 00:00:00 +0000", "2026-11-30 02:29:50 +0000", ""},
		{"a leap day", "0 0 29 2 *", time.UTC, "2024-02-29 00:00:01 +0000", "2026-11-30 00:00:00 +0000", "2028-02-29 00:00:00 +0000"},
		{"no leap day within five years", "0 0 29 2 *", time.UTC, "2096-03-01 00:00:00 +0000", "2096-03-01 00:00:00 +0000", "2100-03-01 00:00:00 +0000"},
		{"since", "@every 90m", time.UTC, "2026-11-30 01:00:00 +0000", "2026-11-30 01:10:00 +0000", "2026-11-30 02:30:00 +0000"},

		// 2026-03-29: two o'clock is three.
		{"left out", "30 2 * * *", berlin, "2026-03-28 02:30:00 +0100", "2026-03-29 01:00:00 +0100", "2026-03-29 03:00:00 +0200"},
		{"left out and done", "30 2 * * *", berlin, "2026-03-29 03:00:00 +0200", "2026-03-29 03:00:00 +0200", "2026-03-30 02:30:00 +0200"},
		{"two that fall together", "0 2,3 * * *", berlin, "2026-03-29 03:00:00 +0200", "2026-03-29 03:00:00 +0200", "2026-03-30 02:00:00 +0200"},
		{"hourly over it", "0 * * * *", berlin, "2026-03-29 01:00:00 +0100", "2026-03-29 01:00:00 +0100", "2026-03-29 03:00:00 +0200"},
		// 2026-10-25: three o'clock is two again.
		{"twice: the first", "30 2 * * *", berlin, "2026-10-24 02:30:00 +0200", "2026-10-25 00:00:00 +0200", "2026-10-25 02:30:00 +0200"},
		{"twice: not the second", "30 2 * * *", berlin, "2026-10-25 02:30:00 +0200", "2026-10-25 02:10:00 +0100", "2026-10-26 02:30:00 +0100"},
		{"hourly over it again", "0 * * * *", berlin, "2026-10-25 02:00:00 +0200", "2026-10-25 02:00:00 +0200", "2026-10-25 02:00:00 +0100"},
		// 2026-04-05: two o'clock is half past one again.
		{"half an hour twice", "45 1 * * *", howe, "2026-04-04 01:45:00 +1100", "2026-04-05 00:00:00 +1100", "2026-04-05 01:45:00 +1100"},
		{"half an hour left out", "15 2 * * *", howe, "2026-10-03 02:15:00 +1030", "2026-10-04 00:00:00 +1030", "2026-10-04 02:30:00 +1100"},
	} {
		now := at(t, c.now, c.zone)
		want := now
		if c.want != "" {
			want = at(t, c.want, c.zone)
		}
		if got := parse(t, c.text).Due(at(t, c.last, c.zone), now); !got.Equal(want) {
			t.Errorf("%s: due at %s, want %s", c.name, got.Format(layout), want.Format(layout))
		}
	}
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	if got := parse(t, "@yearly").Due(time.Time{}, now); !got.Equal(now) {
		t.Errorf("never done, yet due at %s", got)
	}
}

// Whatever hour it is done at, over two years with both changes of the clock, a
// daily schedule comes once on each day.
func TestDueOnceADay(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "America/New_York"} {
		z := zone(t, name)
		for _, text := range []string{"0 0 * * *", "30 2 * * *", "0 3 * * *", "59 23 * * *"} {
			s := parse(t, text)
			last := time.Date(2017, 1, 1, 23, 59, 30, 0, z) // Sao Paulo still changed its clock
			for day := range 730 {
				due := s.Due(last, last)
				want := time.Date(2017, 1, 2+day, 12, 0, 0, 0, z)
				if due.Format(time.DateOnly) != want.Format(time.DateOnly) {
					t.Fatalf("%s in %s: due on %s, want %s", text, name, due.Format(layout), want.Format(time.DateOnly))
				}
				last = due
			}
		}
	}
}
