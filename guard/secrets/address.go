package secrets

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// addressRules find secrets within addresses.
func addressRules() []rule {
	return []rule{
		{"url-password", []string{"://"}, urlPassword},
		{"url-password", []string{"@tcp(", "@unix(", "@udp("}, dsnPassword},
		after("url-signature", `([A-Za-z0-9%+/_-]{20,}=?)`, mixed, "&sig=", "?sig=", "&signature=", "?signature=", "x-amz-signature=", "x-goog-signature=", "x-oss-signature=", "x-cos-signature=", "q-signature="),
		after("url-signature", `([A-Za-z0-9%+/_-]{40,}=?)`, mixed, "sig=").atWord(),
		after("azure-account-key", `([A-Za-z0-9+/]{60,90}={0,2})`, mixed, "accountkey=", "sharedaccesskey="),
		{rulePassword, []string{":5432:", ":*:*:", ":5432:*:"}, pgpass},
		after("otp-seed", `[^\s?]{0,200}\?[^\s]{0,100}?secret=([A-Za-z2-7]{16,128})`, nil, "otpauth://"),
	}
}

// urlPassword finds the password, or the token alone, before the host of an
// address. One that is the name of the user is no secret but a default.
func urlPassword(text string, at, n int) (int, int) {
	if at == 0 || !isAlnum(text[at-1]) {
		return -1, 0
	}
	start := at + n
	rest := ahead(text, start)
	if i := strings.IndexAny(rest, " \t\r\n\"'`/?#|"); i >= 0 {
		rest = rest[:i]
	}
	host := strings.LastIndexByte(rest, '@')
	if host < 0 || host+1 == len(rest) {
		return -1, 0
	}
	user, password, pair := strings.Cut(rest[:host], ":")
	if !pair {
		if !strongToken(user) {
			return -1, 0
		}
		return start, start + host
	}
	if placeholder(password) || password == user || len(password) < 4 {
		return -1, 0
	}
	return start + len(user) + 1, start + host
}

// dsnPassword is that of a Go data source name: user:password@tcp(host)/db.
func dsnPassword(text string, at, _ int) (int, int) {
	user := behind(text, at)
	if i := strings.LastIndexAny(user, " \t\r\n\"'`=/"); i >= 0 {
		user = user[i+1:]
	}
	user, password, pair := strings.Cut(user, ":")
	if !pair || placeholder(password) || password == user || len(password) < 4 || !utf8.ValidString(user) {
		return -1, 0
	}
	return at - len(password), at
}

// pgpass is the last part of host:port:database:user:password.
func pgpass(text string, at, n int) (int, int) {
	line := ahead(text, at+n)
	if i := strings.IndexAny(line, " \t\r\n\"'`"); i >= 0 {
		line = line[:i]
	}
	parts := strings.Split(line, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return -1, 0
	}
	password := parts[len(parts)-1]
	if placeholder(password) || !contains(password, isLetter) || len(password) < 6 || password == parts[len(parts)-2] {
		return -1, 0
	}
	return at + n + len(line) - len(password), at + n + len(line)
}

// headerRules find secrets in headers of HTTP, and on the command line of curl.
func headerRules() []rule {
	return []rule{
		after("bearer-header", `[ \t]+["']?([A-Za-z0-9._~+/=-]{16,})`, func(v string) bool { return strongToken(v) || mixed(v) && len(v) >= 24 }, "bearer"),
		after("basic-header", `[ \t]+["']?([A-Za-z0-9+/=_-]{8,})`, isBasic, "basic"),
		after("basic-header", `["']?[ \t]*[=:][ \t]*["']?([A-Za-z0-9+/=_-]{12,})`, isBasic, `"auth`, "_auth", "'auth"),
		after("authorization-header", `["']?[ \t]*[:=][ \t]*["']?(?:[A-Za-z-]{1,20}[ \t]+)?([A-Za-z0-9._~+/=-]{16,})`, strongToken, "authorization"),
		{"session-cookie", []string{"cookie"}, cookies},
		after("session-cookie", `(?:[^\n|]{0,200}?[ \t])?(?:-b|--cookie)[ \t=]*["']?[\w.-]{1,40}=([^;\s"']{16,200})`, mixed, "curl "),
		after("session-cookie", `["']?([A-Za-z0-9%._-]{24,})`, func(v string) bool { return mixed(v) && !uuid.MatchString(v) }, "sessionid=", "phpsessid=", "jsessionid=", "connect.sid="),
		after("session-cookie", `[ \t]*["']?([A-Za-z0-9%._-]{24,})`, func(v string) bool { return strongToken(v) && !isHash(v) && !uuid.MatchString(v) }, "session cookie:", "session cookie is", "cookie value:", "sessionid:", "session id:"),
		after("curl-password", `[^\n|]{0,200}?[ \t](?:-u|--user)[ \t=]*["']?[\w.@$-]{1,60}:([^\s"']{4,100})`, func(v string) bool { return !elsewhere(v) || !strings.ContainsAny(v, "()") }, "curl ", "wget "),
	}
}

// isBasic reports whether a value is a user and a password in base64.
func isBasic(value string) bool {
	if len(value) > maxMatch/2 {
		value = value[:maxMatch/2] // of a long one the begin tells as much
	}
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil || !readable(plain) {
		return false
	}
	user, password, ok := strings.Cut(string(plain), ":")
	return ok && !strings.ContainsAny(user, " \n") && password != "" && !placeholder(password)
}
