package personal

import (
	"strings"
	"testing"
	"time"
)

// hostile are what a text may be full of that a careless scanner reads again
// from each place on.
func hostile() []string {
	return []string{"a@", "a@b.co/", "a@b.co ", "@", "1 ", "1", "12-", "(010) 1234-5678 ", "(12)", "4539148803436467 ", "4539148803436467", "13812345678 ",
		"138 1234 5678", "DE", "DE62", "DE62370400440532013777 ", "ssh a@b.co ", "ssh -p 1 a@b.co ", "卡号", "+86 138\u200b1234 5678", "\u200b", "110105194912310021", "card ", "1(1)1", "+1"}
}

// Four times the length takes about four times the time, whatever a text is full
// of; by the square it would be sixteen.
func TestScanIsLinear(t *testing.T) {
	const small, large, most, tries = 16 << 10, 64 << 10, 10, 8
	timeOf := func(unit string, n, times int) time.Duration {
		text := strings.Repeat(unit, n/len(unit))
		least := time.Duration(1 << 62)
		for range times {
			began := time.Now()
			Scan(text)
			least = min(least, time.Since(began))
		}
		return least
	}
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
