package secrets

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile are what a text may be full of, in one line or in as many as it has,
// that a careless scanner reads again from each place on.
func hostile() map[string]string {
	return map[string]string{
		"assignments": "a=", "words": "key", "words and spaces": "key ", "words of passwords": "password=", "passwords": "password=Tiger#2024x ",
		"keys": "api_key=Kx82mmQ1lPz0q9w8e7r6t5 ", "keys and commas": "api_key=Kx82mmQ1lPz0q9w8e7r6t5,", "opened quotes": `password="`, "single quotes": "secret='",
		"quotes": `"`, "brackets": "[", "braces": "{", "parentheses": "(", "base64": "QUJDRGVm1", "base64 words": "cGFzc3dvcmQ9VGlnZXIjMjAyNHg= ",
		"letters": "A", "addresses": "https://bob:pa55w0rdx@h.io/x?a=b&", "schemes": "://", "data sources": "a:b@tcp(", "zero width": "\u200b", "zero width and letters": "a\u200b",
		"chinese": "中文字", "chinese words": "密码", "chinese assignments": "密码：", "lines": "\n", "joined lines": "abcdefg12abcdefg34abcdefg\\\n",
		"percent": "%41", "escapes": `\u0041`, "key blocks": "-----BEGIN PRIVATE KEY-----\n", "key blocks in headers": "A: ...-----BEGIN PRIVATE KEY-----\n",
		"jwt": "eyJhbGciOiJIUzI1NiJ9.", "tokens": github + " ", "tokens without end": "sk-abcdefghij1234567890abc-", "headers without end": "authorization=Kx82mmQ1lPz0q9w8e7r6t5",
		"marks": "[redacted:", "cookies": "cookie: session=", "commands": "curl -u bob:Kx82mmQ1lPz0q9 ", "is the password": " is the password", "at": "a@", "mail": "a@b.co/",
		"elements": "<password>", "elements with values": "<password>Tiger#2024x</password>", "rows": "| password | ", "columns": "password,", "entities": "&#65;", "entities in words": "p&#97;ssword:", "joined strings": `"a1b2c3"+`,
		"joined passwords": `password="a"+"b"+`, "set to": "set password to ", "logins": "login admin/", "broken utf-8": "\xff", "pgpass": ":5432:", "digits": "1 ", "cards": "4111111111111111 ",
		"indented values": "password:\n  ", "words of lines": "PASSWORD\n", "keys of vendors": "jfrog_api_key:", "chinese prose": "用户名 admin 密码 ",
	}
}

// timeOf is the least time of some scans of n bytes full of a unit.
func timeOf(s *Scanner, unit string, n, times int) time.Duration {
	text := strings.Repeat(unit, n/len(unit))
	least := time.Duration(1 << 62)
	for range times {
		began := time.Now()
		s.Scan(text)
		least = min(least, time.Since(began))
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
