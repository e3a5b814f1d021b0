package fence

import (
	"strings"

	"memd"
)

// Entry is one memory as a list item: what it is, where it comes from, how old it
// is, and its texts. They are made harmless as one text, for two of them might
// together make what neither makes alone.
func (r Rules) Entry(m *memd.Memory, now memd.Time) string {
	text := m.Summary
	if m.Why != "" {
		text += "\nWhy: " + m.Why
	}
	if m.HowToApply != "" {
		text += "\nHow to apply: " + m.HowToApply
	}
	return r.head(m, now) + r.Indented(text)
}

// Shortened is an entry with a part of the summary alone, and a pointer to the rest.
func (r Rules) Shortened(m *memd.Memory, part string, now memd.Time) string {
	return r.head(m, now) + r.Indented(part) + "  … (shortened; the whole: memd get " + r.Line(m.ID) + ")\n"
}

// head is the first line of an entry. [Made] knows it again.
func (r Rules) head(m *memd.Memory, now memd.Time) string {
	title := m.MemoryKey
	if title == "" {
		title = m.ID
	}
	return "- [" + r.Line(string(m.Kind)) + "] " + r.Line(title) + r.facts(m, now) + "\n"
}

func (r Rules) facts(m *memd.Memory, now memd.Time) string {
	var parts []string
	if m.Source != "" {
		parts = append(parts, "source "+r.Line(m.Source))
	}
	if !m.VerifiedAt.IsZero() {
		parts = append(parts, "verified "+m.VerifiedAt.String()[:len("2006-01-02")])
	}
	age := m.Age // of a memory as it was answered, which does not say when it was written
	if !m.WrittenAt.IsZero() {
		age = memd.AgeText(m.AgeDays(now))
	}
	if age != "" {
		parts = append(parts, r.Line(age))
	}
	if m.Stale {
		parts = append(parts, "STALE: "+r.Line(string(m.StaleReason)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
