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
	vector float64 // the most that a vector counts

	// By row.
	sums   []float64 // weight of the terms held in the text, as far as they count
	labels []float64 // weight of the terms held as labels
	norms  []float64 // what the counts of a row saturate against, 0 for one without a carrier
	parts  []float64 // the same of a passage, 0 for a row without any
	rows   []int     // those that hold a carrier
}

// slack covers that floats are summed in another order than in score.
const slack = 1e-9

// of calls yield with the bound of every row of a shard that holds a carrier, is
// within, nil for all, and may be wanted.
func (b *bounds) of(s *store.Shard, within func(row int) bool, best *shortlist, yield func(row int, bound float64)) {
	b.reset(s.Len())
	for _, i := range b.w.carriers {
		for p := s.Postings(b.w.terms[i].Text); ; {
			row, text, labels, ok := p.Next()
			if !ok {
				break
			}
			if b.norms[row] == 0 {
				if within != nil && !within(row) {
					continue
				}
				b.hold(row, s.Chars(row), s.Unspaced(row))
			}
			b.add(i, row, text, labels)
		}
	}
	for row, norm := range b.norms[:s.Len()] {
		if norm != 0 {
			b.rows = append(b.rows, row)
		}
	}
	wanted := b.rows
	if b.w.stopMass > 0 {
		wanted = b.addStops(s, best)
	}
	for _, row := range wanted {
		if bound := b.bound(row); best.wants(bound) {
			yield(row, bound)
		}
	}
}

// addStops counts the stop words in the rows that may be wanted for them, and
// returns these.
func (b *bounds) addStops(s *store.Shard, best *shortlist) []int {
	var wanted []int
	for _, row := range b.rows {
		if best.wants(b.atMost(b.sums[row]+b.w.stopMass, row)) {
			wanted = append(wanted, row)
		}
	}
	for i, says := range b.w.says {
		if says {
			continue
		}
		counts := s.Postings(b.w.terms[i].Text).Counts()
		for _, row := range wanted {
			text, _ := counts.In(row)
			b.add(i, row, text, 0)
		}
	}
	return wanted
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
	b.reset(1)
	b.rows = append(b.rows, 0)
	chars := utf8.RuneCountInString(m.Summary)
	b.hold(0, chars, store.Unspaced(m.Summary, chars))
	for _, i := range w.carriers {
		ok = ok || text[i]+labels[i] > 0
		b.add(i, 0, segment.Counted(text[i]), labels[i])
	}
	for i, says := range w.says {
		if !says {
			b.add(i, 0, segment.Counted(text[i]), 0)
		}
	}
	return b.bound(0), ok
}

// add counts that a row holds term i so often.
func (b *bounds) add(i, row, text, labels int) {
	if text > 0 {
		tf := float64(text)
		share := tf / (tf + b.norms[row])
		if part := b.parts[row]; part > 0 { // a passage may hold it as often
			share = (1-passageWeighs)*share + passageWeighs*tf/(tf+part)
		}
		b.sums[row] += b.w.weight[i] * share
	}
	if labels > 0 {
		b.labels[row] += b.w.weight[i]
	}
}

// reset makes room for n rows and forgets those before.
func (b *bounds) reset(n int) {
	for _, row := range b.rows {
		b.norms[row], b.parts[row], b.labels[row], b.sums[row] = 0, 0, 0, 0
	}
	b.rows = b.rows[:0]
	if len(b.norms) < n {
		b.norms, b.parts, b.labels, b.sums = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
}

// hold has a row count whose summary has so many code points.
func (b *bounds) hold(row, chars int, unspaced bool) {
	b.norms[row] = b.w.norm(chars)
	if size := passageSize(unspaced); chars > 2*size {
		b.parts[row] = b.w.norm(size / 2) // the last passage may be so short
	}
}

// bound is the most that keyword, metadata and vector can come to.
func (b *bounds) bound(row int) float64 { return b.atMost(b.sums[row], row) }

// atMost is bound for a row whose text holds terms of some weight.
func (b *bounds) atMost(weight float64, row int) float64 {
	mass := b.w.mass + b.w.stopMass
	return relevance(weight/mass, b.labels[row]/mass, b.vector)
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
