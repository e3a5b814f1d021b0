package segment

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchRows is about what the budget of one database holds of rows.
const benchRows = 10_000

// benchText is a row of 60 words whose frequencies fall as those of English
// do: the nth commonest of 20,000 words by about 1/n.
type benchText struct {
	text   []string
	labels string
}

func benchTexts() []benchText {
	rng := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(rng, 1.07, 2.7, 20_000)
	word := func() string { return spell(zipf.Uint64()) }
	texts := make([]benchText, benchRows)
	for i := range texts {
		words := make([]string, 60)
		for j := range words {
			words[j] = word()
		}
		texts[i] = benchText{
			text:   []string{strings.Join(words[:40], " "), strings.Join(words[40:50], " "), strings.Join(words[50:], " ")},
			labels: fmt.Sprintf("%s-%s %s feedback agent-%d", word(), word(), word(), i%7),
		}
	}
	return texts
}

// spell writes n as syllables, a word of 3 to 11 letters.
func spell(n uint64) string {
	b := []byte{'k'}
	for n += 5; n > 0; n /= 20 {
		b = append(b, "aeiou"[n%5], "bdgklmnprtvz"[n%12])
	}
	return string(b)
}

func benchRow(i int) Row {
	return Row{
		RID: int64(i), Namespace: "project:" + spell(uint64(i%20)), Chars: 300,
	}
}

func grow(texts []benchText) *Growing {
	g := NewGrowing()
	for i, t := range texts {
		g.Add(benchRow(i), t.text, t.labels)
	}
	return g
}

func BenchmarkAdd(b *testing.B) {
	texts := benchTexts()
	g, n := NewGrowing(), 0
	b.ReportAllocs()
	for b.Loop() {
		if n == benchRows { // as many rows as there are texts, at most
			g, n = NewGrowing(), 0
		}
		g.Add(benchRow(n), texts[n].text, texts[n].labels)
		n++
	}
}

func BenchmarkFreeze(b *testing.B) {
	g := grow(benchTexts())
	var f *Frozen
	b.ReportAllocs()
	for b.Loop() {
		f = g.Freeze()
	}
	b.ReportMetric(float64(len(g.terms)), "terms")
	b.ReportMetric(float64(g.Bytes()), "growing-bytes")
	b.ReportMetric(float64(f.Bytes()), "frozen-bytes")
}

func BenchmarkPostings(b *testing.B) {
	g := grow(benchTexts())
	f := g.Freeze()
	for _, nth := range []uint64{0, 30, 300, 3000} {
		term := spell(nth)
		for _, x := range []Index{g, f} {
			b.Run(fmt.Sprintf("%T/%d", x, x.DF(term)), func(b *testing.B) {
				sum, df := 0, x.DF(term)
				for b.Loop() {
					p := x.Postings(term)
					for row, text, labels, ok := p.Next(); ok; row, text, labels, ok = p.Next() {
						sum += row + text + labels
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(max(df, 1)), "ns/posting")
				b.ReportMetric(float64(len(x.Postings(term).data))/float64(max(df, 1)), "bytes/posting")
			})
		}
	}
}

func BenchmarkDF(b *testing.B) {
	g := grow(benchTexts())
	for _, x := range []Index{g, g.Freeze()} {
		b.Run(fmt.Sprintf("%T", x), func(b *testing.B) {
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				x.DF(spell(n % 4000))
			}
		})
	}
}
