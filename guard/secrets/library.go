package secrets

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/logging"
)

// ruleGeneric is the library's rule for what has no form of its own. It knows no
// prose, so that its findings are looked at again.
const ruleGeneric = "generic-api-key"

// library are the rules of gitleaks, applied as its detector applies them to a
// text without a path; TestLibrary holds the two together. The detector itself
// brings along readers of archives and git, tells no places in bytes, and logs
// what it finds.
type library struct {
	rules    []config.Rule
	allow    []*config.Allowlist // for every rule
	keywords lexicon             // of a rule: it is asked where one of them stands
}

// newLibrary compiles the rules that gitleaks comes with.
func newLibrary() *library {
	// Reading them may log, to a logger of its own package that nobody else uses.
	logging.Logger = zerolog.Nop()

	// Its own way to these rules leads over viper's global state.
	v := viper.New()
	v.SetConfigType("toml")
	var file config.ViperConfig
	must(v.ReadConfig(strings.NewReader(config.DefaultConfig)))
	must(v.Unmarshal(&file))
	translated, err := file.Translate()
	must(err)

	l := &library{allow: translated.Allowlists}
	for _, r := range translated.GetOrderedRules() {
		// One with a path is for files of that name; texts have none.
		if r.Regex == nil || r.Path != nil || r.SkipReport {
			continue
		}
		for _, k := range r.Keywords {
			l.keywords.add(k, len(l.rules))
		}
		l.rules = append(l.rules, r)
	}
	return l
}

// must fails where the rules that are part of the build do not compile.
func must(err error) {
	if err != nil {
		panic("secrets: the rules of gitleaks: " + err.Error())
	}
}

// find returns what the rules find in text, without what looks like a secret to
// them only.
func (l *library) find(text string) []hit {
	hits := l.matches(apart(text))
	outdone := outdoneBy(hits)
	var found []hit
	for _, h := range hits {
		value := text[h.start:h.end]
		if !crossedOut(value) && !(placeholder(value) && !contains(value, isDigit)) && (h.rule != ruleGeneric || isKey(text[:h.start], value) && !outdone(h)) {
			found = append(found, h)
		}
	}
	return found
}

// minToken is how long the tokens are, at least, that apart sets apart.
const minToken = 12

// apart puts spaces in the place of what stands right behind a token and ends a
// sentence, closes a bracket or is not ASCII. Many rules of the library are made
// for files and want a space, a quote or the end of the line there.
func apart(text string) string {
	var b []byte // made where there is something to change
	start, digit := 0, false
	for at := 0; at < len(text); at++ {
		if inToken(text[at]) && text[at] != '.' {
			digit = digit || isDigit(text[at])
			continue
		}
		long := at-start >= minToken && digit
		start, digit = at+1, false
		if text[at] <= ' ' || !long {
			continue
		}
		end := at
		for end < len(text) && strings.IndexByte(",.)]}>|*!?", text[end]) >= 0 {
			end++
		}
		for end < len(text) && text[end] >= utf8.RuneSelf {
			end++
		}
		if end == at || end < len(text) && text[end] > ' ' && text[end-1] < utf8.RuneSelf {
			continue
		}
		if b == nil {
			b = []byte(text)
		}
		for ; at < end; at++ {
			b[at] = ' '
		}
		start = at
		at--
	}
	if b == nil {
		return text
	}
	return string(b)
}

// matches returns what the library finds in text.
func (l *library) matches(text string) []hit {
	asked := make([]bool, len(l.rules))
	var near []span
	l.keywords.each(text, func(at int, t trigger) {
		asked[t.rule] = true
		if l.rules[t.rule].RuleID == ruleGeneric {
			near = around(near, text, at, at+len(t.word))
		}
	})
	var hits []hit
	for i, r := range l.rules {
		switch {
		case !asked[i]:
		case r.RuleID == ruleGeneric:
			for _, s := range near {
				hits = append(hits, l.apply(r, text, s)...)
			}
		default:
			hits = append(hits, l.apply(r, text, span{0, len(text)})...)
		}
	}
	return hits
}

// span is a part of a text.
type span struct{ start, end int }

// Reach of the rule without a form around its word: a name of 50 characters before
// it; behind it 20, three of space or quote, a sign of three, and five more. Then
// comes the value, as long as it may be, and what ends it.
const (
	reachBefore = 64
	reachBehind = 48
)

// around adds to spans what the rule without a form can match around a word of its,
// behind those of earlier words. It is the one rule whose words are in every long
// text, and reads it slowly.
func around(spans []span, text string, start, end int) []span {
	s := span{max(0, start-reachBefore), min(len(text), end+reachBehind)}
	if last := len(spans) - 1; last >= 0 && s.end <= spans[last].end-2 {
		return spans // the token that it ends in was gone through before
	}
	for s.end < len(text) && inToken(text[s.end]) {
		s.end++
	}
	s.end = min(len(text), s.end+2)
	if last := len(spans) - 1; last >= 0 && s.start <= spans[last].end {
		spans[last].end = max(spans[last].end, s.end)
		return spans
	}
	return append(spans, s)
}

// outdoneBy returns what reports whether a rule with a form of its own, one of
// hits, found the same as the rule without.
func outdoneBy(hits []hit) func(hit) bool {
	var formed []hit
	for _, h := range hits {
		if h.rule != ruleGeneric {
			formed = append(formed, h)
		}
	}
	slices.SortFunc(formed, func(a, b hit) int { return a.start - b.start })
	for i := 1; i < len(formed); i++ {
		formed[i].end = max(formed[i].end, formed[i-1].end) // the furthest so far
	}
	return func(h hit) bool {
		n, _ := slices.BinarySearchFunc(formed, h.start+1, func(f hit, start int) int { return f.start - start })
		return n > 0 && formed[n-1].end >= h.end
	}
}

// apply returns what one rule finds in a part of text.
func (l *library) apply(r config.Rule, text string, within span) []hit {
	var hits []hit
	lines := lineLists{}
	for _, m := range r.Regex.FindAllStringIndex(text[within.start:within.end], -1) {
		m[0], m[1] = m[0]+within.start, m[1]+within.start
		match := strings.TrimRight(text[m[0]:m[1]], "\n")
		start, end, ok := secretOf(r, match)
		if !ok {
			continue
		}
		secret := match[start:end]
		if r.Entropy != 0 && entropy(secret) <= r.Entropy {
			continue
		}
		start, end = m[0]+start, m[0]+end
		if h := (hit{r.RuleID, start, end}); !lines.allowed(l.allow, text, m, match, secret) && !lines.allowed(r.Allowlists, text, m, match, secret) {
			hits = append(hits, h)
		}
	}
	return hits
}

// secretOf is where the secret stands in what a rule matched: the group that it
// names, or else the first that holds something, or all of it.
func secretOf(r config.Rule, match string) (start, end int, ok bool) {
	groups := r.Regex.FindStringSubmatchIndex(match)
	if r.SecretGroup > 0 {
		if i := 2 * r.SecretGroup; i < len(groups) && groups[i] >= 0 {
			return groups[i], groups[i+1], true
		}
		return 0, 0, false
	}
	for i := 2; i < len(groups); i += 2 {
		if groups[i] >= 0 && groups[i] < groups[i+1] {
			return groups[i], groups[i+1], true
		}
	}
	return 0, len(match), true
}

// lineLists remember what lists say about the lines of a match, which many
// matches of one rule may share: a line is read once a list, however long it is.
type lineLists map[*config.Allowlist]struct {
	at      span
	allowed bool
}

// allowed reports whether a list of the library lets a secret pass.
func (l lineLists) allowed(lists []*config.Allowlist, text string, at []int, match, secret string) bool {
	return slices.ContainsFunc(lists, func(a *config.Allowlist) bool {
		named := func() bool {
			switch a.RegexTarget {
			case "match":
				return a.RegexAllowed(match)
			case "line":
				return l.line(a, text, at)
			}
			return a.RegexAllowed(secret)
		}
		stopped, _ := a.ContainsStopWord(secret)
		if a.MatchCondition != config.AllowlistMatchAnd {
			return stopped || named()
		}
		// All that the list names must hold, and a text has no path or commit.
		return len(a.Commits) == 0 && len(a.Paths) == 0 &&
			(len(a.Regexes) == 0 || named()) && (len(a.StopWords) == 0 || stopped)
	})
}

// line reports whether a list lets what stands in the lines of a match pass.
func (l lineLists) line(a *config.Allowlist, text string, at []int) bool {
	known, ok := l[a]
	if ok && at[0] >= known.at.start && at[1] <= known.at.end {
		return known.allowed
	}
	known.at = span{strings.LastIndexByte(text[:at[0]], '\n') + 1, len(text)}
	if i := strings.IndexByte(text[at[1]:], '\n'); i >= 0 {
		known.at.end = at[1] + i
	}
	line := text[known.at.start:known.at.end]
	known.allowed = a.RegexAllowed(line)
	if !strings.Contains(line, "\n") { // a match over several lines shares them with none
		l[a] = known
	}
	return known.allowed
}
