package main

import (
	"math"
	"slices"
)

// depth is how many results of a ranking are asked for and looked at.
const depth = 10

// The measures below take the ids of a ranking, best first and each at most
// once, and the ids that are relevant, at least one.

// recallAt is the share of the relevant ids among the first k of ranked.
func recallAt(k int, ranked, relevant []string) float64 {
	found := 0
	for _, id := range ranked[:min(k, len(ranked))] {
		if slices.Contains(relevant, id) {
			found++
		}
	}
	return float64(found) / float64(len(relevant))
}

// reciprocalRank is 1 over the place of the first relevant id, 0 if none is
// ranked.
func reciprocalRank(ranked, relevant []string) float64 {
	for i, id := range ranked {
		if slices.Contains(relevant, id) {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// ndcgAt is the normalised discounted cumulative gain of the first k with
// binary relevance (Järvelin and Kekäläinen 2002): 1 when as many relevant ids
// as fit stand first.
func ndcgAt(k int, ranked, relevant []string) float64 {
	var gain, ideal float64
	for i := range k {
		discount := 1 / math.Log2(float64(i+2))
		if i < len(ranked) && slices.Contains(relevant, ranked[i]) {
			gain += discount
		}
		if i < len(relevant) {
			ideal += discount
		}
	}
	return gain / ideal
}

// scores are the measures of one ranking, or their means over many.
type scores struct {
	recall1, recall5, recall10 float64
	mrr                        float64 // within depth
	ndcg10                     float64
}

// metric is one of the measures by its name.
type metric struct {
	name string
	of   func(scores) float64
}

// metrics are all measures, in the order of a report's columns.
func metrics() []metric {
	return []metric{
		{"recall@1", func(s scores) float64 { return s.recall1 }},
		{"recall@5", func(s scores) float64 { return s.recall5 }},
		{"recall@10", func(s scores) float64 { return s.recall10 }},
		{"MRR@10", func(s scores) float64 { return s.mrr }},
		{"nDCG@10", func(s scores) float64 { return s.ndcg10 }},
	}
}

func measure(ranked, relevant []string) scores {
	return scores{
		recall1:  recallAt(1, ranked, relevant),
		recall5:  recallAt(5, ranked, relevant),
		recall10: recallAt(10, ranked, relevant),
		mrr:      reciprocalRank(ranked[:min(depth, len(ranked))], relevant),
		ndcg10:   ndcgAt(10, ranked, relevant),
	}
}

// mean averages; of nothing it is zero.
func mean(all []scores) scores {
	var m scores
	for _, s := range all {
		m.recall1 += s.recall1
		m.recall5 += s.recall5
		m.recall10 += s.recall10
		m.mrr += s.mrr
		m.ndcg10 += s.ndcg10
	}
	n := float64(max(len(all), 1))
	return scores{m.recall1 / n, m.recall5 / n, m.recall10 / n, m.mrr / n, m.ndcg10 / n}
}
