package importers

import (
	"regexp"
	"strings"

	"memd"
	"memd/guard/dates"
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

// keeps reports whether a whole row is what the store makes of what is asked for: the
// same but for what a guard took out of it, and for the dates beside its words.
func keeps(row, asked memd.Memory) bool {
	if asked.Kind != "" && row.Kind != asked.Kind {
		return false
	}
	for _, f := range [...]struct{ left, sent string }{
		{row.Summary, asked.Summary}, {row.RawContent, asked.RawContent}, {row.Why, asked.Why}, {row.HowToApply, asked.HowToApply},
	} {
		if !fits(words(f.left), words(f.sent)) {
			return false
		}
	}
	return true
}

func words(s string) string { return strings.Join(strings.Fields(dates.Bare(s)), " ") }

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
