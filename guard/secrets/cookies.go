package secrets

import (
	"slices"
	"strings"
)

// maxCookies is how far a header of cookies is read, in bytes.
const maxCookies = 1200

var (
	cookiesBegin = lazily(`\A["']?(?:s|值|串|header)?["']?[ \t]*[:=是为][ \t]*["'{]?[ \t]*`)
	cookieName   = lazily(`\A["']?[\w.-]{1,60}["']?[ \t]*[=:][ \t]*["']?`)
)

// cookies finds those that let somebody in, from the first of a header to the
// last: what stands between them is worth no care.
func cookies(text string, at, n int) (int, int) {
	m := cookiesBegin.FindStringIndex(ahead(text, at+n))
	if m == nil {
		return -1, 0
	}
	from := at + n + m[1]
	line := text[from:min(len(text), from+maxCookies)]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	first, last := -1, 0
	for i := 0; i < len(line); {
		name := cookieName.FindStringIndex(line[i:])
		if name == nil {
			break
		}
		start := i + name[1]
		end := start
		for end < len(line) && strings.IndexByte(";, \t\"'}", line[end]) < 0 {
			end++
		}
		if letsIn(line[i:start], line[start:end]) {
			if first < 0 {
				first = start
			}
			last = end
		}
		for i = end; i < len(line) && strings.IndexByte(";, \t\"'}", line[i]) >= 0; i++ {
		}
	}
	if first < 0 {
		return -1, 0
	}
	return from + first, from + last
}

// letsIn reports whether a cookie is one of a session, for its name or its value.
func letsIn(name, value string) bool {
	name = strings.ToLower(strings.Trim(name, "\"'=: \t"))
	if len(value) < 16 || !mixed(value) || placeholder(value) || slices.ContainsFunc([]string{"hm_", "utm", "ajs_", "mp_", "consent", "theme", "lang", "expires"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return false
	}
	called := slices.ContainsFunc([]string{"sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "sso", "ticket", "login", "remember", "passport", "secret"}, func(w string) bool { return strings.Contains(name, w) })
	return called || !strings.HasPrefix(name, "_") && strongToken(value) && !uuid.MatchString(value)
}
