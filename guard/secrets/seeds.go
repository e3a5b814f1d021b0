package secrets

import (
	"strings"
)

// seedRules find what second factors are made from (RFC 6238), in base32: in one
// run, or in groups of four as it is shown to be typed.
func seedRules() []rule {
	const gap = `[^\n]{0,50}?(?:[ \t:=("'` + "`" + `“「]|是|为|は)`
	names := []string{"totp", "2fa", "mfa", "otp", "two-factor", "two factor", "authenticator", "setup key", "manual entry key", "oathtool", "两步验证", "双因素", "二次验证", "验证器", "动态口令", "動態", "二段階認証", "認証アプリ", "zwei-faktor", "einrichtungsschlüssel"}
	return []rule{
		after("otp-seed", gap+`([A-Z2-7]{16,128}={0,6})(?:[^A-Za-z0-9]|\z)`, isSeed, names...),
		after("otp-seed", gap+`((?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})(?:[^A-Za-z0-9]|\z)`, isSeed, names...),
		after("otp-seed", gap+`([a-z2-7]{16,64})(?:[^A-Za-z0-9]|\z)`, func(v string) bool { return contains(v, isDigit) && isSeed(v) }, names...),
	}
}

// isSeed reports whether a value is drawn of all of base32, and no word.
func isSeed(value string) bool {
	plain := strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(value))
	return distinct(plain) >= 7 && (contains(plain, isDigit) || strings.ToUpper(value) == value && len(plain) >= 20) && !nameLike(value) && !isHex(plain)
}
