package personal

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

// Four times the length takes about four times the time, whatever a text is full
// of; by the square it would be sixteen.
func TestScanIsLinear(t *testing.T) {
	const small, large, most, tries = 16 << 10, 64 << 10, 10, 8
	timeOf := func(unit string, n, times int) time.Duration {
		text := strings.Repeat(unit, n/len(unit))
		least := time.Duration(1 << 62)
		for range times {
			began := processor()
			Scan(text)
			least = min(least, processor()-began)
		}
		return least
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, unit := range hostile() {
		ratio := 0.0
		for times := 1; times <= tries; times++ {
			if ratio = float64(timeOf(unit, large, times)) / float64(timeOf(unit, small, times+1)); ratio < most {
				break
			}
		}
		if ratio >= most {
			t.Errorf("%q: 64 KB take %.1f times as long as 16 KB", unit, ratio)
		}
	}
}
