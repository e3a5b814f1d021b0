package dates

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"memd/guard/secrets"
)

// The time that a text takes as a share of the scan for secrets that it goes through
// as well, in turns within one run: 4 KB without a word that may tell a date, of notes
// that hold several, and of nothing but such words.
func BenchmarkAgainstSecrets(b *testing.B) {
	s := secrets.New(secrets.Options{Key: []byte("k")})
	fill := func(text string) string { return strings.Repeat(text+"\n", 4096/len(text)+1)[:4096] }
	for _, c := range []struct{ name, text string }{
		{"without", fill("The gateway reads its routes from etcd and keeps them for a minute; a restart reads them anew.")},
		{"several", fill(strings.Repeat("The gateway reads its routes from etcd and keeps them for a while; a restart reads them anew. ", 9) + "We ship on Thursday, and the audit is next week.")},
		{"chinese", strings.Repeat("网关从配置中心读取路由，重启后重新读取。我们下周四上线，昨天完成了联调。", 40)[:4095]},
		{"nothing else", fill("We ship on Thursday, tomorrow, next week, in three days.")},
	} {
		s.Scan(c.text)
		b.Run(c.name, func(b *testing.B) {
			var ours, theirs time.Duration
			n := 0
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for b.Loop() {
				began := processor()
				Absolute(c.text, monday)
				middle := processor()
				s.Scan(c.text)
				ours += middle - began
				theirs += processor() - middle
				n++
			}
			b.ReportMetric(0, "ns/op") // a sum of two different things
			b.ReportMetric(float64(ours.Nanoseconds())/float64(n)/1e3, "dates-µs")
			b.ReportMetric(float64(theirs.Nanoseconds())/float64(n)/1e3, "secrets-µs")
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
		})
	}
}
