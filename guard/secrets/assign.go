package secrets

import (
	"slices"
	"strings"

	"memd/guard/reading"
)

// Ids of what stands behind a word for it.
const (
	rulePassword = "password"
	ruleToken    = "token"
)

func passwordWords() []string {
	return []string{"password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "contraseña", "mot de passe", "senha",
		"пароль", "パスワード", "비밀번호", "密码", "密碼", "口令", "暗号"}
}

// assignmentRules find the value that stands behind a word for a secret.
func assignmentRules() []rule {
	return []rule{
		{rulePassword, append(passwordWords(), "pass", "pw"), func(text string, at, n int) (int, int) { return assigned(text, at, n, true) }},
		{ruleToken, []string{"secret", "token", "key", "credential", "令牌", "密钥", "密鑰", "秘钥", "私钥", "授权码", "凭证", "凭据"},
			func(text string, at, n int) (int, int) { return assigned(text, at, n, false) }},
		{rulePassword, []string{" as the ", " as a ", " as password", " as its ", " is the ", " is our ", " is my ", "作为密码", "做密码", "当密码"}, asPassword},
		after(rulePassword, `[ \t]*(?:is|are|:|=|是|为)?[ \t]*["'`+"`"+`]?[A-Za-z][\w.@-]{1,40}[ \t]*[/:][ \t]*([!-~]{8,64})`, looksChosen, "creds", "credentials", "login", "account", "ssh into", "账号", "帐号", "账户", "用户"),
		after("app-password", `[ \t]*(?:is|:|=|是|为)?[ \t]*["'`+"`"+`]?((?:[a-z]{4} ){3}[a-z]{4})\b`, nil, "app password", "应用专用密码", "应用密码"),
		after("wallet-key", `[ \t]*(?:is|:|=|是|为)?[ \t]*["'`+"`"+`]?((?:0x)?[0-9a-fA-F]{64})\b`, nil, "private key", "privkey", "private_key", "privatekey", "私钥"),
		after("seed-phrase", `(?: phrase| words|词)?(?:[ \t]*[:=]|[ \t]+is|是)[ \t]*"?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})`, nil, "seed", "mnemonic", "recovery", "助记"),
		after("wifi-password", `[^\n]{0,80}?;P:([^;\n]{4,64});`, nil, "wifi:"),
		{rulePassword, []string{"sshpass -p", "mysql ", "redis-cli ", "docker login ", "mysqldump "}, onCommandLine},
	}
}

// Parts of an assignment behind its word: what goes on with the word, what
// closes it, the sign or verb, and the value with what opens and closes it.
const (
	tailPart  = `([A-Za-z0-9_.\-]{0,40})`
	closePart = "[\"'`*)\\]]{0,3}"
	typePart  = `(?::[ \t]*(?:str|string|String|&str|text)(?:[ \t]*\|[ \t]*None)?[ \t]*)?`
	signPart  = `[ \t]*(=>|:=|==?|:|→|->)\**[ \t]*`
	wherePart = `(?:[ \t]+(?:for|of|to|on|in|at|für)[ \t]+[^\n.:;=,"]{1,50}?)?`
	verbPart  = `([ \t]+(?:(?:(?:is|was|has been|got)[ \t]+)?(?:set|changed|reset|rotated|updated)[ \t]+to|is now|is still|is currently|is|was|ist|est|es)[ \t]*:?[ \t]+)`
	hanPart   = `[ \t]*((?:已|已经)?(?:改|设|设置|更新|重置|变更|换)?(?:成|为|是|為|は|는|은)了?[ \t]*:?[ \t]*)`
	spacePart = `([ \t]*[|(,]?[ \t]*)`
	valuePart = "(?:\"([^\"\\n]{1,200})\"|'([^'\\n]{1,200})'|`([^`\\n]{1,200})`|“([^”\\n]{1,200})”|([!#-&(-+\\--:<-_a-~]{1,300}))"
)

// maxTail is how far the name of a secret goes on behind its word, in bytes.
const maxTail = 40

// Groups of the pattern of an assignment.
const (
	groupTail = 1 + iota
	groupSign
	groupVerb
	groupHan
	groupSpace
	groupQuoted // four of them
	groupBare   = groupQuoted + 4
)

var assignment = lazily(`\A` + tailPart + closePart + typePart + `(?:` + signPart + `|` + wherePart + verbPart + `|` + hanPart + `|` + spacePart + `)` + valuePart)

// operand is a value and how it is bound to its word.
type operand struct {
	head, tail       string // of the name around the word
	value            string
	quoted           bool
	sign             string // "=", ":" and the like; "" for a verb or a space
	verb, space, han bool
	last             bool // nothing follows it in its line
	login            bool // as in a .netrc: "login bob password …"
	password         bool
}

// assigned finds the value that belongs to the word text[at:at+n].
func assigned(text string, at, n int, password bool) (int, int) {
	name := at + n
	for name < len(text) && name <= at+n+maxTail && (isAlnum(text[name]) || text[name] == '_') {
		name++
	}
	if name > at+n+maxTail {
		return -1, 0 // not worth the expression
	}
	m := assignment.FindStringSubmatchIndex(ahead(text, at+n))
	if m == nil {
		return -1, 0
	}
	base := at + n
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[base+m[2*i] : base+m[2*i+1]]
	}
	o := operand{tail: group(groupTail), sign: group(groupSign), verb: m[2*groupVerb] >= 0, han: m[2*groupHan] >= 0, space: m[2*groupSpace] >= 0, password: password}
	if o.space && group(groupSpace) == "" && isAlnum(text[base-1]) {
		return -1, 0 // the word goes on with a sign
	}
	start, end := 0, 0
	for i := groupQuoted; i <= groupBare; i++ {
		if m[2*i] >= 0 {
			start, end, o.quoted = base+m[2*i], base+m[2*i+1], i != groupBare
		}
	}
	if !o.quoted {
		if crossedOut(text[start:end]) {
			return -1, 0 // the sign of it may be at the end, which bare cuts off
		}
		end = start + len(bare(text[start:end], o.sign))
	}
	o.value = text[start:end]
	o.last = end == len(text) || strings.TrimLeft(ahead(text, end), " \t\r;\"',.)") == "" || strings.HasPrefix(strings.TrimLeft(ahead(text, end), " \t\r;"), "\n")
	head := at
	for head > max(0, at-64) && (isAlnum(text[head-1]) || strings.IndexByte("_-.$", text[head-1]) >= 0) {
		head--
	}
	o.head = text[head:at]
	before := behind(text, at)
	o.login = o.space && strings.Contains(lineBefore(before), "login ") && strings.HasSuffix(before, " ")
	if !announcedBy(text[at:at+n], o, before) || hashed(lineBefore(text[:start])) || !o.holds() {
		return -1, 0
	}
	return start, end
}

// bare cuts a value without quotes where its sentence or its list goes on.
func bare(value, sign string) string {
	if i := strings.IndexAny(value, ";,"); i >= 0 {
		value = value[:i]
	}
	if i := parameter.FindStringIndex(value); i != nil && sign == "=" {
		value = value[:i[0]]
	}
	return strings.TrimRight(value, ".,:;)]}>|")
}

var parameter = lazily(`&[A-Za-z_][\w.\-]*=`)

var (
	// tailsOfSecrets are what a name may go on with and still name the secret.
	tailsOfSecrets = words(`key base value text plain plaintext prod production dev test testing stage staging live old new current master
		admin root user db default secret token password access api auth phrase seed string`)
	// headsOfOthers are what makes a token of a text, or of a page.
	headsOfOthers = words(`max min num total next page prev count context input output prompt completion csrf xsrf no forgot reset public
		continuation cursor pad eos bos unk special per invalid wrong primary foreign sort cache partition hot idempotency row object shortcut`)
	// headsOfKeys are what makes a key one that opens something.
	headsOfKeys = words(`api access private secret encryption encrypt signing app auth master shared account storage ssh admin service subscription
		webhook hmac aes jwt deploy client consumer session license rsa api- cookie data integration preshared psk`)
)

// parts are the words of a name, in lower case.
func parts(name string) []string {
	var all []string
	for _, p := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_.-$ ", r) }) {
		start := 0
		for i := 1; i < len(p); i++ {
			if p[i] >= 'A' && p[i] <= 'Z' && lowerByte(p[i-1]) == p[i-1] {
				all = append(all, strings.ToLower(p[start:i]))
				start = i
			}
		}
		all = append(all, strings.ToLower(p[start:]))
	}
	return all
}

// announcedBy reports whether the word, with the name it is part of and the text
// before it, announces a secret.
func announcedBy(word string, o operand, before string) bool {
	for _, p := range parts(o.tail) {
		if p = strings.TrimRight(p, digits); p != "" && p != "v" && !slices.Contains(tailsOfSecrets(), p) {
			return false
		}
	}
	heads := parts(o.head)
	if len(heads) == 0 {
		heads = parts(lastWord(before))
	}
	lastHead := ""
	if len(heads) > 0 {
		lastHead = heads[len(heads)-1]
	}
	if slices.Contains(headsOfOthers(), lastHead) {
		return false
	}
	switch word = strings.ToLower(word); word {
	case "key":
		joined := lastHead
		return slices.ContainsFunc(headsOfKeys(), func(h string) bool { return strings.HasSuffix(joined, h) })
	case "passwd":
		return !strings.HasSuffix(before, "etc/")
	case "pass", "pw":
		return (o.sign == "=" || o.sign == ":") && o.tail == "" && (o.head == "" || !isLetter(o.head[len(o.head)-1]))
	}
	return true
}

// lastWord is the word that text ends in, past one space.
func lastWord(text string) string {
	text = strings.TrimSuffix(text, " ")
	if i := strings.LastIndexAny(text, " \t\n\"'`:,;()[]{}"); i >= 0 {
		return text[i+1:]
	}
	return text
}

// holds reports whether the value is a secret.
func (o operand) holds() bool {
	if placeholder(o.value) || elsewhere(o.value) && (!o.quoted || reference.MatchString(o.value)) || uuid.MatchString(o.value) && o.password {
		return false
	}
	if o.password {
		return o.holdsPassword()
	}
	value := strings.TrimPrefix(o.value, "base64:")
	dashed := strings.HasPrefix(o.head, "--") || strings.HasPrefix(strings.ToLower(o.head), "x-")
	if o.space && o.tail == "" && len(value) >= 20 && !uuid.MatchString(value) && !isHash(value) && strongToken(value) {
		return true
	}
	return (!o.space || dashed) && (strongToken(value) || !o.space && (looksChosen(value) || wordAndNumber.MatchString(value) && strings.ContainsAny(value, signs)))
}

func (o operand) holdsPassword() bool {
	v := o.value
	dashed := strings.HasPrefix(o.head, "--") || o.login
	switch {
	case strings.Contains(v, " "): // only in quotes
		return o.phrase()
	case timely(v) || !reading.Plain(v):
		return false
	case o.space && !dashed:
		return looksChosen(v)
	case strings.Trim(v, digits) == "":
		return len(v) >= 6 && o.tail == ""
	}
	letters := contains(v, isLetter)
	odd := letters && (contains(v, isDigit) || strings.ContainsAny(v, signs) || o.sign == "=" && !nameLike(v))
	switch {
	case odd && len(v) >= 5:
		if measure.MatchString(v) || speaksOfTechnique(v) {
			return false
		}
		return o.sign == "=" || o.quoted || dashed || !nameLike(v) || wordAndNumber.MatchString(v)
	case !letters || len(v) < 8 || strings.ContainsAny(v, "-/"):
		return false
	}
	// A word. In quotes, or as the value of a setting, it may be a password.
	lower := strings.ToLower(v) == v && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz") == ""
	setting := o.sign == "=" && o.last && strings.ContainsAny(o.head, "._") || o.sign == "=" && o.head == strings.ToUpper(o.head) && o.head != ""
	return lower && (o.quoted || setting) && !o.space && !mentions(v)
}

// wordAndNumber is what people choose, if it stands behind the word for it; a
// name of a machine is not told from it.
var wordAndNumber = lazily(`\A[A-Za-z]\w*[-_.#@+]?\d{2,}(?:[-_.#@+]?[A-Za-z]+)?\z`)

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

var sentenceWords = words("the and must not are was with for your you that this has have can may should from than least when then please enter cannot does")

var beforeAs = lazily(`([!-~]{6,64})\z`)

// asPassword finds the word before "as the password" and "is the root password".
func asPassword(text string, at, n int) (int, int) {
	said := strings.ToLower(text[at+1 : min(len(text), at+n+40)])
	if i := strings.IndexAny(said, ".,;:!?\n"); i >= 0 {
		said = said[:i]
	}
	if !strings.Contains(said, "password") && !strings.Contains(text[at:at+n], "密码") {
		return -1, 0
	}
	m := beforeAs.FindStringSubmatchIndex(behind(text, at))
	if m == nil {
		return -1, 0
	}
	start := at - (m[3] - m[2])
	if value := strings.Trim(text[start:at], "\"'`"); !looksChosen(value) {
		return -1, 0
	}
	return start, at
}

var flagged = lazily(`\A[^\n|]{0,100}?[ \t](?:-p|-a|--pass)(?:[ \t]|=)?(?:"([^"\n]{4,64})"|'([^'\n]{4,64})'|([!-&(-~]{4,64}))`)

// onCommandLine finds a password behind -p or -a of a command that takes one
// there.
func onCommandLine(text string, at, n int) (int, int) {
	// The flag may be the last of the word itself.
	from := at + strings.IndexByte(text[at:], ' ')
	m := flagged.FindStringSubmatchIndex(ahead(text, from))
	if m == nil {
		return -1, 0
	}
	for i := 2; i < 8; i += 2 {
		if m[i] >= 0 {
			start, end := from+m[i], from+m[i+1]
			value := text[start:end]
			odd := contains(value, isLetter) && (contains(value, isDigit) || strings.ContainsAny(value, signs))
			if odd && len(value) >= 6 && !placeholder(value) && !elsewhere(value) {
				return start, end
			}
		}
	}
	return -1, 0
}
