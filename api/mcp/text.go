package mcp

import (
	"strings"
	"unicode/utf8"

	"memd"
	"memd/guard/fence"
)

// entry is a memory as a list item within a fence. Its first line after the head
// is memd's own: the names by which the other tools take it.
func entry(rules fence.Rules, m *memd.Memory) string {
	return named(rules, m, rules.Entry(whole(m), memd.Time{}))
}

// shortened is an entry with the beginning of its texts.
func shortened(rules fence.Rules, m *memd.Memory, part string) string {
	return named(rules, m, rules.Shortened(m, part, memd.Time{}))
}

func named(rules fence.Rules, m *memd.Memory, item string) string {
	at := strings.IndexByte(item, '\n') + 1
	facts := []string{"id " + m.ID, "tier " + string(m.Tier), "namespace " + m.Namespace}
	if len(m.Tags) > 0 {
		facts = append(facts, "tags "+strings.Join(m.Tags, ", "))
	}
	return item[:at] + "  [" + rules.Line(strings.Join(facts, "; ")) + "]\n" + item[at:]
}

// whole is a memory whose summary is all of its texts.
func whole(m *memd.Memory) *memd.Memory {
	one := *m
	one.Summary, one.Why, one.HowToApply = bodyOf(m), "", ""
	return &one
}

// bodyOf is the texts of a memory as one.
func bodyOf(m *memd.Memory) string {
	body := m.Summary
	for _, part := range []struct{ name, text string }{{"Why", m.Why}, {"How to apply", m.HowToApply}, {"Content", m.RawContent}} {
		if part.text != "" {
			body += "\n" + part.name + ": " + part.text
		}
	}
	return body
}

// sheet is the text of an answer: what memd has to say itself, then the memories
// in a fence.
func sheet(preface string, entries []string) string {
	if len(entries) == 0 {
		return preface
	}
	return lines(preface, fence.Wrap(strings.Join(entries, "")))
}

// single is the text of one memory in at most room code points.
func single(rules fence.Rules, preface string, m *memd.Memory, room int) string {
	if text := sheet(preface, []string{entry(rules, m)}); runes(text) <= room {
		return text
	}
	body := bodyOf(m)
	build := func(part string) string { return sheet(preface, []string{shortened(rules, m, part)}) }
	if text := build(longest(body, room, build)); runes(text) <= room {
		return text
	}
	// What describes it leaves no room.
	bare := &memd.Memory{ID: m.ID, Tier: m.Tier, Namespace: clip(m.Namespace, 20), Kind: m.Kind, Stale: m.Stale, StaleReason: m.StaleReason}
	build = func(part string) string { return sheet("", []string{shortened(rules, bare, part)}) }
	return build(longest(body, room, build))
}

// runes is how many code points a text has.
func runes(s string) int { return utf8.RuneCountInString(s) }
