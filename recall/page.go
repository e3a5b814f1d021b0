package recall

import (
	"unicode/utf8"

	"memd"
	"memd/store"
)

// page fills answer with the next rows of a ranking.
func (e *Engine) page(v *store.View, p *plan, r *ranking, answer *memd.Answer) error {
	rest := r.rows
	for p.after != nil && len(rest) > 0 && !p.after.before(rest[0]) {
		rest = rest[1:]
	}
	taken := 0
	left := p.maxChars
	for _, s := range rest[:min(len(rest), p.limit)] {
		if err := s.addRaw(v, p); err != nil {
			return err
		}
		if p.maxChars > 0 {
			size := bodyChars(&s.memory)
			if size > left && taken > 0 {
				break
			}
			left -= size
		}
		answer.Results = append(answer.Results, s.hit(p))
		taken++
		if p.maxChars > 0 && left <= 0 {
			break
		}
	}
	if taken > 0 && taken < len(rest) {
		answer.NextCursor = p.cursorAfter(rest[taken-1])
	}
	return nil
}

// addRaw reads a row's raw_content if it was asked for.
func (s *scored) addRaw(v *store.View, p *plan) error {
	if !p.query.IncludeRaw {
		return nil
	}
	full, _, err := v.Get(s.memory.ID)
	s.memory.RawContent = full.RawContent
	return err
}

// bodyChars is what max_chars counts of a row.
func bodyChars(m *memd.Memory) int {
	n := 0
	for _, text := range bodies(m) {
		n += utf8.RuneCountInString(*text)
	}
	return n
}

// bodies are the texts of a row, the one to keep longest first.
func bodies(m *memd.Memory) []*string {
	return []*string{&m.Summary, &m.Why, &m.HowToApply, &m.RawContent}
}

// hit is a row as it is answered. The first row of an answer may be longer
// than max_chars alone: it is cut, and says so.
func (s *scored) hit(p *plan) memd.Hit {
	h := memd.Hit{Memory: s.memory, Score: s.score, Matched: s.matched}
	h.Age = memd.AgeText(h.AgeDays(p.now))
	if !p.query.IncludeRaw {
		h.RawContent = ""
	}
	if p.query.Explain {
		parts := s.parts
		h.Breakdown = &parts
	}
	if p.maxChars == 0 {
		return h
	}
	left := p.maxChars
	for _, text := range bodies(&h.Memory) {
		var short bool
		*text, short = cut(*text, left)
		left -= utf8.RuneCountInString(*text)
		h.Shortened = h.Shortened || short
	}
	return h
}

// cut returns the first n code points of text.
func cut(text string, n int) (string, bool) {
	for i := range text {
		if n == 0 {
			return text[:i], true
		}
		n--
	}
	return text, false
}
