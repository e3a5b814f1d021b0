package secrets

import (
	"regexp"
	"strings"
)

// fileRules find what files hold that are secrets as a whole.
func fileRules() []rule {
	return []rule{
		{"private-key", []string{"-----begin "}, privateKey()},
		after("private-key", `[^\n]*(?:\n|\\n)(?:[^\n]*(?:\n|\\n)){0,12}?Private-Lines:[ \t]*\d+[ \t]*(?:\n|\\n)([A-Za-z0-9+/=\s]{40,})`, nil, "putty-user-key-file"),
		after("age-key", `([A-Z0-9]{50,60})`, nil, "age-secret-key-1"),
		privateJWK(),
		passwordHash(),
		after("kubernetes-secret", `[ \t]*["']?([A-Za-z0-9+/]{8,200}={0,2})`, isEncodedSecret, "password:", "passwd:", "token:", "secret:"),
	}
}

// privateKey takes a block from its first line to its last, or as far as it goes
// where it is cut off.
func privateKey() func(string, int, int) (int, int) {
	first := regexp.MustCompile(`\A[A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)-----`)
	body := regexp.MustCompile(`\A(?:[A-Za-z0-9+/=\s]|\\r|\\n|[A-Za-z-]+: [^\n]*\n)*`)
	last := regexp.MustCompile(`\A-----END [A-Za-z0-9 ]{0,40}-----`)
	return func(text string, at, n int) (int, int) {
		m := first.FindStringIndex(ahead(text, at+n))
		if m == nil {
			return -1, 0
		}
		start := at + n + m[1]
		upTo := len(text) // another begins before, or this one ends
		if i := strings.Index(text[start:], "PRIVATE KEY"); i >= 0 {
			upTo = start + i
		}
		end := start + body.FindStringIndex(text[start:upTo])[1]
		if len(strings.Join(strings.Fields(text[start:end]), "")) < 32 || crossedOut(text[start:end]) {
			return -1, 0
		}
		if m := last.FindStringIndex(ahead(text, end)); m != nil {
			end += m[1]
		}
		return at, end
	}
}

// privateJWK takes the private number of a JSON web key.
func privateJWK() rule {
	r := after("jwk", `[ \t\r\n]*:[ \t\r\n]*"([A-Za-z0-9_-]{16,})"`, nil, `"d"`, `"k"`)
	find := r.find
	r.find = func(text string, at, n int) (int, int) {
		if !strings.Contains(text[max(0, at-2000):min(len(text), at+2000)], `"kty"`) {
			return -1, 0
		}
		return find(text, at, n)
	}
	return r
}

// passwordHash is a hash of a password, which is one once somebody has guessed.
func passwordHash() rule {
	re := regexp.MustCompile(`\A(?:\$2[abxy]\$\d\d\$[A-Za-z0-9./]{53}|\$(?:1|5|6|y|apr1|argon2(?:id?|d)|scrypt|pbkdf2-sha\d+)\$[^\s:"']{20,}|` +
		`\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{26,}={0,2}|SCRAM-SHA-(?:1|256)\$\d+:[^\s"']{20,}|pbkdf2_sha\d+\$\d+\$[^\s"']{20,})`)
	return rule{"password-hash", []string{"$2a$", "$2b$", "$2x$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$argon2", "$scrypt$", "$pbkdf2-",
		"{sha", "{ssha", "scram-sha-", "pbkdf2_sha"}, func(text string, at, _ int) (int, int) {
		m := re.FindStringIndex(ahead(text, at))
		if m == nil || crossedOut(strings.ReplaceAll(text[at:at+m[1]], ".", "a")) { // dots are digits of it
			return -1, 0
		}
		return at, at + m[1]
	}}
}

// isEncodedSecret reports whether a value is base64 for one word that is no
// name, as the data of a Kubernetes secret is.
func isEncodedSecret(value string) bool {
	if len(value)%4 != 0 || !mixed(value) {
		return false
	}
	plain := decode(strings.TrimRight(value, "="))
	return len(plain) >= 6 && !strings.ContainsAny(plain, " \t\n") && !placeholder(plain) && !nameLike(plain)
}
