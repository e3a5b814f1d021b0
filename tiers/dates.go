package tiers

import (
	"memd"
	"memd/configs"
	"memd/guard/dates"
)

// WithDates returns a Service that makes relative dates absolute as d says, of which
// package configs has checked every value.
func (s *Service) WithDates(d configs.Dates) *Service {
	dating := *s
	dating.zone = nil
	if d.Absolute {
		dating.zone = d.Zone()
	}
	return &dating
}

// dateShort puts the dates of now beside the words of a short row that tell them,
// before it is hashed: so the same words are the same memory on one day, and another
// on another. What holds at any time is left alone.
func (s *Service) dateShort(m *memd.Memory, now memd.Time) {
	switch m.Kind {
	case memd.Rule, memd.Practice, memd.Pitfall, memd.Preference, memd.Fact:
		return
	}
	before := [2]string{m.Summary, m.RawContent}
	s.date(m, "summary", &m.Summary, now)
	s.date(m, "raw_content", &m.RawContent, now)
	if before != [2]string{m.Summary, m.RawContent} {
		rehash(m)
	}
}

// date puts dates beside the words of a field, if they fit in there with it.
func (s *Service) date(m *memd.Memory, field string, text *string, at memd.Time) {
	if s.zone == nil || *text == "" || at.IsZero() {
		return
	}
	limit, size, _ := s.limitOf(m, field)
	if dated := dates.Absolute(*text, at.In(s.zone)); size(dated) <= limit {
		*text = dated
	}
}

// dateLong is a long row of kind project with dates, where what is asked for may become
// one. What it has from the row that it is made of was said when that was created.
func (s *Service) dateLong(req memd.RememberLongTerm, from *memd.Memory, now memd.Time) memd.RememberLongTerm {
	if req.Kind != "" && req.Kind != memd.Project {
		return req
	}
	m := &memd.Memory{Tier: memd.Long}
	for _, f := range []struct {
		name       string
		text, from *string
	}{
		{"summary", &req.Summary, &from.Summary}, {"raw_content", &req.RawContent, &from.RawContent},
		{"why", &req.Why, &from.Why}, {"how_to_apply", &req.HowToApply, &from.HowToApply},
	} {
		at := now
		if from.Tier != "" && *f.text == *f.from {
			at = from.CreatedAt
		}
		s.date(m, f.name, f.text, at)
	}
	return req
}

// withDates is what is wanted as it is held against the head of its key, and written. What
// says the same as the head but for the dates that the head got is the head's text, so
// that it keeps those; the rest gets its own where it is of kind project.
func (w wanted) withDates(head *memd.Memory) wanted {
	kind := w.left.Kind
	if head != nil {
		if kind == "" {
			kind = head.Kind
		}
		w.sent = carried(w.sent, head)
		if left := carried(w.left, head); sameTexts(left, head) {
			w.left = left
			return w
		}
	}
	if kind == memd.Project {
		w.left = w.dated
	}
	return w
}

// carried is a request with the dates of a head beside the same words, where the two
// say the same but for dates.
func carried(req memd.RememberLongTerm, head *memd.Memory) memd.RememberLongTerm {
	bare := memd.Memory{Summary: dates.Bare(head.Summary), RawContent: dates.Bare(head.RawContent), Why: dates.Bare(head.Why), HowToApply: dates.Bare(head.HowToApply)}
	if bare.Summary == head.Summary && bare.RawContent == head.RawContent && bare.Why == head.Why && bare.HowToApply == head.HowToApply {
		return req
	}
	with := req
	req.Summary, req.RawContent, req.Why, req.HowToApply = dates.Bare(req.Summary), dates.Bare(req.RawContent), dates.Bare(req.Why), dates.Bare(req.HowToApply)
	if rehash(&bare); !sameTexts(req, &bare) {
		return with
	}
	with.Summary, with.RawContent = dates.Carried(with.Summary, head.Summary), dates.Carried(with.RawContent, head.RawContent)
	with.Why, with.HowToApply = dates.Carried(with.Why, head.Why), dates.Carried(with.HowToApply, head.HowToApply)
	return with
}

// sameTexts reports whether a request has the content of a row.
func sameTexts(req memd.RememberLongTerm, row *memd.Memory) bool {
	return ContentHash(&memd.Memory{Summary: req.Summary, RawContent: req.RawContent, Why: req.Why, HowToApply: req.HowToApply}) == row.ContentHash
}
