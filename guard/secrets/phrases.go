package secrets

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of phrases: how many words a wallet is made of, and how far from its name.
const (
	minSeed, maxSeed = 12, 25
	maxBeforeSeed    = 100 // bytes
)

// phraseRules find secrets that are words: the seed of a wallet, and passphrases.
func phraseRules() []rule {
	return []rule{
		{"seed-phrase", []string{"seed", "mnemonic", "recovery phrase", "recovery words", "backup phrase", "secret phrase", "wallet phrase", "12 words", "24 words", "12-word", "24-word", "12 word", "24 word", "助记", "助憶", "恢复词", "种子词", "リカバリーフレーズ", "シードフレーズ", "ニーモニック",
			"wiederherstellungsphrase", "phrase de récupération", "frase semilla", "니모닉"}, seedPhrase},
		{rulePassword, []string{"passphrase", "pass phrase", "pass-phrase", "phrase secrète", "passsatz", "密码短语", "口令短语", "パスフレーズ"}, passPhrase},
	}
}

// seedPhrase finds the words of a wallet: twelve or more in a row that are no
// sentence, by one space, comma or line each, numbered or not.
func seedPhrase(text string, at, n int) (int, int) {
	near := ahead(text, at+n)
	for i := 0; i < min(len(near), maxBeforeSeed); {
		j := strings.IndexAny(near[i:min(len(near), maxBeforeSeed)], ":=\"'`\n(“「)是为은は") // each byte of a rune too
		if j < 0 {
			if m := strings.Index(near[i:min(len(near), maxBeforeSeed)], " is "); m >= 0 {
				j = m + 3
			} else {
				return -1, 0
			}
		}
		i += j
		_, size := utf8.DecodeRuneInString(near[i:])
		i += size
		if start, end := seedWords(text, at+n+i); start >= 0 {
			return start, end
		}
	}
	return -1, 0
}

// seedWords is the run of words that begins at from, past what sets it off; -1
// where it is none of a wallet.
func seedWords(text string, from int) (int, int) {
	text = text[:min(len(text), from+maxMatch)]
	first, last, found := -1, 0, 0
	at := from
	for found <= maxSeed {
		gap := at
		for at < len(text) && (strings.IndexByte(" \t\r\n,;|\"'`*-.)", text[at]) >= 0 || isDigit(text[at])) {
			at++
		}
		if found > 0 && (at-gap > 12 || at == gap) {
			break
		}
		if rest := text[at:]; found == 0 && at == from && (strings.HasPrefix(rest, "“") || strings.HasPrefix(rest, "「")) {
			at += len("“")
		}
		end := at
		for end < len(text) && text[end] >= 'a' && text[end] <= 'z' {
			end++
		}
		if end-at < 3 || end-at > 8 || end < len(text) && isAlnum(text[end]) || slices.Contains(noSeeds(), text[at:end]) {
			break
		}
		if first < 0 {
			first = at
		}
		found++
		last, at = end, end
	}
	if found < minSeed {
		return -1, 0
	}
	return first, last
}

// noSeeds are words of sentences that are in no list of words of wallets (BIP 39
// has "use", "that" and "very").
var noSeeds = words("the and are not from has had were its their our for his her than which please enter cannot does these those while was")

var phraseOf = lazily(`\A(?:[ \t]*\([^()\n]{1,30}\))?` + wherePart + `(?:[ \t]*[:=][ \t]*|[ \t]+(?:is|ist|lautet|est|es)[ \t]*:?[ \t]+|(?:是|为|は|는))["'` + "`" + `“「]?((?:[A-Za-z]{3,12}[ .,_-]){3,9}[A-Za-z]{3,12}\d{0,4})["'` + "`" + `”」]?[ \t]*(?:[.,;!。]|\r?\n|\z)`)

// passPhrase finds a phrase of four words or more that says nothing of phrases.
func passPhrase(text string, at, n int) (int, int) {
	m := phraseOf.FindStringSubmatchIndex(ahead(text, at+n))
	if m == nil || !wordsAlone(text[at+n+m[2]:at+n+m[3]]) {
		return -1, 0
	}
	return at + n + m[2], at + n + m[3]
}

// wordsAlone reports whether a value is four words or more that make no sentence
// and do not speak of passwords, as people choose them by dice.
func wordsAlone(value string) bool {
	all := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" .,_-", r) })
	if len(all) < 4 {
		return false
	}
	return !slices.ContainsFunc(all, func(w string) bool {
		w = strings.ToLower(strings.TrimRight(w, digits))
		return len(w) < 3 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || slices.Contains(sentenceWords(), w) || slices.Contains(ofPasswords(), w) || slices.Contains(standIns(), w) || mentions(w) ||
			slices.Contains(technical(), w) || slices.Contains(ofNames(), w)
	})
}

// ofNames are words that the names of machines, stores and objects are put
// together of.
var ofNames = words(`prod dev stage staging test live app apps api web site cluster node host main master slave replica primary secondary redis mysql mongo rabbit kafka nginx
	vault store backup cache queue job worker system tenant team group role data file path line page http https github gitlab docker kube helm chart region east west north south central user users setting settings menu order orders report reports
	log logs home index`)
