package secrets

import (
	"strings"
	"unicode/utf8"
)

// beyond finds the value of the word text[at:at+n] where it does not stand
// behind it: within the element or behind the cell that the word names, in the
// value of a pair whose name it is, or in the next line.
func beyond(text string, at, n int, password bool) (int, int) {
	name := at + n
	for name < len(text) && name < at+n+maxTail && (isAlnum(text[name]) || strings.IndexByte("_-.", text[name]) >= 0) {
		name++
	}
	if name == len(text) || name == at+n+maxTail {
		return -1, 0
	}
	o := operand{tail: strings.TrimRight(text[at+n:name], ".-_"), password: password}
	for _, find := range []func(text string, at, name int, o *operand) (int, int){element, pair, nextLine, answered, nearby} {
		start, end := find(text, at, name, &o)
		if start < 0 {
			continue
		}
		o.value = text[start:end]
		if o.announced(text, at, n) && o.holds() {
			return start, end
		}
	}
	return -1, 0
}

// maxTag is how long a tag is at most, in bytes, and maxTags how many stand
// between a word and its value.
const (
	maxTag  = 120
	maxTags = 5
)

// element finds the value that an element named by the word, or the one behind
// that of the word, holds: <password>V</password>, <td>password</td><td>V</td>.
func element(text string, at, name int, o *operand) (int, int) {
	i := strings.IndexAny(text[name:min(len(text), name+maxTag)], "<>\n")
	if i < 0 || text[name+i] == '\n' {
		return -1, 0
	}
	i += name
	within := text[i] == '>'
	switch {
	case within && (!opensTag(text, at, i) || text[i-1] == '/'), !within && (strings.Trim(text[name:i], " \t:*") != "" || !markup.MatchString(ahead(text, i))):
		return -1, 0
	}
	if within {
		i++
	}
	opened := within
	for range maxTags {
		i += len(ahead(text, i)) - len(strings.TrimLeft(ahead(text, i), " \t\r\n:"))
		if i == len(text) || text[i] != '<' {
			break
		}
		if strings.HasPrefix(text[i:], "<![CDATA[") {
			i += len("<![CDATA[")
			break
		}
		end := strings.IndexByte(text[i:min(len(text), i+maxTag)], '>')
		closes := strings.HasPrefix(text[i:], "</")
		if end < 0 || opened && closes {
			return -1, 0 // it is empty
		}
		opened = opened || !closes
		i += end + 1
	}
	line := ahead(text, i)
	end := strings.IndexAny(line, "<\n")
	if end < 0 {
		end = len(line)
	}
	value := strings.TrimRight(strings.TrimRight(line[:end], " \t\r"), "]>")
	enclosed := end < len(line) && line[end] == '<'
	if word := strings.IndexAny(value, " \t"); word >= 0 && !enclosed {
		value = value[:word]
	}
	if value == "" {
		return -1, 0
	}
	o.quoted, o.sign, o.last = enclosed, ":", true
	return i, i + len(value)
}

// markup is a tag that ends a word or sets one off, and no place for a value, as
// <your-password> is.
var markup = lazily(`\A<(?:/|!|(?:b|i|em|strong|code|kbd|pre|span|p|div|li|td|th|dd|br|string|value|tt|samp)\b)`)

// opensTag reports whether the word at at stands within a tag that opens and ends
// at end: as the name of the element, or in an attribute.
func opensTag(text string, at, end int) bool {
	before := text[max(0, at-maxTag):at]
	i := strings.LastIndexAny(before, "<>\n")
	if i < 0 || before[i] != '<' || strings.HasPrefix(before[i:], "</") || strings.HasPrefix(before[i:], "<!") {
		return false
	}
	return strings.IndexByte(before[i:], ' ') < 0 || strings.ContainsAny(before[i:], "=") && strings.ContainsAny(text[at:end], "\"'")
}

var pairOfName = lazily("\\A[\"'`)\\]]{0,2}[ \\t]*[,;|{]?[ \\t]*(?:\\r?\\n[ \\t]*)?(?:[A-Za-z]\\w{0,20}[ \\t]*[=:][ \\t]*[\"']?[\\w.-]{0,30}[\"']?[ \\t,]*(?:\\r?\\n[ \\t]*)?){0,3}[\"']?" +
	"(?i:value|default|content|val|default_value|defaultvalue|secret_string|initialvalue)[\"']?[ \\t]*[:=][ \\t]*(?:\"([^\"\\n]{1,200})\"|'([^'\\n]{1,200})'|([^\\s\"',;<>]{4,200}))")

// pair finds the value of a pair that the word names: name: DB_PASSWORD and
// value: V in the next line, <property name="password" value="V"/>.
func pair(text string, _, name int, o *operand) (int, int) {
	if strings.IndexByte("\"'`)] ,;{\r\n", text[name]) < 0 {
		return -1, 0
	}
	near := text[name:min(len(text), name+100)]
	if !strings.Contains(near, "al") && !strings.Contains(near, "AL") && !strings.Contains(near, "on") && !strings.Contains(near, "ef") {
		return -1, 0
	}
	m := pairOfName.FindStringSubmatchIndex(ahead(text, name))
	if m == nil {
		return -1, 0
	}
	for i := 2; i < 8; i += 2 {
		if m[i] >= 0 {
			o.quoted, o.sign, o.last = i < 6, "=", true
			return name + m[i], name + m[i+1]
		}
	}
	return -1, 0
}

var lineOfWord = lazily("\\A[\"'`*)\\]_]{0,3}[ \\t]*(:=|=>|=|:|)\\**[ \\t]*(?:[>|]-?|\\\\|\\()?[ \\t]*\\r?\\n(?:[ \\t]*\\r?\\n|[ \\t]*(?:```\\w*|-{3,}|={3,})[ \\t]*\\r?\\n){0,2}[ \\t>*-]{0,40}" +
	"(?:\"([^\"\\s]{4,200})\"|'([^'\\s]{4,200})'|`([^`\\s]{4,200})`|([!-~]{4,200}))[ \\t]*[;,]?[ \\t]*(?:\\r?\\n|\\z)")

// nextLine finds a value that stands alone in the line behind that of the word,
// which ends with it or with a sign.
func nextLine(text string, at, name int, o *operand) (int, int) {
	if strings.IndexByte("\"'`*)]_ \t:=\r\n", text[name]) < 0 {
		return -1, 0
	}
	if i := strings.IndexByte(text[name:min(len(text), name+12)], '\n'); i < 0 {
		return -1, 0
	}
	m := lineOfWord.FindStringSubmatchIndex(ahead(text, name))
	if m == nil {
		return -1, 0
	}
	for i := 4; i < len(m); i += 2 {
		if m[i] < 0 {
			continue
		}
		start, end := name+m[i], name+m[i+1]
		value := bare(text[start:end], "")
		if i < len(m)-2 {
			value = text[start:end]
		}
		o.sign, o.quoted, o.last = text[name+m[2]:name+m[3]], i < len(m)-2, true
		chosen := looksChosen(value) || strongToken(value) && len(value) >= 16 && !uuid.MatchString(value) && !isHash(value)
		if o.password && o.sign == "" && !looksChosen(value) || !chosen && !(o.sign == "=" && o.password) {
			return -1, 0
		}
		if o.sign == "" {
			o.sign = ":"
		}
		return start, start + len(value)
	}
	return -1, 0
}

var answerOf = lazily(`\A[^\n?:]{0,40}(?:\?|多少|什么|哪个|发我|给我|发一下|发来|告诉我|忘了|[吗呢]|pls|please)(?:一下|again)?[ \t]*\?*[ \t]*\r?\n[ \t>*-]{0,8}(?:\[[\d: -]{4,20}\][ \t]*)?(?:[\p{L}][\p{L} ._]{0,20}:[ \t]*)?(?:(?i:it's|it is|是)[ \t]*)?["'` + "`" + `]?([!-~]{6,64})`)

// answered finds the value that the next line of a talk gives where one asks for it.
func answered(text string, at, name int, o *operand) (int, int) {
	near := text[name:min(len(text), name+60)]
	if i := strings.IndexByte(near, '\n'); i < 0 || strings.IndexByte(near[:i], ':') >= 0 {
		return -1, 0
	}
	m := answerOf.FindStringSubmatchIndex(ahead(text, name))
	if m == nil {
		return -1, 0
	}
	start := name + m[2]
	value := bare(text[start:name+m[3]], "")
	if !endsSentence(text, start+len(value)) || !looksChosen(value) && !chosenWithAt(value) && !(strongToken(value) && len(value) >= 20 && !isHash(value) && !uuid.MatchString(value)) {
		return -1, 0
	}
	o.sign, o.quoted = ":", true
	return start, start + len(value)
}

// maxNear is how far from the word for it a password stands in a sentence that says
// no more, in bytes.
const maxNear = 48

// nearby finds a word in the sentence behind the one for a password that is one
// wherever it stands.
func nearby(text string, at, name int, o *operand) (int, int) {
	if !o.password {
		return -1, 0
	}
	o.sign, o.quoted = ":", true
	among := "!$%^&*?"
	if text[at] >= utf8.RuneSelf {
		among += "#@" // which stand in names of issues and packages, and in English notes on these
	}
	return signedNear(text, name, among)
}

// signedNear finds a word with one of signs, and all else that a password has,
// before a sentence ends.
func signedNear(text string, from int, signs string) (int, int) {
	end := min(len(text), from+maxNear)
	for i := from; i < end; {
		for i < end && (text[i] <= ' ' || text[i] >= utf8.RuneSelf || strings.IndexByte("\"'`(+,:/", text[i]) >= 0) {
			if text[i] == '\n' || strings.HasPrefix(text[i:], "。") {
				return -1, 0
			}
			i++
		}
		stop := i
		for stop < min(len(text), i+64) && text[stop] > ' ' && text[stop] <= '~' && strings.IndexByte("\"'`,", text[stop]) < 0 {
			stop++
		}
		if value := strings.TrimRight(bare(text[i:stop], ""), "!?"); strings.ContainsAny(value, signs) && signedToken(value) && !issueOf.MatchString(value) {
			return i, i + len(value)
		}
		if stop > i && text[stop-1] == '.' {
			return -1, 0 // the sentence ends
		}
		i = max(stop, i+1)
	}
	return -1, 0
}

// issueOf is the name of an issue of a project.
var issueOf = lazily(`\A[A-Za-z-]+#\d+\z`)
