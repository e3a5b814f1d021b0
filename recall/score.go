package recall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memd"
	"memd/configs"
	"memd/store"
	"memd/tiers"
)

// scored is a candidate with its place in the order.
type scored struct {
	memory  memd.Memory
	parts   memd.Breakdown
	score   float64
	own     float64 // relevance by its own terms, without place and tilt
	cosine  float64
	bound   float64   // what own could be at most, by what the index knows
	answers []float64 // how much of each sentence of a query of several it answers
	over    bool      // over the match floor
	matched []memd.Match
}

// matches reports whether a row is there for what it holds, and not for its
// neighbours alone.
func (s *scored) matches() bool { return s.own > 0 }

// score weighs one row, whose vector has that cosine with the query's, 0 for
// none. ok is false when it is not near and holds none of the query's terms, or
// stop words alone beside others.
func (w *weighed) score(m *memd.Memory, cosine float64, b configs.Budgets, hour memd.Time) (s *scored, ok bool) {
	n := len(w.terms)
	text, labels := make([]int, n), make([]int, n)
	w.counter.Count(m.Summary, text)
	w.counter.Count(m.Why, text)
	w.counter.Count(m.HowToApply, text)
	w.counter.Count(store.Labels(m), labels)

	var metadata, held float64
	inText, rare := false, false
	for i, weight := range w.weight { // in query order: float sums depend on it
		switch {
		case text[i] == 0 && labels[i] == 0:
			continue
		case !w.says[i]:
			continue
		case w.corpus.DF[i] == 0 && m.Tier != memd.Transient: // written since the first page
			text[i], labels[i] = 0, 0
			continue
		}
		held += weight
		rare = rare || w.rare[i]
		inText = inText || text[i] > 0
		if labels[i] > 0 {
			metadata += weight
		}
	}
	near := cosine >= w.floor && w.floor > 0
	if held == 0 && !near {
		return nil, false
	}
	mass := w.massFor(m.Tier)
	s = &scored{memory: *m, cosine: cosine, over: near || rare || held >= floorMass*mass}
	tiers.Present(&s.memory, b, hour)
	s.parts = memd.Breakdown{Authority: band(m.Tier, s.over)}
	if inText {
		s.parts.Keyword = weightKeyword * w.keyword(m, text, mass+w.stopMass)
		s.answers = w.sentences(text, utf8.RuneCountInString(m.Summary), mass+w.stopMass)
		s.matched = append(s.matched, memd.MatchKeyword)
	}
	if metadata > 0 {
		s.parts.Metadata = weightLabels * metadata / (mass + w.stopMass)
		s.matched = append(s.matched, memd.MatchMetadata)
	}
	if near {
		s.matched = append(s.matched, memd.MatchVector)
	}
	if s.memory.Stale {
		s.parts.Stale = staleSinks
	}
	s.own = s.total(hour)
	return s, true
}

// total fills in the parts that follow from keyword and metadata and sums all.
// It returns the relevance, without the tilt.
func (s *scored) total(hour memd.Time) (relevance float64) {
	m := &s.memory
	s.parts.Vector = weightVector * likeness(s.cosine) * (1 - s.parts.Keyword)
	relevance = s.parts.Keyword + s.parts.Metadata + s.parts.Vector
	tilt := tiltMax * relevance
	s.parts.Importance = tilt * tiltImportance * float64(m.Importance-1) / 9
	s.parts.Recency = tilt * tiltRecency * recency(m, hour)
	s.parts.Access = tilt * tiltAccess * familiarity(m)
	s.parts.Source = tilt * tiltSource * sourceQuality(m)
	s.score = s.parts.Sum()
	return relevance
}

// keyword is how much of a query a row's text answers, from 0 to 1: as a
// whole, and where it is long by its best passage.
func (w *weighed) keyword(m *memd.Memory, tf []int, mass float64) float64 {
	chars := utf8.RuneCountInString(m.Summary)
	whole := w.answers(tf, chars, mass)
	best := 0.0
	before, here, both := make([]int, len(tf)), make([]int, len(tf)), make([]int, len(tf))
	size := 0 // of the half before
	for half := range halves(m.Summary, chars) {
		clear(here)
		w.counter.Count(half, here)
		n := utf8.RuneCountInString(half)
		if size > 0 {
			for i := range tf {
				both[i] = min(before[i]+here[i], tf[i]) // what does not count in the row counts in no part of it
			}
			best = max(best, w.answers(both, size+n, mass))
		}
		before, here, size = here, before, n
	}
	return max(whole, (1-passageWeighs)*whole+passageWeighs*best)
}

// answers is how much of a query a text of so many code points answers: the
// weight of the terms in it, by BM25's saturation and length, over that of all.
func (w *weighed) answers(tf []int, chars int, mass float64) float64 {
	norm := w.norm(chars)
	var sum float64
	for i := range tf {
		sum += w.weight[i] * saturated(tf[i], norm)
	}
	return sum / mass
}

// norm is what a text of so many code points adds to a term's count.
func (w *weighed) norm(chars int) float64 {
	return saturation*(1-lengthBias) + w.perChar*float64(chars)
}

func saturated(tf int, norm float64) float64 { return float64(tf) / (float64(tf) + norm) }

// order sorts by score, then newest first, then id.
func order(a, b *scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	case !a.memory.UpdatedAt.Equal(b.memory.UpdatedAt.Time):
		return b.memory.UpdatedAt.Compare(a.memory.UpdatedAt.Time)
	default:
		return strings.Compare(a.memory.ID, b.memory.ID)
	}
}

func sortScored(rows []*scored) { slices.SortFunc(rows, order) }
