package tiers

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
	"memd/guard/secrets"
)

// replace puts a redacted text in the place of a field's.
func (in *inspected) replace(f field, text string) {
	*f.text, in.changed = text, true
}

// fit brings a field from which something was taken out back to its limit, for marks
// may be longer than what they stand for. Sizes are held against what was sent, which
// before is; what was longer already, under a limit that was lowered since, stays so.
// Marks are shortened first, then the end goes; a label that is too long is the mark
// alone, for its beginning would be another label.
func (s *Service) fit(in *inspected, m *memd.Memory, f field, before string) {
	limit, size, unit := s.limitOf(m, f.name)
	if size(*f.text) <= limit {
		return
	}
	limit = max(limit, size(before))
	text := secrets.Shorten(*f.text)
	cut := size(text) > limit
	switch {
	case cut && f.label:
		text = secrets.MarkShort
	case cut:
		text = s.cut(m, f, text, limit, size)
	}
	in.replace(f, text)
	in.told = in.told[:min(len(in.told), maxWarnings-1)] // this one is not left out
	if !cut || f.label {
		in.redacted(f.name, "%s: marks are %s alone, for it to stay within %d %s", f.name, secrets.MarkShort, limit, unit)
		return
	}
	in.redacted(f.name, "%s: its end is left out, for marks made it longer than %d %s", f.name, limit, unit)
}

// cut is the beginning of a text in which there is nothing to be found. A cut may
// leave what reads as a secret by itself; that is taken out in its turn.
func (s *Service) cut(m *memd.Memory, f field, text string, limit int, size func(string) int) string {
	for room := limit - size(ellipsis); room >= size(secrets.MarkShort); room -= room/8 + 1 {
		part := shortened(text, room, size)
		f.text = &part
		refused := append(s.takeSecrets(&inspected{}, m, []field{f}), s.takePersonal(&inspected{}, m.Tier, []field{f})...)
		part = secrets.Shorten(part)
		if len(refused) == 0 && size(part)+size(ellipsis) <= limit {
			return part + ellipsis
		}
	}
	return secrets.MarkShort
}

const ellipsis = "…"

// shortened is the beginning of text of at most room, up to the end of a word and not
// into a mark.
func shortened(text string, room int, size func(string) int) string {
	end := 0
	for i, r := range text {
		if room -= size(string(r)); room < 0 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	part := text[:end]
	if open := strings.LastIndex(part, "["); open >= 0 && strings.HasPrefix(text[open:], secrets.MarkShort) && open+len(secrets.MarkShort) > end {
		part = part[:open]
	}
	const word = 200 // bytes that are looked back for its beginning
	if space := strings.LastIndexFunc(part, unicode.IsSpace); space > len(part)-word {
		part = part[:space]
	}
	return strings.TrimRightFunc(part, unicode.IsSpace)
}

// limitOf is how large a field of m may be, by which measure.
func (s *Service) limitOf(m *memd.Memory, name string) (limit int, size func(string) int, unit string) {
	size, unit = utf8.RuneCountInString, "characters"
	switch name {
	case "summary":
		limit = s.summaryLimit(m)
	case "raw_content":
		return int(s.budgets.RawBytes), func(s string) int { return len(s) }, "bytes"
	case "why", "how_to_apply":
		limit = memd.MaxReasonChars
	case "tags":
		limit = memd.MaxTagChars
	case "source":
		limit = memd.MaxSourceChars
	default:
		limit = memd.MaxNameChars
	}
	return limit, size, unit
}

func (s *Service) summaryLimit(m *memd.Memory) int {
	switch m.Tier {
	case memd.Transient:
		return s.budgets.TransientChars
	case memd.Long:
		return s.budgets.LongChars
	}
	return s.budgets.ShortChars
}
