package derivable

import (
	"regexp"
	"strings"
)

// traces are the marks of stack traces by language: the line that begins one, and
// its frames. Two marks of one language make a trace, so that one line of an error
// may be quoted.
var traces = [...]struct {
	needs  string // stands in each such line ...
	prefix bool   // ... at its beginning, but for space
	mark   *regexp.Regexp
}{
	{"goroutine ", true, regexp.MustCompile(`^goroutine \d+ (gp=\S+ m=\S+ (mp=\S+ )?)?\[[^\]]+\]:$`)},
	{".go:", false, regexp.MustCompile(`^\S+\.go:\d+ \+0x[0-9a-f]+$`)},
	{"Traceback", true, regexp.MustCompile(`^Traceback \(most recent call last\):$`)},
	{`File "`, true, regexp.MustCompile(`^File "[^"]+", line \d+(, in .+)?$`)},
	{"at ", true, regexp.MustCompile(`^at [\w.$/<>@ ]+\((\w+\.(java|kt|kts|scala|groovy|clj):\d+|Native Method|Unknown Source)\)`)},
	{"Exception", false, regexp.MustCompile(`^(Exception in thread "[^"]*" |Caused by: )[\w.$]+(Exception|Error)\b`)},
	{"at ", true, regexp.MustCompile(`^at (async )?(new )?([\w.$<>\[\] ]+ \()?(file://|node:|webpack|https?://|/|[A-Za-z]:\\|\./|\w)[^\s()]*:\d+:\d+\)?$`)},
	{"at ", true, regexp.MustCompile(`^at [\w.<>` + "`" + `\[\]]+\([^)]*\) in .+:line \d+$`)},
	{"at ", true, regexp.MustCompile(`^at (\./|/)\S+\.rs:\d+(:\d+)?$`)},
	{":in ", false, regexp.MustCompile("^(from )?\\S+\\.rb:\\d+:in [`'][^']+'(:.*)?$")},
	{"#", true, regexp.MustCompile(`^#\d+ +0x[0-9a-f]+ in .+`)},
}

// isTrace reports whether two lines or more are marks of stack traces.
func isTrace(all []string) bool {
	found := 0
	for _, line := range all {
		if len(line) > maxMarked {
			continue
		}
		trimmed := strings.TrimSpace(line)
		for _, t := range traces {
			if (t.prefix && strings.HasPrefix(trimmed, t.needs) || !t.prefix && strings.Contains(trimmed, t.needs)) && t.mark.MatchString(trimmed) {
				found++
				break
			}
		}
		if found == 2 {
			return true
		}
	}
	return false
}

// maxMarked is how long a line may be, in bytes, that is looked at by patterns.
const maxMarked = 1000
