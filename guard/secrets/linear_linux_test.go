package secrets

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processor is the time that this thread has had of a processor: what else runs
// on the machine is not in it.
func processor() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

// timeOf is the least time of some scans of n bytes full of a unit.
func timeOf(s *Scanner, unit string, n, times int) time.Duration {
	text := strings.Repeat(unit, n/len(unit))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	for range times {
		began := processor()
		s.Scan(text)
		least = min(least, processor()-began)
	}
	return least
}

// A text of four times the length takes about four times as long, whatever it is
// full of; by the square it would be sixteen. Work is not counted, as most of it
// is regexp's, so that what is compared are two times of one run, and only one
// that stays apart in many tries tells.
func TestScanIsLinear(t *testing.T) {
	const small, large, most, tries = 8 << 10, 32 << 10, 10, 8
	s := New(Options{Key: []byte("k")})
	s.Scan("compile")
	for name, unit := range hostile() {
		ratio := 0.0
		for times := 1; times <= tries; times++ {
			ratio = float64(timeOf(s, unit, large, times)) / float64(timeOf(s, unit, small, times+1))
			if ratio < most {
				break
			}
		}
		if ratio >= most {
			t.Errorf("%s: 32 KB take %.1f times as long as 8 KB", name, ratio)
		}
	}
}

// The time of 64 KB as a multiple of that of 16 KB, the largest of all hostile
// texts, and the time of the slowest.
func BenchmarkHostile(b *testing.B) {
	s := New(Options{Key: []byte("k")})
	s.Scan("compile")
	ratios, times := map[string]float64{}, map[string]time.Duration{}
	for b.Loop() {
		for name, unit := range hostile() {
			small, large := timeOf(s, unit, 16<<10, 3), timeOf(s, unit, 64<<10, 3)
			ratios[name], times[name] = float64(large)/float64(small), large
		}
	}
	worst := slices.MaxFunc(slices.Collect(maps.Keys(ratios)), func(a, b string) int { return cmp.Compare(ratios[a], ratios[b]) })
	slowest := slices.MaxFunc(slices.Collect(maps.Keys(times)), func(a, b string) int { return cmp.Compare(times[a], times[b]) })
	b.Logf("most by length: %s; slowest: %s", worst, slowest)
	b.ReportMetric(ratios[worst], "times")
	b.ReportMetric(float64(times[slowest])/1e6, "ms/64KB")
}
