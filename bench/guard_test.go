//go:build unix

package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
)

// BenchmarkGuardedREST compares POST /v1/remember with the guards of the defaults
// and with none, each acknowledged when durable: two daemons in this process, and a
// client that asks now the one, now the other. It reports the median of each in µs,
// and their ratio.
func BenchmarkGuardedREST(b *testing.B) {
	for _, texts := range []struct {
		name string
		make func(n int) memd.Remember
	}{
		{"words=60", ordinary()},
		{"words=60,warned", spoken()},
		{"chars=12000,raw=64KiB", large()},
	} {
		b.Run(texts.name, func(b *testing.B) {
			guarded, plain := guardedDaemon(b, configs.DefaultGuard()), guardedDaemon(b, configs.Guard{})
			var with, without []float64
			n := 0
			timed := func(d *Daemon, req memd.Remember) float64 {
				began := time.Now()
				if _, err := d.Client.Remember(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				return float64(time.Since(began).Nanoseconds()) / 1e3
			}
			for b.Loop() {
				request := texts.make(n)
				if n%2 == 0 {
					with = append(with, timed(guarded, request))
					without = append(without, timed(plain, request))
				} else {
					without = append(without, timed(plain, request))
					with = append(with, timed(guarded, request))
				}
				n++
			}
			b.ReportMetric(0, "ns/op") // a sum of two different things
			b.ReportMetric(median(with), "guarded-µs")
			b.ReportMetric(median(without), "plain-µs")
			b.ReportMetric(median(with)/median(without), "ratio")
		})
	}
}

// guardedDaemon serves a new store under a guard, warmed up.
func guardedDaemon(b *testing.B, g configs.Guard) *Daemon {
	b.Helper()
	d, err := serve(b.TempDir(), Room(1_000_000), nil, g)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.Error(err)
		}
	})
	for n := range 20 {
		if _, err := d.Client.Remember(b.Context(), memd.Remember{Summary: fmt.Sprint("warm ", n)}); err != nil {
			b.Fatal(err)
		}
	}
	return d
}

// numbered makes the n-th of some texts one of its own.
func numbered(texts []string, n int) string { return fmt.Sprintf("%s %d", texts[n%len(texts)], n) }

// ordinary are memories of about 60 words.
func ordinary() func(n int) memd.Remember {
	rows := makeRows(writeRows)
	return func(n int) memd.Remember {
		return memd.Remember{Summary: numbered(rows, n), Tags: []string{"ci", "deploy"}, Source: "docs/ci.md#deploy", SessionID: "s1", Agent: "an-agent"}
	}
}

// spoken are as long, and speak of what the rules look for.
func spoken() func(n int) memd.Remember {
	rows := makeRows(writeRows)
	const said = " The API key of the gateway and the token of the bot are in the vault; the password is rotated weekly, src/auth/token.go:342 checks the secret, see commit 8f14e45fceea167a5a36dedd4bea2543f2f5b0d6."
	return func(n int) memd.Remember {
		text := numbered(rows, n)
		return memd.Remember{Summary: text[len(text)/2:] + said}
	}
}

// large fill what the long tier takes.
func large() func(n int) memd.Remember {
	rows := makeRows(writeRows)
	text := strings.Join(rows[:400], "\n")
	return func(n int) memd.Remember {
		return memd.Remember{Summary: numbered([]string{text[:11_900]}, n), RawContent: text[n%1000 : n%1000+64<<10-10]}
	}
}
