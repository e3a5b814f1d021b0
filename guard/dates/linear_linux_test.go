package dates

import (
	"runtime"
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

// timeOf is the least time of some passes over n bytes full of a unit.
func timeOf(unit string, n, times int) time.Duration {
	text := strings.Repeat(unit, n/len(unit))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(1 << 62)
	for range times {
		began := processor()
		Absolute(text, monday)
		least = min(least, processor()-began)
	}
	return least
}

// A text of eight times the length takes about eight times as long, whatever it is
// full of; by the square it would be 64.
func TestAbsoluteIsLinear(t *testing.T) {
	const small, large, most, tries = 32 << 10, 256 << 10, 24, 8
	for name, unit := range hostile() {
		ratio := 0.0
		for times := 1; times <= tries; times++ {
			ratio = float64(timeOf(unit, large, times)) / float64(timeOf(unit, small, times+1))
			if ratio < most {
				break
			}
		}
		if ratio >= most {
			t.Errorf("%s: 256 KB take %.1f times as long as 32 KB", name, ratio)
		}
	}
}

// The time of the slowest hostile text of 64 KB.
func BenchmarkHostile(b *testing.B) {
	worst, slowest := "", time.Duration(0)
	for b.Loop() {
		worst, slowest = "", 0
		for name, unit := range hostile() {
			if took := timeOf(unit, 64<<10, 3); took > slowest {
				worst, slowest = name, took
			}
		}
	}
	b.Logf("slowest: %s", worst)
	b.ReportMetric(float64(slowest)/1e6, "ms/64KB")
}
