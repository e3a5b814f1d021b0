package static

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

var benchText = flag.String("static.text", "", "measure with word vectors of this file in GloVe's text form, rather than random ones")

// benchTable is a table of 40,000 words x 100, and its file.
func benchTable(b *testing.B) (path string, words []string) {
	b.Helper()
	from := *benchText
	rng := rand.New(rand.NewPCG(1, 1))
	if from == "" {
		var text strings.Builder
		for i := range 40_000 {
			fmt.Fprintf(&text, "word%d", i)
			for range 100 {
				fmt.Fprintf(&text, " %.4f", rng.NormFloat64())
			}
			text.WriteByte('\n')
		}
		from = filepath.Join(b.TempDir(), "random.txt")
		writeFile(b, from, text.String())
	}
	path = filepath.Join(b.TempDir(), "table")
	report, err := Convert(b.Context(), from, path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", report)
	table := opened(b, path)
	for bucket := range table.view.buckets {
		if at := table.view.start(bucket); at < table.view.start(bucket+1) {
			e := table.view.entry(at)
			words = append(words, string(table.view.list[at+table.view.head():][:e.length]))
		}
	}
	return path, words
}

func BenchmarkOpen(b *testing.B) {
	path, _ := benchTable(b)
	for b.Loop() {
		table, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		_ = table.Close()
	}
}

// BenchmarkEmbed takes texts of 15 words, one in five unknown.
func BenchmarkEmbed(b *testing.B) {
	path, words := benchTable(b)
	table := opened(b, path)
	rng := rand.New(rand.NewPCG(2, 2))
	texts := make([]string, 64)
	for i := range texts {
		for range 12 {
			texts[i] += words[rng.IntN(len(words))] + " "
		}
		texts[i] += "xqzzy Xqzzt xqzzv."
	}
	b.ReportAllocs()
	for b.Loop() {
		vectors, err := table.Embed(context.Background(), texts)
		if err != nil || vectors[0] == nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(texts)), "ns/text")
}

func BenchmarkConvert(b *testing.B) {
	if *benchText == "" {
		b.Skip("needs -static.text")
	}
	for b.Loop() {
		if _, err := Convert(b.Context(), *benchText, filepath.Join(b.TempDir(), "table"), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
