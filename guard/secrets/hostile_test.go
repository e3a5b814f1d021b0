package secrets

// hostile are what a text may be full of, in one line or in as many as it has,
// that a careless scanner reads again from each place on.
func hostile() map[string]string {
	return map[string]string{
		"assignments": "a=", "words": "key", "words and spaces": "key ", "words of passwords": "password=", "passwords": "password=Tiger#2024x ",
		"keys": "api_key=Kx82mmQ1lPz0q9w8e7r6t5 ", "keys and commas": "api_key=Kx82mmQ1lPz0q9w8e7r6t5,", "opened quotes": `password="`, "single quotes": "secret='",
		"quotes": `"`, "brackets": "[", "braces": "{", "parentheses": "(", "base64": "QUJDRGVm1", "base64 words": "cGFzc3dvcmQ9VGlnZXIjMjAyNHg= ",
		"letters": "A", "addresses": "https://bob:pa55w0rdx@h.io/x?a=b&", "schemes": "://", "data sources": "a:b@tcp(", "zero width": "\u200b", "zero width and letters": "a\u200b",
		"chinese": "中文字", "chinese words": "密码", "chinese assignments": "密码：", "lines": "\n", "joined lines": "abcdefg12abcdefg34abcdefg\\\n",
		"percent": "%41", "escapes": `\u0041`, "key blocks": "-----BEGIN PRIVATE KEY-----\n", "key blocks in headers": "A: ...-----BEGIN PRIVATE KEY-----\n",
		"jwt": "eyJhbGciOiJIUzI1NiJ9.", "tokens": github + " ", "tokens without end": "sk-abcdefghij1234567890abc-", "headers without end": "authorization=Kx82mmQ1lPz0q9w8e7r6t5",
		"marks": "[redacted:", "cookies": "cookie: session=", "commands": "curl -u bob:Kx82mmQ1lPz0q9 ", "is the password": " is the password", "at": "a@", "mail": "a@b.co/",
		"elements": "<password>", "elements with values": "<password>Tiger#2024x</password>", "rows": "| password | ", "columns": "password,", "entities": "&#65;", "entities in words": "p&#97;ssword:", "joined strings": `"a1b2c3"+`,
		"joined passwords": `password="a"+"b"+`, "set to": "set password to ", "logins": "login admin/", "broken utf-8": "\xff", "pgpass": ":5432:", "digits": "1 ", "cards": "4111111111111111 ",
		"indented values": "password:\n  ", "words of lines": "PASSWORD\n", "keys of vendors": "jfrog_api_key:", "chinese prose": "用户名 admin 密码 ",
		"pins": "PIN for the door is ", "shared files": "提取码：", "recovery codes": "recovery codes: ", "licences": "license: ", "seeds": "seed: apple ", "words of wallets": "mnemonic: apple pear stone river ", "passphrases": "passphrase for a: one two ",
		"private keys": "private key ", "bare keys": "MIIEpAIBAAKCAQEA\n", "bare keys of a length": "MIIEpAIBAAKCAQEAlzPbKidG8iQKDl\n", "second factors": "2FA: ABCD ", "calls": "hmac.new('a', ", "header of cookies": "cookie: a=b; ", "root": "root ", "questions": "password?\na: ",
		"session tokens": "IQoJb3JpZ2lu-", "azure": "AZDOJQQJ99", "here strings": "pass <<< ", "services": "a/b@//",
	}
}
