package secrets

import (
	"strings"
)

// walletRules find keys that are nothing but a number in the writing of their kind,
// behind a word for them; and such as are known for how the encoding of their
// kind begins.
func walletRules() []rule {
	const gap = `(?:[^\n]{0,40}?[ \t:=("'` + "`" + `“「]|[ \t]*(?:是|为|は|는)?[ \t]*)`
	const end = `(?:[^1-9A-Za-z]|\z)`
	names := []string{"private key", "privkey", "private_key", "privatekey", "private-key", "wif", "paper wallet", "spend key", "view key", "secret key", "secret_key", "wallet", "keypair", "私钥", "私鑰", "秘密鍵", "钱包", "clé privée", "clave privada", "privater schlüssel", "privaten schlüssel"}
	return []rule{
		after("wallet-key", `[ \t]*(?:is|:|=|是|为)?[ \t]*["'`+"`"+`]?((?:0x)?[0-9a-fA-F]{64})\b`, nil, names...),
		after("wallet-key", gap+`([5KLc9][1-9A-HJ-NP-Za-km-z]{50,51})`+end, mixed, names...),
		after("wallet-key", gap+`([1-9A-HJ-NP-Za-km-z]{86,88})`+end, mixed, names...),
		after("wallet-key", gap+`(S[A-Z2-7]{55}|sEd[1-9A-HJ-NP-Za-km-z]{28}|s[1-9A-HJ-NP-Za-km-z]{28})`+end, mixed, append(names, "stellar", "ripple", "xrp")...),
		{"private-key", []string{"miie", "miic", "miib", "miij", "miig", "mhcc", "migh", "migt", "mc4c", "ltewls0tlujfr0lo", "ls0tls1crud", "b3blbnnzac1r"}, bareKey},
	}
}

// How the base64 of a private key begins: PKCS 1, PKCS 8 and SEC 1 (RFC 8017, 5958
// and 5915), a key of OpenSSH, and one in armour once more encoded.
var keyBegins = lazily(`\A(?:MII[A-Za-z0-9+/]{2,3}IBAAKC|MII[A-Za-z0-9+/]{2,3}[A-Z]?IBADANBgkqhkiG9w0B|MII[A-Za-z0-9+/]{1,6}AgEAA|MHcCAQEEI|MIG[A-Za-z0-9]AgEA|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE|LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,30}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW))`)

// bareKey finds a private key that stands without its armour, in one line or in
// several.
func bareKey(text string, at, _ int) (int, int) {
	if at > 0 && (isKeyByte(text[at-1])) || !keyBegins.MatchString(ahead(text, at)) {
		return -1, 0
	}
	end := keyEnd(text, at)
	for {
		rest := strings.TrimLeft(text[end:min(len(text), end+40)], " \t\r\n\\\"")
		next := min(len(text), end+40) - len(rest)
		stop := keyEnd(text, next)
		if next == end || stop-next < 20 {
			break
		}
		end = stop
	}
	if end-at < 60 {
		return -1, 0
	}
	return at, end
}

// keyEnd is where a run of base64 ends, with its padding.
func keyEnd(text string, at int) int {
	for at < len(text) && isKeyByte(text[at]) {
		at++
	}
	for at < len(text) && text[at] == '=' {
		at++
	}
	return at
}
