package secrets

import (
	"strings"
)

// inserted finds the value of the column for a password in
// INSERT INTO t (name, password) VALUES ('bob', 'V').
func inserted(text string, at, n int) (int, int) {
	before := strings.TrimRight(behind(text, at), " \t\r\n")
	open := strings.LastIndexByte(before, '(')
	if open < 0 || !strings.HasSuffix(before, ")") {
		return -1, 0
	}
	column := -1
	for i, name := range strings.Split(before[open+1:len(before)-1], ",") {
		if namesSecret(strings.Trim(name, " \t\r\n\"`'")) {
			column = i
		}
	}
	start := at + n
	rest := ahead(text, start)
	first := strings.TrimLeft(rest, " \t\r\n")
	if column < 0 || !strings.HasPrefix(first, "(") {
		return -1, 0
	}
	start += len(rest) - len(first) + 1
	for i, value := range strings.Split(first[1:], ",") {
		if i == column {
			quoted := strings.TrimLeft(value, " \t\r\n")
			start += len(value) - len(quoted)
			end := strings.IndexByte(quoted[min(1, len(quoted)):], '\'') + 1
			if !strings.HasPrefix(quoted, "'") || end < 2 || !weakToken(quoted[1:end]) {
				return -1, 0
			}
			return start + 1, start + end
		}
		start += len(value) + 1
	}
	return -1, 0
}

var mailBefore = lazily(`[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{2,20}\z`)

var userBefore = lazily(`(?:\A|[\s"'(:,])[A-Za-z][\w.\\@-]{1,40}\z`)

// ofMail finds the password in "qa@acme.io / V", and behind a user's name one that
// is a password wherever it stands.
func ofMail(text string, at, n int) (int, int) {
	start := at + n
	end := start
	for end < min(len(text), start+64) && text[end] > ' ' && text[end] <= '~' && strings.IndexByte("\"'`", text[end]) < 0 {
		end++
	}
	value := bare(text[start:end], "")
	if signedToken(value) && userBefore.MatchString(strings.TrimRight(behind(text, at), "`")) {
		return start, start + len(value)
	}
	if !mailBefore.MatchString(strings.TrimRight(behind(text, at), "`")) || !looksChosen(value) && !chosenWithAt(value) {
		return -1, 0
	}
	return start, start + len(value)
}
