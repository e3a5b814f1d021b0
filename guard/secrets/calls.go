package secrets

import (
	"slices"
	"strings"
)

// maxArguments is how many strings of a call are looked at.
const maxArguments = 4

// callRules find the key that a call of a library for keys is given as a string.
func callRules() []rule {
	return []rule{
		{ruleToken, []string{"fernet(", "aesgcm(", "aes.new(", "hmac.new(", "hmac(", "createhmac(", "createcipheriv(", "createdecipheriv(", "createsecretkey(", "secretkeyspec(", "hmacsha256(", "hmacsha512(", "jwt.encode(", "jwt.decode(", "jwt.sign(", "jwt.verify(", "signwith(", "signinkey(",
			"cryptojs.aes.", "cryptojs.hmac", "totp(", "hotp(", "serializer(", "signer(", "secretbox(", "chacha20poly1305(", "symmetricsecuritykey(", "client.login(", "bot.run(", "client.run(", "telegraf(", "setapikey(", "set_api_key(", "withapikey(", "usetoken(", "hash_hmac(", "openssl_encrypt("}, keyOfCall},
	}
}

// keyOfCall finds the first string of a call, whose name text[at:at+n] is, that is
// no name of a method or an encoding.
func keyOfCall(text string, at, n int) (int, int) {
	line := ahead(text, at+n)
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	for i, found := 0, 0; found < maxArguments; found++ {
		open := strings.IndexAny(line[i:], "\"'`")
		if open < 0 {
			break
		}
		open += i
		length := strings.IndexByte(line[open+1:], line[open])
		if length < 0 {
			break
		}
		start := open + 1
		i = start + length + 1
		value := line[start : start+length]
		if len(value) < 8 || strings.ContainsAny(value, " \t") || !(strongToken(value) || looksChosen(value) || isHex(value) && len(value) >= 32) || speaksOfTechnique(value) || slices.Contains(technical(), strings.ToLower(value)) || uuid.MatchString(value) || placeholder(value) {
			continue
		}
		return at + n + start, at + n + start + length
	}
	return -1, 0
}
