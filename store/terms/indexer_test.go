package terms

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// collect counts the terms Each emits of text.
func collect(x *Indexer, text string) map[string]int {
	emitted := map[string]int{}
	x.Each(text, func(term []byte) {
		emitted[string(term)]++
		for i := range term { // it is the caller's to write to
			term[i] = '!'
		}
	})
	return emitted
}

// checkEmitted checks that Each and Counter see the same in text, for the terms
// that the queries make of themselves and for everything Each emits.
func checkEmitted(t *testing.T, x *Indexer, text string, queries ...string) {
	t.Helper()
	emitted := collect(x, text)
	var query []Term
	known := map[string]bool{}
	add := func(term Term) {
		if !known[term.Text] {
			known[term.Text] = true
			query = append(query, term)
		}
	}
	for _, q := range queries {
		for _, term := range Query(q, 1<<20) {
			add(term)
		}
	}
	for term := range emitted {
		if term == "" || len(term) > maxWord {
			t.Fatalf("term %q of %q", term, text)
		}
		add(Term{Text: term})
	}
	tf := make([]int, len(query))
	NewCounter(query).Count(text, tf)
	for i, term := range query {
		if tf[i] != emitted[term.Text] {
			t.Errorf("%q in %q: emitted %d times, counted %d", term.Text, text, emitted[term.Text], tf[i])
		}
	}
}

func TestIndexerAgreesWithCounter(t *testing.T) {
	x := NewIndexer()
	texts := append([]string{prose, technical, chinese}, agreeTexts...)
	all := strings.Join(texts, "\n")
	for _, text := range append(texts, all) {
		checkEmitted(t, x, text, text, all)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		b := make([]byte, rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		text := string(b) + texts[rng.IntN(len(texts))] + texts[rng.IntN(len(texts))]
		checkEmitted(t, x, text, text, texts[rng.IntN(len(texts))])
	}
}

// The index of a row holds what Each emits of its text, and no more.
func TestIndexerAgreesWithIndex(t *testing.T) {
	x, fts := NewIndexer(), newIndex(t)
	for _, text := range agreeTexts {
		fts.set(text, Segment(text))
		vocab := fts.vocab()
		for term, n := range collect(x, text) {
			if vocab[term] != n {
				t.Errorf("%q in %q: emitted %d times, the index holds %d", term, text, n, vocab[term])
			}
			delete(vocab, term)
		}
		for term, n := range vocab {
			if len(term) <= maxWord {
				t.Errorf("%q in %q: the index holds %d, never emitted", term, text, n)
			}
		}
	}
}

// What an Indexer remembers is bounded, and forgetting changes nothing.
func TestIndexerForgets(t *testing.T) {
	x := NewIndexer()
	for i := range 2 * maxCached {
		word := fmt.Sprintf("word%dxings", i)
		want := fmt.Sprintf("word%dx", i)
		if got := collect(x, word); len(got) != 1 || got[want] != 1 {
			t.Fatalf("%q: %v", word, got)
		}
		if len(x.stems.of) > maxCached {
			t.Fatalf("%d words remembered", len(x.stems.of))
		}
	}
	checkEmitted(t, x, prose, prose)
}

func TestIndexerAllocatesNothing(t *testing.T) {
	x, n := NewIndexer(), 0
	yield := func([]byte) { n++ }
	x.Each(prose, yield)
	if a := testing.AllocsPerRun(10, func() { x.Each(prose, yield) }); a != 0 || n == 0 {
		t.Errorf("%v allocations, %d terms", a, n)
	}
}

func FuzzIndexer(f *testing.F) {
	for _, text := range agreeTexts {
		f.Add(text, agreeTexts[0])
	}
	x := NewIndexer()
	f.Fuzz(func(t *testing.T, text, query string) {
		checkEmitted(t, x, text, query, text)
	})
}

func BenchmarkIndexer(b *testing.B) {
	bench := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			x, n := NewIndexer(), 0
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				x.Each(text, func([]byte) { n++ })
			}
			if n == 0 {
				b.Fatal("no terms")
			}
		})
	}
	bench("prose", prose)
	bench("technical", technical)
	bench("chinese", chinese)
}
