package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of max_chars, in code points. It bounds the text of an answer and its
// structured content, each for itself.
const (
	minChars     = 500
	maxChars     = 100_000
	defaultChars = 16_000
)

// mark ends what was cut.
const mark = "… (shortened)"

// texts of a memory in the order in which they give way, and how much of each is
// kept before what describes it goes.
var texts = [...]string{"raw_content", "how_to_apply", "why", "summary"}

const keptChars = 200

// expendable are the members of a memory that a small answer does without, the
// first first. Those that this release does not know go before them.
var expendable = [...]string{
	"breakdown", "content_hash", "took_ms", "last_accessed_at", "access_count", "created_at", "verified_by", "owner", "agent", "session_id",
	"resolved_at", "expires_at", "access", "score", "matched", "source_status", "updated_at", "tags", "importance", "stale_reason",
	"source", "verified_at", "version", "age", "kind", "tier", "stale", "namespace", "memory_key",
}

// essential are the members of a memory that stay.
var essential = [...]string{"id", "summary", "shortened"}

// shrunk is a memory in at most room code points, and what was cut: texts by
// their name, and "metadata" for the rest. It is as it was where it fits.
func shrunk(o object, room int) (object, []string) {
	var cut []string
	note := func(name string) {
		if !slices.Contains(cut, name) {
			cut = append(cut, name)
		}
	}
	trim := func(least int) {
		for _, name := range texts {
			over := chars(encode(o)) - room
			s := o.text(name)
			if over <= 0 || utf8.RuneCountInString(s) <= max(least, len(mark)) {
				continue
			}
			o = o.with(name, clipped(s, max(chars(o.get(name))-over, least)))
			note(name)
		}
	}
	trim(keptChars)
	for _, name := range order(o) {
		if chars(encode(o)) <= room {
			return o, cut
		}
		if slices.Contains(texts[:3], name) {
			continue
		}
		o = o.without(name)
		note("metadata")
	}
	trim(0)
	if chars(encode(o)) > room {
		o = o.without("raw_content").without("why").without("how_to_apply")
	}
	return o, cut
}

// order is the members of o that may go, in the order in which they do.
func order(o object) []string {
	var names []string
	for _, m := range o {
		if !slices.Contains(expendable[:], m.name) && !slices.Contains(essential[:], m.name) && !slices.Contains(texts[:], m.name) {
			names = append(names, m.name)
		}
	}
	return append(names, expendable[:]...)
}

// clipped is the beginning of s with a mark, of at most room code points as a JSON
// string, quotes and mark included; the mark alone where there is no room.
func clipped(s string, room int) string {
	left := room - 2 - utf8.RuneCountInString(mark)
	for i, r := range s {
		if left -= escapedChars(r); left < 0 {
			return s[:i] + mark
		}
	}
	return s
}

// escapedChars is how many code points encode makes of one within a string.
func escapedChars(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029':
		return 6
	}
	return 1
}

// clip is the beginning of s in n code points, with a mark where something was cut.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:max(n-utf8.RuneCountInString(mark), 0)]) + mark
}

// longest is the longest beginning of s with which build's text has at most room
// code points; "" where none has. A longer beginning makes no shorter text.
func longest(s string, room int, build func(part string) string) string {
	runes := []rune(s)
	lo, hi := 0, len(runes)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if utf8.RuneCountInString(build(string(runes[:mid]))) <= room {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return string(runes[:lo])
}

// fewer is an answer whose lists are cut until it has room: names are tried in
// their order, and each gives its last entries first.
func fewer(o object, room int, names ...string) (object, []string) {
	var cut []string
	for _, name := range names {
		var items []json.RawMessage
		if json.Unmarshal(o.get(name), &items) != nil {
			continue
		}
		over := chars(encode(o)) - room
		kept := len(items)
		for over > 0 && kept > 0 {
			kept--
			over -= chars(items[kept]) + 1
		}
		if kept < len(items) {
			o = o.with(name, append([]json.RawMessage{}, items[:kept]...))
			cut = append(cut, name)
		}
	}
	return o, cut
}

// lines joins what is not empty.
func lines(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}
