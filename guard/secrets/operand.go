package secrets

import (
	"slices"
	"strings"

	"memd/guard/reading"
)

// holds reports whether the value is a secret.
func (o operand) holds() bool {
	if placeholder(o.value) || elsewhere(o.value) && (!o.quoted || reference.MatchString(o.value)) && !(o.password && (dottedWords.MatchString(o.value) || o.sign != "=" && twoDotted.MatchString(o.value)) && !mentions(strings.ToLower(o.value)) && !speaksOfTechnique(o.value)) || uuid.MatchString(o.value) && o.password {
		return false
	}
	if o.password {
		return o.holdsPassword()
	}
	value := strings.TrimPrefix(o.value, "base64:")
	dashed := strings.HasPrefix(o.head, "--") || strings.HasPrefix(strings.ToLower(o.head), "x-")
	if o.quoted && !strings.Contains(value, " ") && strings.ContainsAny(value, "!@#$%^&*") {
		value = strings.Trim(brackets.Replace(value), " ")
	}
	if o.space && o.tail == "" && (spaced(value) || o.opens() && (isHash(value) || uuid.MatchString(value))) && strongToken(value) {
		return true
	}
	if env := o.head + o.word + o.tail; strings.EqualFold(o.word, "secret") && o.sign != "" && o.head != "" && env == strings.ToUpper(env) && len(value) >= 12 && contains(value, isDigit) &&
		contains(value, isLetter) && !mentions(strings.ToLower(value)) && !timely(value) {
		return true // of the environment: it is chosen by a person
	}
	if o.quoted && o.sign != "" && wordsAlone(value) {
		return true
	}
	return (!o.space || dashed) && (strongToken(value) || !o.space && (looksChosen(value) || wordAndNumber.MatchString(value) && strings.ContainsAny(value, signs)))
}

// opens reports whether the word, with what stands before it, is the name of what
// opens something, and not of a commit or a row: then a value may look like a hash.
func (o operand) opens() bool {
	if strings.EqualFold(o.word, "secret") || strings.HasSuffix(o.word, "钥") || o.word == "令牌" {
		return true
	}
	heads := parts(o.head)
	return len(heads) > 0 && slices.Contains(headsOfKeys(), heads[len(heads)-1])
}

// brackets within quotes are no call.
var brackets = strings.NewReplacer("(", "x", ")", "x", "[", "x", "]", "x")

// spaced reports whether a value may be a token for standing behind the mere
// word for one: it is long, and neither a hash nor the name of something.
func spaced(value string) bool {
	if strings.Count(value, "-") > 1 && leadingWord.MatchString(value) {
		return false
	}
	if len(value) >= 20 {
		return !uuid.MatchString(value) && !isHash(value)
	}
	return len(value) >= 12 && !isHex(value) && !strings.ContainsAny(value, "-./:#@+") && contains(value, isDigit)
}

// setsName is an argument that is named, as in a call.
var setsName = lazily(`\A[a-z_]+=`)

var leadingWord = lazily(`\A[a-z]{2,}-[a-z]{2,}-`)

func (o operand) holdsPassword() bool {
	v := o.value
	dashed := o.head == "-" || strings.HasPrefix(o.head, "--") || o.login
	switch {
	case strings.Contains(v, " "): // only in quotes
		return o.phrase()
	case timely(v) || !reading.Plain(v) || o.space && !o.quoted && setsName.MatchString(v):
		return false
	case wordsAlone(v):
		return o.tail == "" && (!o.space || o.quoted)
	case (o.verb || o.han || o.explicit()) && twoDotted.MatchString(v):
		return !mentions(strings.ToLower(v)) && !namesThing(v)
	case o.space && !dashed && !o.quoted:
		return looksChosen(v) || chosenWithAt(v) || o.besideWord() || o.ends && o.wordBySpace() || o.ends && scrambled(v) || o.ends && o.word >= "\x80" && len(v) >= 4 && len(v) <= 8 && strings.Trim(v, digits) == "" && !year(v)
	case strings.Trim(v, digits) == "":
		return o.tail == "" && (len(v) >= 6 || len(v) >= 4 && !year(v) && o.ends && o.head == "" && (o.sign == ":" || o.han || o.verb))
	case o.explicit() && o.word >= "\x80" && len(v) >= 4 && contains(v, isDigit):
		return !measure.MatchString(v) && !speaksOfTechnique(v) && !mentions(strings.ToLower(v))
	}
	if (o.explicit() || o.verb && o.ends && innerOrFirst(v)) && wordsAndNumber.MatchString(v) && !mentions(strings.ToLower(v)) && !namesThing(v) {
		return true
	}
	letters := contains(v, isLetter)
	odd := letters && (contains(v, isDigit) || strings.ContainsAny(v, signs) || o.sign == "=" && !nameLike(v))
	switch {
	case odd && len(v) >= 5:
		if measure.MatchString(v) && len(v) < 8 || speaksOfTechnique(v) {
			return false
		}
		return o.sign == "=" || o.quoted && !o.space || dashed && !o.space || !nameLike(v) || wordWithAt.MatchString(v) || o.login && innerCapital(v) || wordAndNumber.MatchString(v) || o.explicit() && len(v) >= 6 && wordAndDigit.MatchString(v) && !mentions(strings.ToLower(v))
	case o.plainWord():
		return true
	case !letters || len(v) < 6 || strings.ContainsAny(v, "-/"):
		return false
	}
	// A word. In quotes, or as the value of a setting, it may be a password.
	lower := strings.ToLower(v) == v && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz") == ""
	setting := o.sign == "=" && o.last && strings.ContainsAny(o.head, "._") || o.sign == "=" && o.head == strings.ToUpper(o.head) && o.head != ""
	return lower && (o.quoted && len(v) >= 8 || setting && (len(v) >= 8 || !slices.Contains(ofPasswords(), v) && !slices.Contains(ofNames(), v))) && !o.space && !mentions(v)
}

// scrambled reports whether a word is letters and digits in disorder, in one run,
// and no term of the trade.
func scrambled(v string) bool {
	if len(v) < 6 || len(v) > 24 || strings.Trim(v, alphanumeric) != "" || speaksOfTechnique(v) || measure.MatchString(v) || mentions(strings.ToLower(v)) || placeholder(v) || slices.Contains(termsWithDigits(), strings.ToLower(v)) {
		return false
	}
	turns := 0
	for i := 1; i < len(v); i++ {
		if isDigit(v[i]) != isDigit(v[i-1]) {
			turns++
		}
	}
	return turns >= 2
}

var termsWithDigits = words("utf8mb4 utf8mb3 base64url base32hex x509v3 win32api web3js i18next h264x ipv6only sha2crypt oauth2proxy")

// wordBySpace reports whether a word and a number, behind a mere space or another
// word, are a password for ending their sentence: capitals have no place there, and
// small letters only in a line that is little more.
func (o operand) wordBySpace() bool {
	v := o.value
	return len(v) >= 7 && ofWordAndNumber.MatchString(v) && !speaksOfTechnique(v) && !mentions(strings.ToLower(v)) && !namesThing(v) && !kindOfColumn.MatchString(v) &&
		(innerOrFirst(v) || o.label && o.tail == "")
}

var ofWordAndNumber = lazily(`\A(?:[A-Za-z]{4,}|[A-Za-z]{3,}[-_.][A-Za-z]{3,})[-_.@#]?\d{2,6}\z`)

// besideWord reports whether a weak value is a password for standing right behind
// a Chinese word for it, or in the cell or the bracket behind a word.
func (o operand) besideWord() bool {
	v := o.value
	han := o.word >= "\x80"
	if len(v) < 8 || !han && !o.cell || speaksOfTechnique(v) || mentions(strings.ToLower(v)) || kindOfColumn.MatchString(v) {
		return false
	}
	return wordAndNumber.MatchString(v) || contains(v, isDigit) && innerCapital(v) && weakToken(v) || han && o.ends && !nameLike(v) && weakToken(v)
}

var (
	kindOfColumn = lazily(`\A(?i:n?varchar|char|binary|varbinary|u?int|float|byte|bytes|text|string|utf)\d+\z`)
	wordWithAt   = lazily(`\A[\w!#$%&*-]+@[\w!#$%&*-]*\d[\w!#$%&*-]*\z`)
)

// explicit reports whether a sign or a Chinese verb and nothing else binds the
// value to the bare word for it, and the sentence ends there.
func (o operand) explicit() bool {
	bound := o.sign == ":" || o.han && o.word >= "\x80"
	return bound && o.ends && o.tail == "" && !strings.ContainsAny(o.head, "$.")
}

// plainWord reports whether the value is a password of letters alone, such as
// "sunshine": all that its line says, and no word that speaks of passwords.
func (o operand) plainWord() bool {
	v := strings.ToLower(o.value)
	return o.explicit() && (len(v) >= 6 || len(v) == 5 && o.word >= "\x80") && len(v) <= 24 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz") == "" && !mentions(v) && !slices.Contains(ofPasswords(), v)
}

// dottedWords are words and a number, which no reference ends with.
var dottedWords = lazily(`\A(?:[A-Z][a-z]+\.){3,}[A-Z][a-z]+\d{2,4}\z`)

// twoDotted are two of them, as prose has them.
var twoDotted = lazily(`\A[A-Z][a-z]{2,}\.[A-Z][a-z]{2,}\d{2,4}\z`)

// wordAndDigit is a word with a digit behind it.
var wordAndDigit = lazily(`\A[A-Za-z]{5,}\d\z`)

// wordAndNumber is what people choose, if it stands behind the word for it; a
// name of a machine is not told from it.
var wordAndNumber = lazily(`\A[A-Za-z]\w*[-_.#@+]?\d{2,}(?:[-_.#@+]?[A-Za-z]+)?\z`)

// wordsAndNumber is put together of words and a number, as passwords are and names
// of machines too.
var wordsAndNumber = lazily(`\A[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){1,3}[-_.]?\d{2,4}\z`)

// namesThing reports whether a value has a word of which names of machines are made.
func namesThing(value string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return r < 'a' || r > 'z' }), func(w string) bool {
		return slices.Contains(ofNames(), w) || slices.Contains(ofPasswords(), w)
	})
}

// mentions reports whether a value speaks of secrets, as names in code do.
func mentions(value string) bool {
	return slices.ContainsFunc([]string{"pass", "secret", "token", "key", "cred", "auth", "config", "input", "param", "field", "form"}, func(w string) bool {
		return strings.Contains(value, w)
	})
}

// phrase reports whether a value in quotes is a phrase of words, and no sentence.
func (o operand) phrase() bool {
	all := strings.Fields(o.value)
	if len(all) < 4 || len(all) > 12 {
		return false
	}
	for _, w := range all {
		if strings.Trim(w, digits) == "" {
			continue
		}
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || len(w) < 3 || slices.Contains(sentenceWords(), w) {
			return false
		}
	}
	return true
}

var sentenceWords = words(`the and must not are was with for your you that this has have can may should from than least when then please enter cannot does
	will would could been being its his her our their them they she who what where which into onto over only also but had did done all any each every
	use used uses via per out one two ask asked see seen before after until because about there here how why more most some such very too never always
	words word write keep kept paper list phrase wallet store made make take took need needs`)
