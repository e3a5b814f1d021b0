package artefacts

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"memd"
)

// reasonLine is a line, or an item of a list, that says why the text above holds or
// how to apply it: **Why:** because.
var reasonLine = regexp.MustCompile(`(?i)^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__|\*|_)?(?:(why|reason|rationale|because|原因|理由|为什么)|(how to apply|如何应用|如何做))(?:\*\*|__|\*|_)?[ \t]*[:：](?:\*\*|__|\*|_)?[ \t]*(.*)$`)

// reasons takes what a text says of why it holds and how to apply it out of it. What
// does not fit stays in the text.
func reasons(text string) (rest, why, how string) {
	if !strings.ContainsAny(text, ":：") || strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		return text, "", ""
	}
	var parts [3]strings.Builder
	into := 0
	for line := range strings.Lines(text) {
		if m := reasonLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && parts[0].Len() > 0 {
			into, line = 1, m[3]+"\n"
			if m[2] != "" {
				into = 2
			}
		} else if strings.TrimSpace(line) == "" || isItem(line) {
			into = 0
		}
		parts[into].WriteString(line)
	}
	rest, why, how = strings.TrimSpace(parts[0].String()), joined(parts[1].String()), joined(parts[2].String())
	if max(utf8.RuneCountInString(why), utf8.RuneCountInString(how)) > memd.MaxReasonChars {
		return text, "", ""
	}
	return rest, why, how
}

// isItem reports whether a line begins an item of a list.
func isItem(line string) bool {
	trimmed := strings.TrimLeft(line, " \t")
	return strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(trimmed, "+ ")
}
