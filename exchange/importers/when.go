package importers

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"memd"
)

// layouts are the forms of time beside RFC 3339. Without a zone they are UTC.
var layouts = [...]string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}

// Time reads a time as programs write it, zero where it is none, or before 1970.
func Time(s string) memd.Time {
	s = strings.TrimSpace(s)
	if len(s) > 40 {
		return memd.Time{}
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return unix(n)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return ordinary(t)
		}
	}
	return memd.Time{}
}

// Instant reads a time that is a string or a number of JSON.
func Instant(raw json.RawMessage) memd.Time {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return Time(s)
	}
	return Time(string(raw))
}

// unix reads a count from 1970: of seconds, or of a thousandth, a millionth or a
// billionth of one, whichever puts it nearest to our days. Years are none.
func unix(n float64) memd.Time {
	const soonest, latest = 1e8, 1e11 // 1973 and 5138, in seconds
	for n >= latest && n < 1e20 {
		n /= 1000
	}
	if !(n >= soonest && n < latest) {
		return memd.Time{}
	}
	return ordinary(time.UnixMilli(int64(n * 1000)))
}

func ordinary(t time.Time) memd.Time {
	if y := t.UTC().Year(); y < 1970 || y > 9999 {
		return memd.Time{}
	}
	return memd.At(t)
}
