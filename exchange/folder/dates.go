package folder

import (
	"strings"

	"memd"
	"memd/guard/dates"
)

// dated is a request for the row of a file, over the row that stands there: the lines of
// it that a person left as they were keep the dates that the store put beside their words
// when they were new. Else "Thursday" would become another day with each edit of a line
// that has nothing to do with it.
func dated(req memd.RememberLongTerm, row memd.Memory) memd.RememberLongTerm {
	if req.Kind != memd.Project {
		return req
	}
	req.Summary, req.RawContent = carried(req.Summary, row.Summary), carried(req.RawContent, row.RawContent)
	req.Why, req.HowToApply = carried(req.Why, row.Why), carried(req.HowToApply, row.HowToApply)
	return req
}

// carried is a text whose lines are those of another wherever they differ in such dates
// alone.
func carried(text, from string) string {
	if !dates.MayTell(text) || !dates.MayTell(from) {
		return text
	}
	with := map[string]string{}
	for line := range strings.SplitSeq(from, "\n") {
		if bare := dates.Stripped(line); bare != line && with[bare] == "" {
			with[bare] = line
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if before := with[line]; before != "" {
			lines[i] = before
		}
	}
	return strings.Join(lines, "\n")
}
