package main

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestMeasures(t *testing.T) {
	list := func(ids ...string) []string { return ids }
	second := 1 / math.Log2(3) // the discount of the second place
	for _, c := range []struct {
		name             string
		ranked, relevant []string
		want             scores
	}{
		{"first", list("a", "x", "y"), list("a"), scores{1, 1, 1, 1, 1}},
		{"second", list("x", "a", "y"), list("a"), scores{0, 1, 1, 0.5, second}},
		{"sixth", list("1", "2", "3", "4", "5", "a"), list("a"), scores{0, 0, 1, 1.0 / 6, 1 / math.Log2(7)}},
		{"eleventh is too late", list("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"), list("a"), scores{}},
		{"not found", list("x", "y"), list("a"), scores{}},
		{"nothing ranked", nil, list("a"), scores{}},
		{"both of two", list("b", "a"), list("a", "b"), scores{0.5, 1, 1, 1, 1}},
		{"one of two, second", list("x", "b"), list("a", "b"), scores{0, 0.5, 0.5, 0.5, second / (1 + second)}},
		{"one of four, first", list("a"), list("a", "b", "c", "d"),
			scores{0.25, 0.25, 0.25, 1, 1 / (1 + second + 0.5 + 1/math.Log2(5))}},
	} {
		got := measure(c.ranked, c.relevant)
		for _, m := range metrics() {
			if !near(m.of(got), m.of(c.want)) {
				t.Errorf("%s: %s = %v, want %v", c.name, m.name, m.of(got), m.of(c.want))
			}
		}
	}
}

// More relevant rows than fit cannot be held against a ranking.
func TestIdealGainIsCut(t *testing.T) {
	ids := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}
	if got := ndcgAt(10, ids[:10], ids); !near(got, 1) {
		t.Errorf("nDCG@10 = %v, want 1", got)
	}
	if got := recallAt(10, ids[:10], ids); !near(got, 10.0/12) {
		t.Errorf("recall@10 = %v, want 10/12", got)
	}
}

func TestMean(t *testing.T) {
	if got := mean(nil); got != (scores{}) {
		t.Errorf("mean of nothing = %v", got)
	}
	got := mean([]scores{{1, 1, 1, 1, 1}, {0, 0, 0.5, 0.25, 0.125}})
	if want := (scores{0.5, 0.5, 0.75, 0.625, 0.5625}); got != want {
		t.Errorf("mean = %v, want %v", got, want)
	}
}
