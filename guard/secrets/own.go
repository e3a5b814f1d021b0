package secrets

import (
	"regexp"
	"slices"
	"strings"
)

// rule is one of our own. It is asked only where one of its words stands, so
// that text without any costs next to nothing.
type rule struct {
	id    string
	words []string // in lower case; those of ASCII are found in either
	// find looks at the word text[at:at+n] and returns the range of the secret;
	// start is -1 where there is none.
	find func(text string, at, n int) (start, end int)
}

// own are our rules and the words where they begin.
type own struct {
	rules []rule
	words lexicon
}

func newOwn() *own {
	o := &own{rules: slices.Concat(tokenRules(), webhookRules(), assignmentRules(), codeRules(), phraseRules(), walletRules(), seedRules(), callRules(), besideRules(), addressRules(), headerRules(), fileRules())}
	o.rules = append(o.rules, rule{id: ruleUnsettled})
	for i, r := range o.rules {
		for _, w := range r.words {
			o.words.add(w, i)
		}
	}
	return o
}

// ruleUnsettled stands for a text that Clean could not settle.
const ruleUnsettled = "unsettled"

// find returns what our rules find in text.
func (o *own) find(text string) []hit {
	var hits []hit
	passed := make([]int, len(o.rules)) // where the last long hit of each ends: what it finds within is no other secret
	o.words.each(text, func(at int, t trigger) {
		if at < passed[t.rule] {
			return
		}
		r := o.rules[t.rule]
		if start, end := r.find(text, at, len(t.word)); start >= 0 && start < end {
			hits = append(hits, hit{r.id, start, end})
			if end-start > maxMatch {
				passed[t.rule] = end
			}
		}
	})
	return hits
}

// maxMatch is how far from its word a rule looks, in bytes. It also keeps
// regexp on its fast path.
const maxMatch = 400

// ahead is the text from at on, as far as rules look.
func ahead(text string, at int) string { return text[at:min(len(text), at+maxMatch)] }

// behind is the text before at, as far as rules look back.
func behind(text string, at int) string { return text[max(0, at-maxMatch):at] }

// wholeToken is where a match that begins at from and has n bytes ends, which
// may be further than a rule looks. A rule judges what it looks at, and asks for
// the rest of what it found only, so that it reads a long token once.
func wholeToken(text string, from, n int) int {
	if n < maxMatch {
		return from + n
	}
	return wordEnd(text, from+n)
}

// startsWord reports whether no letter or digit stands before at.
func startsWord(text string, at int) bool { return at == 0 || !isAlnum(text[at-1]) }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// form is a rule for a token that begins with one of words, in this case of
// letters, and goes on as pattern says. No letter or digit stands before it, and
// none after it.
func form(id, pattern string, words ...string) rule {
	re := regexp.MustCompile(`\A` + pattern)
	lowered := make([]string, len(words))
	for i, w := range words {
		lowered[i] = strings.ToLower(w)
	}
	return rule{id, lowered, func(text string, at, n int) (int, int) {
		if !startsWord(text, at) || !slices.Contains(words, text[at:at+n]) {
			return -1, 0
		}
		end := re.FindStringIndex(ahead(text, at+n))
		if end == nil {
			return -1, 0
		}
		stop := at + n + end[1]
		if end[1] < maxMatch && stop < len(text) && isAlnum(text[stop]) || crossedOut(text[at:stop]) || !mixed(text[at+n:stop]) && !drawn(text[at+n:stop]) {
			return -1, 0
		}
		return at, wholeToken(text, at+n, end[1])
	}}
}

// after is a rule for a secret that the first group of pattern holds, behind
// one of words in any case of letters.
func after(id, pattern string, ok func(string) bool, words ...string) rule {
	re := regexp.MustCompile(`\A` + pattern)
	return rule{id, words, func(text string, at, n int) (int, int) {
		m := re.FindStringSubmatchIndex(ahead(text, at+n))
		if m == nil || m[2] < 0 {
			return -1, 0
		}
		start, end := at+n+m[2], at+n+m[3]
		if value := text[start:end]; placeholder(value) || ok != nil && !ok(value) {
			return -1, 0
		}
		return start, wholeToken(text, at+n, m[3])
	}}
}

// atWord narrows a rule to where its word is no end of another.
func (r rule) atWord() rule {
	find := r.find
	r.find = func(text string, at, n int) (int, int) {
		if !startsWord(text, at) {
			return -1, 0
		}
		return find(text, at, n)
	}
	return r
}
