package embeddingtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"memd/embedding"
)

// Test checks that an embedder is what [embedding.Embedder] promises. known
// are at least three texts that it has vectors for, different ones.
func Test(t *testing.T, e embedding.Embedder, known []string) {
	if len(known) < 3 {
		t.Fatal("three known texts are needed")
	}
	if e.Model() == "" || e.Dim() < 1 {
		t.Fatalf("model %q of dimension %d", e.Model(), e.Dim())
	}
	s := suite{e, known}
	for name, check := range map[string]func(*testing.T){
		"nothing": s.nothing, "order": s.order, "neighbours": s.neighbours, "ownership": s.ownership, "no vector": s.none,
		"any bytes": s.anyBytes, "many": s.many, "at once": s.atOnce, "cancelled": s.cancelled,
	} {
		t.Run(name, check)
	}
}

type suite struct {
	embedding.Embedder
	known []string
}

// must embeds texts, and checks the form of what comes back.
func (s suite) must(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := s.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("%d vectors of %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		if err := embedding.Check(v, s.Dim()); err != nil {
			t.Fatalf("vector %d: %v", i, err)
		}
		if length := math.Sqrt(cosine(v, v)); math.Abs(length-1) > 1e-4 {
			t.Fatalf("vector %d is %v long", i, length)
		}
	}
	return vectors
}

func (s suite) nothing(t *testing.T) {
	s.must(t)
}

// Vectors stand in the order of their texts, and are those texts have alone.
func (s suite) order(t *testing.T) {
	together := s.must(t, s.known...)
	for i, text := range s.known {
		alone := s.must(t, text)[0]
		if alone == nil {
			t.Fatalf("known text %d has no vector", i)
		}
		for j := range s.known {
			if same := alike(alone, together[j]); same != (i == j) {
				t.Errorf("the vector of text %d alone is that of text %d among others: %t", i, j, same)
			}
		}
	}
}

// The texts beside it do not move a vector, nor does the text itself twice.
func (s suite) neighbours(t *testing.T) {
	a, b := s.known[0], s.known[1]
	vectors := s.must(t, a, "", b, a, a)
	if vectors[1] != nil {
		t.Error("an empty text has a vector")
	}
	for _, i := range []int{3, 4} {
		if !alike(vectors[0], vectors[i]) {
			t.Errorf("vectors 0 and %d of the same text differ", i)
		}
	}
	if !alike(vectors[2], s.must(t, b)[0]) {
		t.Error("a vector depends on the texts beside it")
	}
}

// Writing into a vector reaches no other, nor the next call's.
func (s suite) ownership(t *testing.T) {
	vectors := s.must(t, s.known[0], s.known[0], s.known[1])
	kept := slices.Clone(vectors[1])
	clear(vectors[0])
	_ = append(vectors[0], 1, 2, 3)
	if !slices.Equal(vectors[1], kept) {
		t.Error("two vectors share memory")
	}
	if !alike(s.must(t, s.known[0])[0], kept) {
		t.Error("a vector handed out is used again")
	}
}

// Texts of nothing have no vector, and that is no error.
func (s suite) none(t *testing.T) {
	for i, v := range s.must(t, "", " ", "\n\t \u3000") {
		if v != nil {
			t.Errorf("text %d of white space has a vector", i)
		}
	}
}

// No text breaks an embedder: it gets a vector, or nil.
func (s suite) anyBytes(t *testing.T) {
	s.must(t, "\x00", "\xff\xfe\xfd", s.known[0]+"\xff", "caf\xc3", "\u202e\u200b\ufeff", strings.Repeat("\u0301", 5000),
		strings.Repeat("a", 100_000), strings.Repeat("重", 30_000), strings.Repeat("a-b_", 10_000), s.known[1])
}

func (s suite) many(t *testing.T) {
	texts := make([]string, 700)
	for i := range texts {
		texts[i] = s.known[i%len(s.known)]
	}
	vectors := s.must(t, texts...)
	for i, v := range vectors {
		if v == nil || !alike(v, vectors[i%len(s.known)]) {
			t.Fatalf("vector %d is not that of its text", i)
		}
	}
}

func (s suite) atOnce(t *testing.T) {
	want := s.must(t, s.known...)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			got, err := s.Embed(context.Background(), s.known)
			if err != nil || len(got) != len(want) {
				t.Errorf("%d vectors: %v", len(got), err)
				return
			}
			for i := range got {
				if !alike(got[i], want[i]) {
					t.Errorf("vector %d differs from that of a call alone", i)
				}
			}
		})
	}
	running.Wait()
}

// A call that is over before it begins fails with the context's error, holds
// good vectors if any, and says nothing of the texts.
func (s suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	vectors, err := s.Embed(ctx, s.known)
	if !errors.Is(err, context.Canceled) || len(vectors) > len(s.known) {
		t.Fatalf("%d vectors, error %v", len(vectors), err)
	}
	text := fmt.Sprintf("%v %+v", err, err)
	for i, known := range s.known {
		if strings.Contains(text, known) {
			t.Errorf("the error holds text %d", i)
		}
	}
}

// alike allows for what a server may round from call to call.
func alike(a, b []float32) bool {
	return len(a) == len(b) && cosine(a, b) > 1-1e-4
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
