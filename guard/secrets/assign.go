package secrets

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Ids of what stands behind a word for it.
const (
	rulePassword = "password"
	ruleToken    = "token"
)

func passwordWords() []string {
	return []string{"password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "contraseña", "la clave", "mot de passe", "senha",
		"wachtwoord", "lösenord", "adgangskode", "salasana", "hasło", "jelszó", "şifre", "mật khẩu", "kata sandi", "пароль", "Пароль", "パスワード", "비밀번호", "비번", "암호", "密码", "密碼", "口令", "暗号"}
}

// assignmentRules find the value that stands behind a word for a secret.
func assignmentRules() []rule {
	return []rule{
		{rulePassword, append(passwordWords(), "pass", "pw", "mdp", "psk", "pass phrase", "pass-phrase", "pre-shared key", "preshared key", "unlock code", "access code", "door code", "login code"), func(text string, at, n int) (int, int) { return announced(text, at, n, true) }},
		{ruleToken, []string{"secret", "token", "key", "credential", "schlüssel", "clé api", "clé d'api", "clave api", "chave api", "トークン", "シークレット", "キー", "토큰", "токен", "Токен", "令牌", "密钥", "密鑰", "秘钥", "私钥", "授权码", "凭证", "凭据"},
			func(text string, at, n int) (int, int) { return announced(text, at, n, false) }},
		after("app-password", `[ \t]*(?:is|:|=|是|为)?[ \t]*["'`+"`"+`]?((?:[a-z]{4} ){3}[a-z]{4})\b`, nil, "app password", "应用专用密码", "应用密码"),
		after("app-password", `[ \t]*(?:是|为|:)?[ \t]*([a-z]{16}|[A-Z]{16})\b`, nil, "授权码"),
		after("wifi-password", `[^\n]{0,80}?;P:([^;\n]{4,64});`, nil, "wifi:"),
	}
}

// announced finds the value of the word text[at:at+n] in its line, or else where
// markup, a pair of name and value or the next line has it.
func announced(text string, at, n int, password bool) (int, int) {
	if start, end := assigned(text, at, n, password); start >= 0 {
		return start, end
	}
	return beyond(text, at, n, password)
}

// Parts of an assignment behind its word: what goes on with the word, what
// closes it, the sign or verb, and the value with what opens and closes it.
const (
	tailPart  = `((?:[.\-]?[A-Za-z0-9_]){0,40})`
	closePart = "[\"'`*)\\]】」]{0,3}"
	typePart  = `(?::[ \t]*(?:str|string|String|&str|text)(?:[ \t]*\|[ \t]*None)?[ \t]*)?`
	notePart  = `(?:[ \t]*[(\[][^()\[\]\n]{1,30}[)\]])?`
	wherePart = `(?:[ \t]+(?i:for|of|to|on|in|at|from|by|used by|für|vom|von|des|der|zum|zur|am|im|auf|bei|beim|pour|du|de|des|del|da|do|di|para|per|van|voor|för|till|от|для|к|на)[ \t]+(?:[^\n.:;=,"]|\.\w){1,50}?)?`
	callPart  = `(?:(?:\[\]byte|SecretStr|Some|String::from|Buffer\.from|new String|String|bytes|str|aws\.String|ptr\.To)?\(|!!str[ \t]+|&\w+[ \t]+)?`
	signPart  = `(` + notePart + wherePart + `)[ \t]*(=>|:=|==?|:|→|->|\|\||\?\?)\**[ \t]*` + callPart
	verbPart  = `([ \t]+[\w.@-]{2,30})??((?:s|’s)[ \t]+|[ \t]+(?i:(?:(?:is|was|has been|got)[ \t]+)?(?:set|changed|reset|rotated|updated)[ \t]+to|is now|is still|is currently|should be|must be|will be|becomes|is|was|to|ist|lautet|wurde auf|wurde geändert (?:in|auf|zu)|est|es|é|è|är|jest)[ \t]*:?[ \t]+)`
	hanPart   = `[ \t]*((?:已|已经|现在|目前|暂时|统一|应该?|都|就|还|仍然?)*(?:改|修改|设|设置|设定|更新|重置|重设|变更|变|换|更换|配置|定)?(?:成|为|是|為|は|を|는|은|填|用|叫)了?[ \t]*:?[ \t]*|((?:\p{Han}{1,6}|[ \t]*从[^\n,。]{1,24}?)(?:改|换|设|设置|重置|更新)(?:成|为)|改了,?[ \t]*(?:现在|新密码)?(?:是|为))了?[ \t]*:?[ \t]*)`
	spacePart = `([ \t]+[-–—][ \t]+|[ \t]*(?:\.{3,}|>{2,3}|\?(?:[ \t]*A[:.])?)[ \t]*|[ \t]*[|(,;\[]?[ \t]*)`
	valuePart = "(?:[bru@]?\"([^\"\\n]{1,200})\"|[bru@]?'([^'\\n]{1,200})'|`([^`\\n]{1,200})`|[“‘「『【«]([^”’」』】»\\n]{1,200})[”’」』】»]|([!#-&(-+\\--:<-_a-~]{1,300}))"
)

// maxBare is how long a value without quotes is in that pattern; a
// token may go on behind it.
const maxBare = 300

// maxTail is how far the name of a secret goes on behind its word, in bytes.
const maxTail = 40

// Groups of the pattern of an assignment.
const (
	groupTail = 1 + iota
	groupWhere
	groupSign
	groupBeforeVerb
	groupVerb
	groupHan
	groupBeforeHan
	groupSpace
	groupQuoted // four of them
	groupBare   = groupQuoted + 4
)

const behindName = closePart + typePart + `(?:` + signPart + `|` + wherePart + verbPart + `|` + hanPart + `|` + spacePart + `)` + valuePart

// A name of letters may go on behind the word; one of Chinese ends with it.
var (
	assignment    = lazily(`\A` + tailPart + behindName)
	hanAssignment = lazily(`\A()` + behindName)
)

// operand is a value and how it is bound to its word.
type operand struct {
	word             string // that announces it
	head, tail       string // of the name around the word
	value            string
	quoted           bool
	sign             string // "=", ":" and the like; "" for a verb or a space
	verb, space, han bool   // space also where other words stand between the two
	last             bool   // nothing follows it in its line
	ends             bool   // its sentence, or its line, ends with it
	login            bool   // as in a .netrc: "login bob password …"
	label            bool   // its line says little before it
	cell             bool   // it stands in a bracket or a cell behind its word
	password         bool
	toService        bool // it is said to belong to a service
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
	pattern := assignment
	if text[at] >= utf8.RuneSelf {
		pattern = hanAssignment
	}
	m := pattern.FindStringSubmatchIndex(ahead(text, at+n))
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
	o.cell = strings.ContainsAny(group(groupSpace), "(|[")
	between := group(groupWhere) + group(groupBeforeVerb) + group(groupBeforeHan)
	if m[2*groupSpace] >= 0 && group(groupSpace) == "" && isAlnum(text[base-1]) {
		return -1, 0 // the word goes on with a sign
	}
	if strings.Contains(group(groupHan), "を") && !toValue.MatchString(ahead(text, base+m[1])) {
		return -1, 0
	}
	start, end, long := 0, 0, false
	for i := groupQuoted; i <= groupBare; i++ {
		if m[2*i] >= 0 {
			start, end, o.quoted = base+m[2*i], base+m[2*i+1], i != groupBare
		}
	}
	if !o.quoted {
		if crossedOut(text[start:end]) {
			return -1, 0 // the sign of it may be at the end, which bare cuts off
		}
		value := bare(text[start:end], o.sign)
		long = len(value) == maxBare
		if end < len(text) && text[end] >= utf8.RuneSelf {
			value = strings.TrimRight(value, "([{<") // of a note behind it
		}
		end = start + len(value)
	}
	o.value = text[start:end]
	o.cell = o.cell || at > 0 && text[at-1] == '(' && end < len(text) && text[end] == ')'
	o.ends = endsSentence(text, end)
	// Where it says whose the password is, the sentence must end for a weak one.
	o.space = o.space || between != "" && !(password && (o.sign == ":" || o.verb && group(groupBeforeVerb) == "") && (o.ends || o.verb && strings.HasPrefix(text[end:], ",")))
	o.last = end == len(text) || strings.TrimLeft(ahead(text, end), " \t\r;\"',.)") == "" || strings.HasPrefix(strings.TrimLeft(ahead(text, end), " \t\r;"), "\n")
	if o.verb && strings.Trim(group(groupVerb), " \t:") == "to" && !setBefore(text, at) {
		return -1, 0
	}
	o.toService = o.verb && toService.MatchString(text[base:start])
	for _, plain := range []string{"{noop}", "{plain}", "{cleartext}"} {
		if strings.HasPrefix(o.value, plain) {
			start, o.value = start+len(plain), o.value[len(plain):]
		}
	}
	if !o.announced(text, at, n) || hashed(lineBefore(text[:start])) || !o.holds() {
		return -1, 0
	}
	if long {
		end = wordEnd(text, end)
	}
	return start, end
}

// toValue is what stands behind a value that a password is changed to.
var toValue = lazily(`\A[ \t]*(?:に|へ)(?:変更|設定|更新|変え|し)`)

// endsSentence reports whether a sentence or a line ends at end.
func endsSentence(text string, end int) bool {
	rest := strings.TrimLeft(ahead(text, end), " \t\r")
	if rest == "" || rest[0] == '\n' {
		return true
	}
	after := strings.TrimLeft(rest[1:], " \t\r\"'`*")
	switch rest[0] {
	case '.', '!', '|', '"', '\'', '`', '*', ')':
		return after == "" || after[0] == '\n' || rest[0] == '.' && len(rest) > 1 && rest[1] == ' '
	case ',', ';':
		return after != "" && after[0] >= utf8.RuneSelf
	}
	return rest[0] >= utf8.RuneSelf && strings.HasPrefix(rest, "。")
}

// toService is what makes a mere key one that opens something.
var toService = lazily(`\A (?i:to|for|of) .*\b(?i:api|service|server|account|gateway|endpoint|sdk)\b`)

// announced fills in what stands before the word of an operand, and reports
// whether that announces a secret.
func (o *operand) announced(text string, at, n int) bool {
	head := at
	for head > max(0, at-64) && (isAlnum(text[head-1]) || strings.IndexByte("_-.$", text[head-1]) >= 0) {
		head--
	}
	o.head = text[head:at]
	o.word = text[at : at+n]
	before := behind(text, at)
	if o.space {
		line := lineBefore(before)
		o.label = len(strings.Fields(line)) <= 3
		o.login = strings.HasSuffix(before, " ") && loggedIn.MatchString(line)
	}
	return announcedBy(o.word, *o, before)
}

// loggedIn is a user's name right before the word for its password.
var loggedIn = lazily(`login |(?:\buser(?:name)?|\blogin|\baccount|\bbenutzer(?:name)?|\bidentifiant|\butilisateur|\busu[aá]rio|логин|ユーザー名?|用户名?|账号|帐号|账户|登录名)[ \t]*[:=是为]?[ \t]*[\w.@-]{2,40}[ \t]*[,;/|，、和与及]?[ \t]*(?:and |with )?\z`)

// setBefore reports whether the line says that something is set.
func setBefore(text string, at int) bool {
	line := lineBefore(text[:at])
	return slices.ContainsFunc([]string{"set ", "setting ", "chang", "reset", "rotat", "updat", "switch", "chose", "bump"}, func(w string) bool {
		return strings.Contains(line, w)
	})
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
	// headsOfPass are what makes "pass" and "pw" the end of a name for a password,
	// and not of another word.
	headsOfPass = words(`db root bind admin user my mysql pg sql smtp mail ftp ssh sudo become keystore truststore store cert vpn wifi ldap redis rabbit mongo
		store key app login auth proxy http api svc backup master old new test prod dev stage staging`)
	// headsOfKeys are what makes a key one that opens something.
	headsOfKeys = words(`api access private secret encryption encrypt signing app auth master shared account storage ssh admin service subscription
		webhook hmac aes fernet jwt deploy client consumer session license rsa api- cookie data integration preshared psk
		maps map weather openai gemini claude anthropic deepl mailgun stripe algolia google azure aws github gitlab twilio sendgrid mistral groq deepseek kimi moonshot qwen zhipu
		tavily serper bing brave exa pinecone datadog sentry cloudflare fastly mapbox openrouter llm recovery setup wallet routing pagerduty postmark server 地图 天气 翻译 短信 模型 接口 平台 高德 百度 腾讯 阿里 讯飞 智谱 调用`)
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
		joined, whole := lastHead, strings.ToLower(strings.TrimRight(o.head, "_-. "))
		if whole == "" {
			whole = strings.ToLower(lastWord(before)) // also of a name with capitals within
		}
		if o.toService && o.tail == "" {
			return true
		}
		return slices.ContainsFunc(headsOfKeys(), func(h string) bool { return strings.HasSuffix(joined, h) || whole == h })
	case "psk", "unlock code", "access code", "door code", "login code":
		return o.tail == "" && !o.space
	case "passwd":
		return !strings.HasSuffix(before, "etc/")
	case "pass", "pw", "mdp":
		if o.space && word == "pass" && !o.login || o.tail != "" {
			return false
		}
		return o.head == "" || !isLetter(o.head[len(o.head)-1]) || slices.Contains(headsOfPass(), lastHead)
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
