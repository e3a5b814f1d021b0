package importers

import (
	"regexp"
	"strings"

	"memd"
	"memd/tiers"
)

// rowOf is the content of a long row that is asked for.
func rowOf(req *memd.RememberLongTerm) memd.Memory {
	return memd.Memory{Summary: req.Summary, RawContent: req.RawContent, Why: req.Why, HowToApply: req.HowToApply, Kind: req.Kind}
}

// says reports whether a version of a key says what is asked for. version needs no
// raw_content.
func says(version memd.Memory, req *memd.RememberLongTerm) bool {
	asked := rowOf(req)
	return version.ContentHash == tiers.ContentHash(&asked) && (req.Kind == "" || version.Kind == req.Kind)
}

// mark is what a guard puts in the place of what it takes out of a text.
var mark = regexp.MustCompile(`\[redacted:[a-z0-9_-]+\]`)

// saysRedacted reports whether a whole row says what is asked for, but for what a guard
// took out of it.
func saysRedacted(row memd.Memory, req *memd.RememberLongTerm) bool {
	if req.Kind != "" && row.Kind != req.Kind {
		return false
	}
	for _, f := range [...]struct{ left, sent string }{
		{row.Summary, req.Summary}, {row.RawContent, req.RawContent}, {row.Why, req.Why}, {row.HowToApply, req.HowToApply},
	} {
		if !fits(words(f.left), words(f.sent)) {
			return false
		}
	}
	return true
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// fits reports whether sent is left with something in the place of each mark.
func fits(left, sent string) bool {
	parts := mark.Split(left, -1)
	if len(parts) == 1 {
		return left == sent
	}
	rest, ok := strings.CutPrefix(sent, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
