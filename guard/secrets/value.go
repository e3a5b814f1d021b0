package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"memd/guard/reading"
)

// mixed reports whether text holds a letter and a digit, or letters of both
// cases in disorder: what is made up by a machine.
func mixed(text string) bool {
	var letter, digit bool
	turns := 0 // from one case to the other
	for i := range len(text) {
		c := text[i]
		letter = letter || isLetter(c)
		digit = digit || isDigit(c)
		if i > 0 && isLetter(c) && isLetter(text[i-1]) && lowerByte(c) == c != (lowerByte(text[i-1]) == text[i-1]) {
			turns++
		}
	}
	return letter && digit || turns >= 6
}

// drawn reports whether text is letters alone, more than any word has, and as many
// kinds of them as chance brings.
func drawn(text string) bool {
	return len(text) >= 32 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == "" && distinct(text) >= 12
}

// entropy is that of Shannon, in bits a character.
func entropy(text string) float64 {
	var count [256]int
	for i := range len(text) {
		count[text[i]]++
	}
	var bits float64
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// crossedOut reports whether a value was made unreadable, or only tells what
// one looks like.
func crossedOut(value string) bool {
	if strings.ContainsRune(value, reading.Taken) || strings.Contains(value, "...") || strings.HasSuffix(value, "EXAMPLE") || strings.HasSuffix(value, "EXAMPLEKEY") {
		return true
	}
	// Six alike in a row do not come about by chance. Some vendors fill up with
	// them, so what else there is counts.
	longest, run := 1, 1
	for i := 1; i < len(value); i++ {
		if lowerByte(value[i]) != lowerByte(value[i-1]) || value[i] >= utf8.RuneSelf {
			run = 1
			continue
		}
		if run++; run >= 6 && (lowerByte(value[i]) == 'x' || !isAlnum(value[i])) {
			return true
		}
		longest = max(longest, run)
	}
	return longest >= 6 && (longest > len(value)/2 || distinct(value) < 10)
}

// distinct is how many characters there are in a value, in either case.
func distinct(value string) int {
	var seen [256]bool
	n := 0
	for i := range len(value) {
		if c := lowerByte(value[i]); !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

// standIns are words that stand where a value is to be put, as the whole of it;
// standInParts as a part.
var (
	standIns = words(`password passwd passphrase pass pwd pw secret token string text none null nil undefined true false
		required optional hidden masked removed deleted unset empty default redacted unknown invalid incorrect wrong missing
		expired enabled disabled str bytes bool int yes no on off tbd todo value user username admin root guest postgres
		changed rotated stored encrypted hashed encoded plaintext basic bearer apikey key input prompt env vault anything something
		correct valid needed known shared weak strong mypassword yourpassword random generated blank password1 pa55word interactive
		test kubernetes argon2 bcrypt scrypt number object function`)
	standInParts = words(`example changeme change-me change_me placeholder your- your_ yourp yourt youra yours dummy fake-  fake_ sample redacted replace
		insert-  insert_ not-a-real notreal not-real test-secret test_secret test-token test_token my-secret my_secret my-token foobar my-password my_password
		generated-at <your put-your 0123456789 1234567890 abcdefghij`)
	technical = words(`base64 base32 sha1 sha256 sha512 sha3 md5 oauth oauth2 oidc aes aes128 aes256 utf8 ipv4 ipv6 rs256 hs256 hs512 es256 ps256
		argon2 argon2id bcrypt scrypt pbkdf2 sha512crypt sha256crypt md5crypt wpa wpa2 wpa3 x509 p256 p384 ed25519 curve25519 rsa rsa2048 rsa4096 http2 s3 k8s ec2 2fa mfa i18n jwt saml2 nist800 63b scram
		tls12 tls13 h2 gpt4 utf16 x86 arm64 amd64 v1 v2 v3 v4`)
)

// words splits a list when it is first asked for.
func words(list string) func() []string {
	return sync.OnceValue(func() []string { return strings.Fields(list) })
}

// pattern is a regular expression that is compiled when it is first asked.
type pattern struct{ compiled func() *regexp.Regexp }

func lazily(expression string) pattern {
	return pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

func (p pattern) MatchString(text string) bool { return p.compiled().MatchString(text) }

func (p pattern) ReplaceAllString(text, by string) string {
	return p.compiled().ReplaceAllString(text, by)
}

func (p pattern) FindStringIndex(text string) []int { return p.compiled().FindStringIndex(text) }

func (p pattern) FindStringSubmatchIndex(text string) []int {
	return p.compiled().FindStringSubmatchIndex(text)
}

var (
	onlySigns  = lazily(`\A[xX*._\-#?0]+\z`)
	variable   = lazily(`\A(?:\$\w+|\$\{.*|%\w+%|@\w+@|#\{.*|<.*>?|\[.*|\{.*|&#?\w+|\$\d\w?\$\w*|:\w+|\$\d|\?)\z`)
	inside     = lazily(`\$\{|\$\(|\{\{|%\(|\*{3}|•|<[\w -]+>|[xX]{4}`)
	reference  = lazily(`\A(?i:[a-z]{2,12}:/|op:|vault:|ssm:|arn:|env[:.]|file:|secrets?[./]|keychain:|projects/|process\.|os\.|var[s]?\.|config\.|settings\.|self\.|this\.|data\.|/|\./|~/|\.\./|[a-z]:\\)`)
	expression = lazily(`[()]|[\[\]]\z|\[['"]?\w|::|->|=>|=="?\w`)
	dotted     = lazily(`\A[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\z`)
	dated      = lazily(`\A(?:19|20)\d\d[-/.]?\d\d?(?:[-/.]?\d\d?)?(?:[T ].*)?\z|\A\d{1,2}:\d\d(?::\d\d)?\z`)
	version    = lazily(`\Av?\d+(?:\.\d+){1,3}(?:[-+:].*)?\z`)
	measure    = lazily(`\A[\d.,]+(?i:ms|s|m|h|d|k|kb|mb|gb|px|%|min|days?|hours?|bits?|chars?|bytes?|[a-z])?\z`)
	uuid       = lazily(`\A[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\z`)
	named      = lazily(`\A(?:[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]{2,})(?:[A-Z][a-z]+)*)\d{0,3}\z|\A\d{1,8}\z|\A[vVrRpP]\d+\z`)
)

// placeholder reports whether a value only stands where a secret would: a
// variable, a word for one, or nothing.
func placeholder(value string) bool {
	if value == "" || crossedOut(value) || onlySigns.MatchString(value) || variable.MatchString(value) || inside.MatchString(value) {
		return true
	}
	plain := strings.ToLower(strings.Trim(value, "\"'`.,:;!?()[]{}<>*_"))
	if plain == "" || slices.Contains(standIns(), plain) {
		return true
	}
	return slices.ContainsFunc(standInParts(), func(part string) bool { return strings.Contains(plain, part) })
}

// elsewhere reports whether a value says where the secret is, or how it is come
// by, and is none.
func elsewhere(value string) bool {
	if len(value) >= 32 && strings.HasPrefix(value, "/") && isBase64(value) && entropy(value) > 4.2 {
		return false // no path, though it begins like one
	}
	if strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 {
		return true
	}
	return reference.MatchString(value) || expression.MatchString(value) || dotted.MatchString(value)
}

// timely reports whether a value is a date, a version, or a quantity.
func timely(value string) bool {
	return dated.MatchString(value) || version.MatchString(value)
}

// nameLike reports whether a value is put together of words and numbers, as
// names of files, machines and branches are.
func nameLike(value string) bool {
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:@+#, ", r) })
	if len(parts) == 0 {
		return true
	}
	for _, p := range parts {
		if !named.MatchString(p) && !slices.Contains(technical(), strings.ToLower(p)) {
			return false
		}
	}
	return true
}

// speaksOfTechnique reports whether a value is a name of the trade, such as
// "SHA256-hashed".
func speaksOfTechnique(value string) bool {
	parts := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return !isAlnum(byte(min(r, 127))) })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(technical(), p) }) && nameLike(value)
}

// lineBefore is what stands before a value in its line, 60 bytes at most, in
// lower case.
func lineBefore(before string) string {
	before = strings.ToLower(before[max(0, len(before)-60):])
	return before[strings.LastIndexByte(before, '\n')+1:]
}

// hashed reports whether what stands before a value says that it is a hash.
func hashed(before string) bool {
	for _, p := range []string{"h1:", "sha256:", "sha256-", "sha512:", "sha512-", "sha384-", "sha1:", "sha1-", "md5:", "blake3:"} {
		if strings.HasSuffix(strings.TrimRight(before, " \"'"), p) {
			return true
		}
	}
	return slices.ContainsFunc([]string{"fingerprint", "checksum", "integrity", "digest"}, func(w string) bool { return strings.Contains(before, w) })
}

// isHash reports whether a value has the length and the digits of a hash.
func isHash(value string) bool {
	return isHex(value) && slices.Contains([]int{32, 40, 64, 96, 128}, len(value))
}

func isBase64(value string) bool {
	return !strings.ContainsFunc(strings.TrimRight(value, "="), func(r rune) bool { return r > 'z' || !isKeyByte(byte(r)) })
}

// signs are characters that people put into passwords and not into names.
const signs = "!@#$%^&*+=~?|\\"

func contains(text string, is func(byte) bool) bool {
	for i := range len(text) {
		if is(text[i]) {
			return true
		}
	}
	return false
}

// looksChosen reports whether a word, whatever stands around it, is a password:
// letters, digits and a sign or capital, and no name.
func looksChosen(value string) bool {
	if len(value) < 8 || len(value) > 64 || !contains(value, isDigit) || !contains(value, isLetter) {
		return false
	}
	if !strings.ContainsAny(value, signs) && !innerCapital(value) {
		return false
	}
	return !placeholder(value) && !elsewhere(value) && !timely(value) && !nameLike(value) && reading.Plain(value) && !strings.ContainsAny(value, "/:@") ||
		strings.ContainsAny(value, "@!#$&") && nameLikePassword(value)
}

// innerCapital reports whether a capital stands behind the first character of a
// value that has small letters too.
func innerCapital(value string) bool {
	return contains(value[1:], func(c byte) bool { return c >= 'A' && c <= 'Z' }) && contains(value, func(c byte) bool { return c >= 'a' && c <= 'z' })
}

// chosenWithAt reports whether a value with an at sign is a password, and not a
// user on a machine, an address or a version of a package.
func chosenWithAt(value string) bool {
	return len(value) >= 8 && strings.Count(value, "@") == 1 && contains(value, isDigit) && contains(value, isLetter) && !strings.ContainsAny(value, "./:") &&
		!userAtHost.MatchString(value) && !placeholder(value) && !elsewhere(value) && reading.Plain(value)
}

var userAtHost = lazily(`\A@|\A[a-z_-]+@(?:[a-z-]+\d{0,3}|v?\d+)\z|@\z`)

// nameLikePassword is a word, one sign and a number: "Tiger@2024".
func nameLikePassword(value string) bool {
	return wordSignNumber.MatchString(value) && !placeholder(value)
}

var wordSignNumber = lazily(`\A[A-Za-z]{3,16}[@!#$&]\d{2,8}[!]?\z`)

// strongToken reports whether a value is long and mixed enough to be made by a
// machine.
func strongToken(value string) bool {
	if len(value) < 10 || placeholder(value) || elsewhere(value) || timely(value) || measure.MatchString(value) || nameLike(value) || entropy(value) < 3 {
		return false
	}
	return mixed(value) || len(value) >= 16 && strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// isKey looks again at what the library's rule without a form took for a key.
func isKey(before, value string) bool {
	value = strings.TrimRight(value, "=")
	if placeholder(value) || elsewhere(value) || timely(value) || nameLike(value) {
		return false
	}
	before = lineBefore(before)
	if hashed(before) {
		return false
	}
	plainKey := !slices.ContainsFunc([]string{"secret", "passw", "token", "api", "cred", "private", "encrypt", "sign"}, func(w string) bool {
		return strings.Contains(before, w)
	})
	return !plainKey || !isHex(value) && !uuid.MatchString(value) && !strings.Contains(value, "-")
}
