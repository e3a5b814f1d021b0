package guard

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxRates is how many callers Rates remembers before it looks for those that
// it may forget.
const maxRates = 1024

// Rates bounds how often each caller may ask. It is safe for concurrent use.
type Rates struct {
	perSecond rate.Limit
	burst     int

	mu sync.Mutex
	by map[string]*rate.Limiter
}

// NewRates lets each caller ask perSecond times a second in the long run, and
// burst times at once before that. A perSecond of 0 bounds nothing.
func NewRates(perSecond, burst int) *Rates {
	return &Rates{perSecond: rate.Limit(perSecond), burst: burst, by: map[string]*rate.Limiter{}}
}

// Take counts one request of the caller of that name at the time now. Where that
// is one too many it counts nothing, and says how long to wait.
func (r *Rates) Take(name string, now time.Time) (wait time.Duration, ok bool) {
	if r.perSecond == 0 {
		return 0, true
	}
	return take(r.of(name, now), now)
}

// of returns a caller's limiter. One that is full again is as good as a new
// one, so that only callers who asked lately are kept.
func (r *Rates) of(name string, now time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.by[name]; ok {
		return l
	}
	if len(r.by) >= maxRates {
		for other, l := range r.by {
			if l.TokensAt(now) >= float64(r.burst) {
				delete(r.by, other)
			}
		}
	}
	l := rate.NewLimiter(r.perSecond, r.burst)
	r.by[name] = l
	return l
}

// take takes a token of l, unless it would have to wait for it.
func take(l *rate.Limiter, now time.Time) (wait time.Duration, ok bool) {
	taken := l.ReserveN(now, 1)
	if wait = taken.DelayFrom(now); wait == 0 {
		return 0, true
	}
	taken.CancelAt(now)
	return wait, false
}

// buckets is how many limiters all addresses share.
const buckets = 512

// Failures bounds the failed authentications of each remote address. Anybody
// can come from many addresses, so it holds a fixed number of limiters, and
// addresses share them by a hash that nobody outside can foresee. It is safe
// for concurrent use.
type Failures struct {
	seed maphash.Seed
	by   [buckets]*rate.Limiter // nil: none is bounded
}

// NewFailures lets each address fail perMinute times a minute, and as many
// times at once before that. 0 bounds nothing.
func NewFailures(perMinute int) *Failures {
	f := &Failures{seed: maphash.MakeSeed()}
	if perMinute == 0 {
		return f
	}
	for i := range f.by {
		f.by[i] = rate.NewLimiter(rate.Limit(perMinute)/60, perMinute)
	}
	return f
}

// Take counts one failure of a remote address at the time now. Where that is
// one too many it counts nothing, and says how long to wait.
func (f *Failures) Take(addr netip.Addr, now time.Time) (wait time.Duration, ok bool) {
	l := f.by[f.bucket(addr)]
	if l == nil {
		return 0, true
	}
	return take(l, now)
}

// bucket is the place of an address: of IPv6 that of its /64, the least that a
// network gives to one customer (RFC 6177).
func (f *Failures) bucket(addr netip.Addr) int {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if site, err := addr.Prefix(64); err == nil {
			addr = site.Addr()
		}
	}
	return int(maphash.Comparable(f.seed, addr) % buckets)
}
