package guard

import (
	"regexp"
	"slices"
	"strings"
)

// Finding is a secret that a text seems to hold. It names the rule alone, never
// what was found.
type Finding struct {
	Rule string
}

// secretRule finds one kind of secret. Where value is set, it is the group that
// holds the secret itself, which must not look like a placeholder.
type secretRule struct {
	name  string
	form  *regexp.Regexp
	value int
}

// The forms are those that the issuers document: fixed prefixes and lengths, so
// that hashes, UUIDs and long names are none. Only the last two go by what stands
// beside the secret.
var secretRules = [...]secretRule{
	{"private_key", regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----`), 0},
	{"aws_access_key", regexp.MustCompile(`\b((?:AKIA|ASIA)[A-Z2-7]{16})\b`), 1},
	{"github_token", regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})`), 1},
	{"gitlab_token", regexp.MustCompile(`\b(glpat-[A-Za-z0-9_-]{20,})`), 1},
	{"slack_token", regexp.MustCompile(`\b(xox[abeoprs]-[A-Za-z0-9-]{10,})`), 1},
	{"stripe_key", regexp.MustCompile(`\b([rs]k_(?:live|test)_[A-Za-z0-9]{16,})`), 1},
	{"api_key", regexp.MustCompile(`\b(sk-(?:[a-z]+-)*[A-Za-z0-9_]{20,})`), 1},
	{"jwt", regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})`), 1},
	{"url_password", regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s/:@]+:([^\s/@]+)@`), 1},
	{"assigned_secret", regexp.MustCompile(`(?i)(?:\b(?:[a-z0-9]+[_-])*(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key)|密码|口令|密钥|令牌)["'` + "`" + `]?\s*(?:=|:|：|是|为)\s*["'` + "`" + `]?([^\s"'` + "`" + `，。；、,;)]{6,})`), 1},
}

// Scan finds secrets in a text: each rule once, in the order of the rules.
func Scan(text string) []Finding {
	var found []Finding
	for _, rule := range secretRules {
		for _, at := range rule.form.FindAllStringSubmatch(text, -1) {
			if rule.value == 0 || secretValue(rule.name, at[rule.value]) {
				found = append(found, Finding{rule.name})
				break
			}
		}
	}
	return found
}

// placeholders are parts of values that stand for a secret and are none.
var placeholders = [...]string{"example", "placeholder", "changeme", "change-me", "redacted", "your", "dummy", "sample", "xxxx", "****", "...", "…", "<", "{", "$", "%"}

// publicForms are values that are no secret: hashes, UUIDs and what is written like
// a name.
var publicForms = regexp.MustCompile(`^(?:(?:sha(?:1|256|512)[:-])?[0-9a-f]{40,128}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))$`)

// secretValue reports whether a value can be a secret. What is only assigned to a
// name that sounds like one must also be written like one: with letters and
// digits, and not as a call, a path or a word.
func secretValue(rule, value string) bool {
	folded := strings.ToLower(value)
	for _, p := range placeholders {
		if strings.Contains(folded, p) {
			return false
		}
	}
	switch rule {
	case "assigned_secret":
		return !publicForms.MatchString(value) && !strings.ContainsAny(value, "()/[]") && mixed(value)
	case "url_password":
		return !slices.Contains([]string{"password", "pass", "secret", "pwd", "pw"}, folded)
	}
	return true
}

// mixed reports whether a value has both letters and digits, or punctuation that
// words do not have.
func mixed(value string) bool {
	letters := strings.ContainsFunc(value, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
	digits := strings.ContainsAny(value, "0123456789")
	return letters && digits || letters && strings.ContainsAny(value, "!@#&*?~^+=")
}
