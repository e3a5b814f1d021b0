package configs

import (
	"time"
	_ "time/tzdata" // a zone that is configured is known wherever memd runs
)

// Dates says whether relative dates in what is remembered are made absolute. Package
// guard/dates has what that is.
type Dates struct {
	Absolute bool `yaml:"absolute"`
	// TimeZone is the name of a zone of the IANA database, or [ZoneLocal]. A text is
	// of the day on which it is written there.
	TimeZone string `yaml:"time_zone"`
}

// ZoneLocal is the time zone of the process.
const ZoneLocal = "local"

// DefaultDates returns what holds where nothing else is said.
func DefaultDates() Dates { return Dates{Absolute: true, TimeZone: ZoneLocal} }

// Zone is the zone that TimeZone names; UTC where it names none, which no
// configuration that was loaded does.
func (d Dates) Zone() *time.Location {
	zone, err := d.zone()
	if err != nil {
		return time.UTC
	}
	return zone
}

func (d Dates) zone() (*time.Location, error) {
	if d.TimeZone == ZoneLocal {
		return time.Local, nil
	}
	return time.LoadLocation(d.TimeZone)
}

func (c Config) datesProblem() *problem {
	if _, err := c.Dates.zone(); err != nil || c.Dates.TimeZone == "" {
		return problemf("dates.time_zone", "%.80q is neither local nor a time zone such as UTC, Europe/Berlin or Asia/Shanghai", c.Dates.TimeZone)
	}
	return nil
}
