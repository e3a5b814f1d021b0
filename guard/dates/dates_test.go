package dates

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// holds are what is so of every text.
func holds(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, at time.Time) {
	t.Helper()
	got := Absolute(text, at)
	if again := Absolute(got, at); again != got {
		t.Errorf("%q\n once %q\ntwice %q", text, got, again)
	}
	if Bare(got) != Bare(text) {
		t.Errorf("the words changed: %q to %q", text, got)
	}
	if Stripped(got) != Stripped(text) {
		t.Errorf("%q stripped is %q, %q is %q", got, Stripped(got), text, Stripped(text))
	}
	if c := Carried(text, got); c != got {
		t.Errorf("%q\n   carried %q\n to %q", text, c, got)
	}
	if n := strings.Count(got, "20") - strings.Count(text, "20"); n > 2*maxSpans {
		t.Errorf("%d dates", n)
	}
	if utf8.ValidString(text) && !utf8.ValidString(got) {
		t.Errorf("%q is no text: %q", text, got)
	}
}

// Whatever words stand together, what is made of them is made once.
func TestAgainIsTheSame(t *testing.T) {
	words := []string{
		"tomorrow", "Today", "yesterday's", "the", "day", "after", "before", "Thursday", "on", "Friday", "next", "last", "this", "week", "month", "every",
		"in", "three", "days", "ago", "2", "weeks", "from", "now", "(2026-12-03)", "（2026-12）", "(2026-12-07 to 2026-12-13)", "2026-12-03", "Dec", "3", "4th", "morning",
		"was", "will", "of", "Mon", "to", ",", ".", "\n", "\n\n", "- ", "`", "```\n", "> ", "<!--", "-->", "(", ")", "\"", "'", "’s", "=", "https://a.b/today",
		"下", "上", "周", "四", "日", "天", "明天", "后天", "昨天", "三", "十", "个", "月", "年", "后", "前", "本周五", "每", "了", "将", "，", "。", "（", "）", "星期", "末", "上午",
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 14).Draw(t, "words") {
			b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
			b.WriteString(rapid.SampledFrom([]string{" ", "", " ", "  "}).Draw(t, "between"))
		}
		holds(t, b.String(), monday.AddDate(0, 0, rapid.IntRange(0, 400).Draw(t, "day")))
	})
}

func FuzzAbsolute(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(Bare(text), int64(0))
		f.Add(text, int64(5))
	}
	for _, unit := range hostile() {
		f.Add(strings.Repeat(unit, 5), int64(3))
	}
	f.Fuzz(func(t *testing.T, text string, days int64) {
		holds(t, text, monday.AddDate(0, 0, int(days%10_000)))
	})
}

// The day is that of the zone in which a text is written, whatever its clocks do.
func TestZones(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	for _, c := range []struct{ at, zone, text, want string }{
		{"2026-11-30T23:30:00Z", "UTC", "tomorrow", "tomorrow (2026-12-01)"},
		{"2026-11-30T23:30:00Z", "Asia/Shanghai", "tomorrow", "tomorrow (2026-12-02)"},
		{"2026-12-01T03:30:00Z", "America/New_York", "yesterday", "yesterday (2026-11-29)"},
		{"2026-03-07T23:00:00-05:00", "America/New_York", "tomorrow", "tomorrow (2026-03-08)"}, // 23 hours long
		{"2026-03-09T00:30:00-04:00", "America/New_York", "yesterday", "yesterday (2026-03-08)"},
		{"2026-10-31T23:30:00-04:00", "America/New_York", "in two days", "in two days (2026-11-02)"}, // over one of 25
		{"2026-11-02T00:30:00-05:00", "America/New_York", "two days ago", "two days ago (2026-10-31)"},
		{"2026-09-05T23:30:00-04:00", "America/Santiago", "tomorrow", "tomorrow (2026-09-06)"},                         // begins at one o'clock
		{"2011-12-29T12:00:00-10:00", "Pacific/Apia", "the day after tomorrow", "the day after tomorrow (2011-12-31)"}, // the 30th was left out there, not in the calendar
		{"2026-03-31T12:00:00Z", "UTC", "last month, next month", "last month (2026-02), next month (2026-04)"},
		{"2026-01-31T12:00:00Z", "UTC", "in one month", "in one month (2026-02)"},
		{"2028-02-29T12:00:00Z", "UTC", "last year, next year", "last year (2027), next year (2029)"},
		{"2026-12-31T12:00:00Z", "UTC", "next week", "next week (2027-01-04 to 2027-01-10)"},
		{"2026-12-06T12:00:00Z", "UTC", "this week; tomorrow", "this week (2026-11-30 to 2026-12-06); tomorrow (2026-12-07)"},
		{"2026-12-06T12:00:00Z", "UTC", "下周一", "下周一（2026-12-07）"},
		{"2026-12-06T12:00:00Z", "UTC", "本周日", "本周日（2026-12-06）"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := Absolute(c.text, at.In(zone(c.zone))); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.at, c.zone, got, c.want)
		}
	}
}

// Which day a weekday is, written on each day of a week from Monday, 2026-11-30, on;
// "-" where it may be more than one.
func TestWeekdays(t *testing.T) {
	for text, want := range map[string]string{
		"Ship on Thursday":       "12-03 12-03 12-03 - 12-10 12-10 12-10",
		"We shipped on Thursday": "11-26 11-26 11-26 - 12-03 12-03 12-03",
		"this Thursday":          "12-03 12-03 12-03 12-03 - - -",
		"next Thursday":          "12-10 12-10 12-10 12-10 12-10 12-10 12-10",
		"last Thursday":          "11-26 11-26 11-26 11-26 - - -",
		"red since Thursday":     "11-26 11-26 11-26 - 12-03 12-03 12-03",
		"周四上线":                   "12-03 12-03 12-03 - 12-10 12-10 12-10",
		"周四上线了":                  "11-26 11-26 11-26 - 12-03 12-03 12-03",
		"本周四":                    "12-03 12-03 12-03 12-03 12-03 12-03 12-03",
		"下周四":                    "12-10 12-10 12-10 12-10 12-10 12-10 12-10",
		"上周四":                    "11-26 11-26 11-26 11-26 11-26 11-26 11-26",
		"Thursday last week":     "11-26 11-26 11-26 11-26 11-26 11-26 11-26",
	} {
		var days []string
		for d := range 7 {
			got := Absolute(text, monday.AddDate(0, 0, d))
			_, day, found := strings.Cut(got, "2026-")
			if !found {
				days = append(days, "-")
				continue
			}
			days = append(days, day[:len("12-03")])
		}
		if got := strings.Join(days, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// The library is held against the calendar of the standard library, for every phrase
// that it gets, over days that include ends of months and a leap year.
func TestLibrary(t *testing.T) {
	for from := time.Date(2027, 12, 1, 12, 0, 0, 0, time.UTC); from.Year() < 2029; from = from.AddDate(0, 0, 1) {
		for _, n := range []int{-999, -400, -31, -12, -7, -1, 0, 1, 2, 3, 7, 12, 31, 366, 999} {
			y, m, d := told(count(n, "day"), from).Date()
			if wy, wm, wd := from.AddDate(0, 0, n).Date(); y != wy || m != wm || d != wd {
				t.Fatalf("%d days from %s: %d-%d-%d", n, from, y, m, d)
			}
			y, m, d = told(count(n, "week"), from).Date()
			if wy, wm, wd := from.AddDate(0, 0, 7*n).Date(); y != wy || m != wm || d != wd {
				t.Fatalf("%d weeks from %s: %d-%d-%d", n, from, y, m, d)
			}
			middle := time.Date(from.Year(), from.Month(), 15, 12, 0, 0, 0, time.UTC)
			y, m, _ = told(count(n, "month"), middle).Date()
			if wy, wm, _ := middle.AddDate(0, n, 0).Date(); y != wy || m != wm {
				t.Fatalf("%d months from %s: %d-%d", n, from, y, m)
			}
			if y, wy := told(count(n, "year"), middle).Year(), middle.Year()+n; y != wy {
				t.Fatalf("%d years from %s: %d", n, from, y)
			}
		}
		for wd := time.Sunday; wd <= time.Saturday; wd++ {
			name := strings.ToLower(wd.String())
			next, last := told("next "+name, from), told("last "+name, from)
			if next.Weekday() != wd || last.Weekday() != wd {
				t.Fatalf("%s from %s: %s, %s", name, from, next, last)
			}
			noon := from.Add(-12 * time.Hour)
			if n := next.Sub(noon).Hours() / 24; n < 1 || n > 7 {
				t.Fatalf("next %s from %s: %s", name, from, next)
			}
			if n := noon.Sub(last).Hours() / 24; n < 1 || n > 7 {
				t.Fatalf("last %s from %s: %s", name, from, last)
			}
		}
	}
	if at := told("no phrase", monday); !at.IsZero() && !at.Equal(monday) {
		t.Errorf("no phrase: %s", at)
	}
}

// A text gets no more dates than a memory has use for.
func TestNoMoreThan(t *testing.T) {
	got := Absolute(strings.Repeat("tomorrow. ", 500), monday)
	if n := strings.Count(got, "(2026-12-01)"); n != maxSpans {
		t.Errorf("%d dates", n)
	}
	if again := Absolute(got, monday); again != got {
		t.Error("again gives more")
	}
}

// What a person writes beside a word is theirs, and what they change is another text.
func TestCarried(t *testing.T) {
	for _, c := range []struct{ text, from, want string }{
		{"Ship on Thursday.", "Ship on Thursday (2026-12-03).", "Ship on Thursday (2026-12-03)."},
		{"Ship on Thursday (2026-12-10).", "Ship on Thursday (2026-12-03).", "Ship on Thursday (2026-12-10)."},
		{"Ship on Friday.", "Ship on Thursday (2026-12-03).", "Ship on Friday."},
		{"Ship on Thursday, review tomorrow.", "Ship on Thursday (2026-12-03), review tomorrow (2026-12-01).", "Ship on Thursday (2026-12-03), review tomorrow (2026-12-01)."},
		{"Ship on Thursday (2026-12-03), review tomorrow.", "Ship on Thursday (2026-12-03), review tomorrow (2026-12-01).", "Ship on Thursday (2026-12-03), review tomorrow (2026-12-01)."},
		{"Ship on\n Thursday.", "Ship on Thursday (2026-12-03).", "Ship on\n Thursday (2026-12-03)."},
		{"Ship on Thursday.", "Ship on Thursday.", "Ship on Thursday."},
		{"The release was big.", "The release (2026-12-03) was big.", "The release was big."},
		{"下周四上线", "下周四（2026-12-10）上线", "下周四（2026-12-10）上线"},
	} {
		if got := Carried(c.text, c.from); got != c.want {
			t.Errorf("%q from %q: %q, want %q", c.text, c.from, got, c.want)
		}
	}
	if got := Stripped("The release (2026-12-03) is on Thursday (2026-12-03)."); got != "The release (2026-12-03) is on Thursday." {
		t.Error(got)
	}
}
