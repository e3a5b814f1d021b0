package guard

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	r := NewRates(2, 5)
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	count := func(name string) (n int) {
		for ; n < 100; n++ {
			if _, ok := r.Take(name, now); !ok {
				return n
			}
		}
		return n
	}
	if n := count("a"); n != 5 {
		t.Errorf("%d at once, want the burst of 5", n)
	}
	for range 3 { // what is refused costs nothing
		if wait, ok := r.Take("a", now); ok || wait != 500*time.Millisecond {
			t.Errorf("then: %v, wait %s, want half a second", ok, wait)
		}
	}
	if n := count("b"); n != 5 {
		t.Errorf("another caller: %d, want 5", n)
	}
	now = now.Add(3 * time.Second / 2)
	if n := count("a"); n != 3 {
		t.Errorf("after a second and a half: %d, want 3", n)
	}
	now = now.Add(time.Hour)
	if n := count("a"); n != 5 {
		t.Errorf("after an hour: %d, want the burst of 5", n)
	}
	now = now.Add(-2 * time.Hour) // the clock is set back
	if n := count("a"); n > 5 {
		t.Errorf("after the clock was set back: %d", n)
	}
	if _, ok := NewRates(0, 0).Take("a", now); !ok {
		t.Error("no bound refuses")
	}
}

// Callers come and go; what is kept of them does not grow.
func TestRatesForget(t *testing.T) {
	r := NewRates(1, 1)
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	for i := range 10 * maxRates {
		r.Take(fmt.Sprint("caller ", i), now)
		now = now.Add(time.Second)
	}
	if len(r.by) > maxRates {
		t.Errorf("%d callers are kept", len(r.by))
	}
}

func TestFailures(t *testing.T) {
	f := NewFailures(6)
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	one := netip.MustParseAddr("192.0.2.1")
	for i := range 6 {
		if _, ok := f.Take(one, now); !ok {
			t.Fatalf("failure %d is one too many", i+1)
		}
	}
	if wait, ok := f.Take(one, now); ok || wait != 10*time.Second {
		t.Errorf("the seventh: %v, wait %s, want ten seconds", ok, wait)
	}
	if _, ok := f.Take(one, now.Add(10*time.Second)); !ok {
		t.Error("after ten seconds: refused")
	}
	for a, b := range map[string]string{
		"192.0.2.1": "::ffff:192.0.2.1", "2001:db8:1:2::1": "2001:db8:1:2:ffff::9", "fe80::1%eth0": "fe80::2%eth1",
	} {
		if f.bucket(netip.MustParseAddr(a)) != f.bucket(netip.MustParseAddr(b)) {
			t.Errorf("%s and %s are counted apart", a, b)
		}
	}
	// Others are let fail: all but the few that share the bucket.
	shared := 0
	for i := range 10_000 {
		if addr := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}); f.bucket(addr) == f.bucket(one) {
			shared++
		}
	}
	if shared > 10_000*4/buckets {
		t.Errorf("%d of 10,000 addresses share a bucket", shared)
	}
	f.Take(netip.Addr{}, now) // an address that could not be told
	if _, ok := NewFailures(0).Take(one, now); !ok {
		t.Error("no bound refuses")
	}
}

func TestRatesTogether(t *testing.T) {
	r, f := NewRates(1, 50), NewFailures(50)
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	var wg sync.WaitGroup
	taken := make(chan bool, 400)
	for range 4 {
		wg.Go(func() {
			for range 50 {
				_, ok := r.Take("a", now)
				taken <- ok
				_, ok = f.Take(netip.Addr{}, now)
				taken <- ok
			}
		})
	}
	wg.Wait()
	close(taken)
	n := 0
	for ok := range taken {
		if ok {
			n++
		}
	}
	if n != 100 {
		t.Errorf("%d of 400 were let through, want 50 of each", n)
	}
}
