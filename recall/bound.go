package recall

import (
	"math"
	"unicode/utf8"

	"memd"
	"memd/store"
	"memd/store/segment"
)

// bounds says how relevant a row can be at most, from what the index knows of
// it: how often it holds each term of a query, and how long it is. What score
// makes of the row itself is never more, so that the rows can be read in this
// order until no other can come in between.
type bounds struct {
	w      *weighed
	vector float64   // the most that a vector counts
	sums   []float64 // by row: weight of the terms held in the text, as far as they count
	labels []float64 // by row: weight of the terms held as labels
	held   []bool    // by row: whether it holds a carrier
	rows   []int     // those that do
}

// slack covers that floats are summed in another order than in score.
const slack = 1e-9

// of calls yield with the bound of every row of a shard that holds a carrier and
// is within, nil for all.
func (b *bounds) of(s *store.Shard, within func(row int) bool, yield func(row int, bound float64)) {
	b.reset(s.Len())
	for _, i := range b.w.carriers {
		for p := s.Postings(b.w.terms[i].Text); ; {
			row, text, labels, ok := p.Next()
			if !ok {
				break
			}
			if !b.held[row] {
				if within != nil && !within(row) {
					continue
				}
				b.held[row] = true
			}
			b.add(i, row, text, labels, s.Chars(row), s.Unspaced(row))
		}
	}
	for row, held := range b.held[:s.Len()] {
		if held {
			b.rows = append(b.rows, row)
		}
	}
	for i, says := range b.w.says {
		if says {
			continue
		}
		counts := s.Postings(b.w.terms[i].Text).Counts()
		for _, row := range b.rows {
			if text, _ := counts.In(row); text > 0 {
				b.add(i, row, text, 0, s.Chars(row), s.Unspaced(row))
			}
		}
	}
	for _, row := range b.rows {
		yield(row, b.bound(row))
	}
}

// ofText is the bound of one row, made of its texts: to the last bit what of
// makes of the row. ok is false where it holds no carrier.
func (b *bounds) ofText(m *memd.Memory) (bound float64, ok bool) {
	w := b.w
	text, labels := make([]int, len(w.terms)), make([]int, len(w.terms))
	for _, s := range []string{m.Summary, m.Why, m.HowToApply} {
		w.counter.Count(s, text)
	}
	w.counter.Count(store.Labels(m), labels)
	chars := utf8.RuneCountInString(m.Summary)
	unspaced := store.Unspaced(m.Summary, chars)
	b.reset(1)
	b.rows = append(b.rows, 0)
	for _, i := range w.carriers {
		ok = ok || text[i]+labels[i] > 0
		b.add(i, 0, segment.Counted(text[i]), labels[i], chars, unspaced)
	}
	for i, says := range w.says {
		if !says {
			b.add(i, 0, segment.Counted(text[i]), 0, chars, unspaced)
		}
	}
	return b.bound(0), ok
}

// add counts that a row holds term i so often, in a summary of so many code
// points.
func (b *bounds) add(i, row, text, labels, chars int, unspaced bool) {
	if text > 0 {
		b.sums[row] += b.w.weight[i] * b.share(text, chars, unspaced)
	}
	if labels > 0 {
		b.labels[row] += b.w.weight[i]
	}
}

// reset makes room for n rows and forgets those before.
func (b *bounds) reset(n int) {
	for _, row := range b.rows {
		b.held[row], b.labels[row], b.sums[row] = false, 0, 0
	}
	b.rows = b.rows[:0]
	if len(b.held) < n {
		b.held, b.labels, b.sums = make([]bool, n), make([]float64, n), make([]float64, n)
	}
}

// share is how much of a term's weight a row has that holds it so often: as a
// whole, or mixed with a passage that holds it as often.
func (b *bounds) share(times, chars int, unspaced bool) float64 {
	tf := float64(times)
	whole := tf / (tf + b.w.norm(chars))
	size := passageSize(unspaced)
	if chars <= 2*size {
		return whole
	}
	passage := tf / (tf + b.w.norm(size/2)) // the last passage may be so short
	return (1-passageWeighs)*whole + passageWeighs*passage
}

// bound is the most that keyword, metadata and vector can come to.
func (b *bounds) bound(row int) float64 {
	mass := b.w.mass + b.w.stopMass
	return relevance(b.sums[row]/mass, b.labels[row]/mass, b.vector)
}

// loose is the bound of a row of which no more is known than the weight of the
// terms that it holds.
func (b *bounds) loose(weight float64) float64 {
	mass := b.w.mass + b.w.stopMass
	return relevance((weight+b.w.stopMass)/mass, weight/mass, b.vector)
}

// relevance is the most that a row's own relevance can be.
func relevance(keyword, labels, vector float64) float64 {
	keyword = weightKeyword * math.Min(1, keyword)
	return keyword + weightLabels*labels + vector*(1-keyword) + slack
}

// highest is the most that a row of tier t can score, with a relevance of own
// at most and nothing borrowed.
func highest(t memd.Tier, own float64) float64 { return band(t, true) + own*(1+tiltMax) }
