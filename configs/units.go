package configs

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// sizeForm splits a byte size into number and unit. It admits neither signs,
// exponents nor separators, which strconv would.
var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *([A-Za-z]*)$`)

// unitBytes returns how many bytes a unit stands for. Bare K, M and G are not
// among them: readers disagree on whether they mean 1000 or 1024.
func unitBytes(unit string) (float64, bool) {
	switch strings.ToLower(unit) {
	case "b":
		return 1, true
	case "kb":
		return 1e3, true
	case "mb":
		return 1e6, true
	case "gb":
		return 1e9, true
	case "tb":
		return 1e12, true
	case "kib":
		return 1 << 10, true
	case "mib":
		return 1 << 20, true
	case "gib":
		return 1 << 30, true
	case "tib":
		return 1 << 40, true
	default:
		return 0, false
	}
}

// parseSize reads a byte size: an integer, or a number with a unit, which is
// rounded to whole bytes.
func parseSize(text string) (int64, error) {
	parts := sizeForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%.40q is not a byte size such as 10485760, 9.9MiB or 10MB", text)
	}
	number, unit := parts[1], parts[2]
	if unit == "" {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%.40q is not a whole number of bytes, nor does it name a unit such as MiB", text)
		}
		return n, nil
	}
	factor, ok := unitBytes(unit)
	if !ok {
		return 0, fmt.Errorf("the unit of %.40q is none of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB", text)
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n*factor >= math.MaxInt64 {
		return 0, fmt.Errorf("%.40q is too large", text)
	}
	return int64(math.Round(n * factor)), nil
}

// parseDuration reads a duration of Go's form.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a duration such as 90s, 30m or 24h (a day is 24h)", text)
	}
	return d, nil
}

// formatDuration writes d as people write it: 720h where Go says 720h0m0s.
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
