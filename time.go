package memd

import (
	"bytes"
	"fmt"
	"time"
)

// TimeLayout is the one text form of a time, on the wire and in SQLite: UTC,
// milliseconds, fixed width, so that text order is time order.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is an instant in UTC with millisecond precision. The zero value means
// absent and is null in JSON.
type Time struct{ time.Time }

// At converts t, dropping its zone and what is finer than a millisecond.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Millisecond)}
}

// FirstYear is that of the earliest time that is kept.
const FirstYear = 1970

// ParseTime reads an RFC 3339 time with any offset, between the years 1970
// and 9999.
func ParseTime(s string) (Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return Time{}, fmt.Errorf("%.40q is not an RFC 3339 time such as 2026-11-30T02:00:00.000Z", s)
	}
	if y := t.UTC().Year(); y < FirstYear || y > 9999 {
		return Time{}, fmt.Errorf("the year %d is outside 1970..9999", y)
	}
	return At(t), nil
}

// String is the fixed text form, "" for the zero time.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(TimeLayout)
}

// MarshalJSON writes the fixed text form, null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads an RFC 3339 string; null leaves the zero time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*t = Time{}
		return nil
	}
	if len(b) < 2 || b[0] != '"' {
		return fmt.Errorf("a time is a string such as %q", TimeLayout)
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// MarshalText writes the fixed text form.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads an RFC 3339 time.
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}
