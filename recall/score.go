package recall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memd"
	"memd/configs"
	"memd/tiers"
)

// scored is a candidate with its place in the order.
type scored struct {
	memory  memd.Memory
	parts   memd.Breakdown
	score   float64
	over    bool // over the match floor
	matched []memd.Match
}

// score weighs one row; ok is false when it holds none of the query's terms.
func (w *weighed) score(m *memd.Memory, b configs.Budgets, hour memd.Time) (s *scored, ok bool) {
	text := make([]int, len(w.terms))
	w.counter.Count(m.Summary, text)
	w.counter.Count(m.Why, text)
	w.counter.Count(m.HowToApply, text)
	labels := make([]int, len(w.terms))
	w.counter.Count(labelText(m), labels)

	chars := float64(utf8.RuneCountInString(m.Summary))
	norm := saturation * (1 - lengthBias + lengthBias*chars/max(w.avgChars, 1))
	var keyword, metadata, held float64
	rare := false
	for i, weight := range w.weight { // in query order: float sums depend on it
		switch {
		case weight == 0, text[i] == 0 && labels[i] == 0:
			continue
		case w.corpus.DF[i] == 0 && m.Tier != memd.Transient: // written since the first page
			continue
		}
		held += weight
		rare = rare || w.rare[i]
		keyword += weight * float64(text[i]) / (float64(text[i]) + norm)
		if labels[i] > 0 {
			metadata += weight
		}
	}
	if held == 0 {
		return nil, false
	}
	mass := w.massFor(m.Tier)
	s = &scored{memory: *m, over: rare || held >= floorMass*mass}
	tiers.Present(&s.memory, b, hour)
	s.parts = memd.Breakdown{
		Authority: band(m.Tier, s.over),
		Keyword:   weightKeyword * keyword / mass,
		Metadata:  weightLabels * metadata / mass,
	}
	if keyword > 0 {
		s.matched = append(s.matched, memd.MatchKeyword)
	}
	if metadata > 0 {
		s.matched = append(s.matched, memd.MatchMetadata)
	}
	if s.memory.Stale {
		s.parts.Stale = staleSinks
	}
	tilt := tiltMax * (s.parts.Keyword + s.parts.Metadata)
	s.parts.Importance = tilt * tiltImportance * float64(m.Importance-1) / 9
	s.parts.Recency = tilt * tiltRecency * recency(m, hour)
	s.parts.Access = tilt * tiltAccess * familiarity(m)
	s.parts.Source = tilt * tiltSource * sourceQuality(m)
	s.score = s.parts.Sum()
	return s, true
}

// labelText is what the metadata leg reads, as the index does.
func labelText(m *memd.Memory) string {
	return strings.Join([]string{m.MemoryKey, strings.Join(m.Tags, " "), string(m.Kind), m.Source, m.Owner}, " ")
}

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
