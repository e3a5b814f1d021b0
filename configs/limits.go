package configs

// Limits bound what callers may ask of the daemon. None of them concerns the
// unix socket's owner but Connections.
type Limits struct {
	Rate         int `yaml:"rate"`          // requests of one caller a second, in the long run; 0: unbounded
	Burst        int `yaml:"burst"`         // requests of one caller at once before that
	Requests     int `yaml:"requests"`      // requests that run at a time
	Connections  int `yaml:"connections"`   // open connections of one listener
	AuthFailures int `yaml:"auth_failures"` // failed authentications of one address a minute; 0: unbounded
}

// DefaultLimits are far beyond what agents ask: they stop a loop, not a crowd.
func DefaultLimits() Limits {
	return Limits{Rate: 20000, Burst: 20000, Requests: 128, Connections: 256, AuthFailures: 60}
}

// maxLimit bounds every limit: what is more bounds nothing.
const maxLimit = 1_000_000

func (c Config) limitsProblem() *problem {
	l := c.Limits
	for _, f := range fieldsOf(&l) {
		least := 1
		if f.key == "rate" || f.key == "auth_failures" {
			least = 0
		}
		if n := int(f.value.Int()); n < least || n > maxLimit {
			return problemf("limits."+f.key, "%d is not from %d to %d", n, least, maxLimit)
		}
	}
	return nil
}
