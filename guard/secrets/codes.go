package secrets

import (
	"slices"
	"strings"
)

// ruleCode is what opens a door, a card, a telephone or a shared file: short, and
// known for nothing but the word before it.
const ruleCode = "access-code"

// Parts of what stands between the word for a code and the code.
const (
	codeKind  = `(?:[ \t-]?(?i:code|number|nummer|numbers?|s|is))?`
	codeNote  = `(?:[ \t]*[(\[][^()\[\]\n]{1,40}[)\]])?(?:[ \t]*/[ \t]*[\w -]{1,30}?)?`
	codeSign  = `[ \t]*(?:\*\*)?[ \t]*(?:=>|->|→|[:=]|[ \t]-[ \t]|\b(?i:is now|is still|is|was|are|ist|lautet|est|es|é|è|jest)\b|(?:改|换|设)?(?:成|为|是|は|는|은))[ \t]*(?:\*\*)?[ \t]*["'` + "`" + `“「]?`
	codeSpace = `[ \t]+["'` + "`" + `“「]?`
	codeValue = `([#*]?\d{4,12}[#*]?|\d{2}[ -]\d{2}[ -]\d{2})`
)

// codeRules find codes.
func codeRules() []rule {
	const belongs = codeKind + codeNote + `(?:` + wherePart + `|[ \t]+[\w-]{2,20})`
	const whose = `[ \t]+(?i:for|of|für|der|des|zur|du|del|de la)[ \t]+[^\n.:;=,"\d]{2,30}?`
	number := lazily(`\A(?:` + belongs + codeSign + `|` + codeKind + whose + codeSpace + `|` + codeKind + codeNote + codeSpace + `)` + codeValue)
	signed := lazily(`\A` + belongs + codeSign + codeValue)
	verified := lazily(`\A` + codeKind + wherePart + codeSign + `(\d{6,8})`)
	card := lazily(`\A2?[ \t]*(?:` + codeSign + `|` + codeSpace + `)(\d{3,4})`)
	shared := lazily(`\A[ \t]*(?:\([^()\n]{1,20}\))?` + `(?:` + codeSign + `|[ \t]*["'` + "`" + `“「]?)([A-Za-z0-9#*]{4,12}|\d{2}-\d{2}-\d{2})`)
	return []rule{
		{ruleCode, []string{"pin", "puk"}, func(text string, at, n int) (int, int) {
			re := signed
			if strings.ToUpper(text[at:at+n]) == text[at:at+n] {
				re = number
			}
			return code(re, text, at, n)
		}},
		{ruleCode, []string{"door code", "gate code", "garage code", "alarm code", "entry code", "access code", "lock code", "locker code", "lockbox code", "unlock code", "keypad code", "building code for", "security code", "safe combination", "lock combination", "safe code",
			"passcode", "zugangscode", "geheimzahl", "türcode", "code pin", "code d'accès", "code d'entrée", "digicode", "código de acceso", "codice di accesso"}, func(text string, at, n int) (int, int) { return code(number, text, at, n) }},
		{ruleCode, []string{"verification code", "one-time code", "one-time password", "otp", "2fa code", "sms code", "login code", "bestätigungscode"}, func(text string, at, n int) (int, int) { return code(verified, text, at, n) }},
		{ruleCode, []string{"cvv", "cvc"}, func(text string, at, n int) (int, int) { return code(card, text, at, n) }},
		{ruleCode, []string{"提取码", "提取密码", "访问码", "访问密码", "分享码", "分享密码", "临时密码", "临时口令", "动态密码", "会议密码", "入会密码", "解压密码", "开机密码", "锁屏密码", "支付密码", "取款密码", "交易密码", "查询密码", "门禁密码", "门锁密码", "门禁码", "保险柜密码", "保险箱密码", "银行卡密码",
			"连接密码", "连接码", "验证码", "解锁码", "开门密码", "手机密码", "锁屏码", "安全码", "暗証番号", "暗証コード", "비밀번호", "인증번호", "提取碼", "驗證碼"}, func(text string, at, n int) (int, int) { return code(shared, text, at, n) }},
		{ruleCode, []string{"recovery code", "backup code", "scratch code", "one-time codes", "wiederherstellungscode", "backup-code", "恢复码", "恢复代码", "备用码", "备用代码", "备用验证码", "救援码", "リカバリーコード", "バックアップコード"}, listOfCodes},
		after("license-key", `[^\n]{0,40}?[ \t:：=是为]["'`+"`"+`]?((?:[A-Z0-9]{4,8}-){2,7}[A-Z0-9]{4,8})\b`, isLicense, "license", "licence", "lizenz", "product key", "activation", "windows key", "office key", "cd key", "cd-key", "steam key", "激活码", "激活密钥", "注册码", "产品密钥", "许可", "ライセンス", "プロダクトキー"),
		after("license-key", `[^\n]{0,20}?[ \t:：=是为]["'`+"`"+`]?((?:[A-Z0-9]{4,8}-){3,7}[A-Z0-9]{4,8})\b`, isLicense, "serial", "序列号", "シリアル", "seriennummer"),
	}
}

// code finds what re says is a code behind the word text[at:at+n], where neither a
// longer word nor a quantity stands.
func code(re pattern, text string, at, n int) (int, int) {
	if text[at] < 0x80 && !startsWord(text, at) || at > 0 && strings.IndexByte("_$.", text[at-1]) >= 0 {
		return -1, 0
	}
	m := re.FindStringSubmatchIndex(ahead(text, at+n))
	if m == nil {
		return -1, 0
	}
	start, end := at+n+m[2], at+n+m[3]
	value := text[start:end]
	spaced := strings.Trim(kindOfCode.ReplaceAllString(text[at+n:start], ""), " \t\"'`") == ""
	switch {
	case end < len(text) && (isAlnum(text[end]) || strings.IndexByte("_/@%", text[end]) >= 0), end+1 < len(text) && strings.IndexByte(".-:+", text[end]) >= 0 && isAlnum(text[end+1]):
		return -1, 0 // a longer word goes on
	case counts(text[end:]), spaced && (year(value) || len(value) == 6 && n == len("pin") && text[at] < 0x80), isLetter(text[max(0, start-2)]) && goesOn(text[end:]):
		return -1, 0 // also where a number of six is that of a place
	case contains(value, isDigit):
		if isLetter(value[0]) && nameLike(value) && len(value) > 6 && spaced || speaksOfTechnique(value) || measure.MatchString(value) && contains(value, isLetter) {
			return -1, 0
		}
		return start, end
	}
	// Letters alone are a code where a sign says so.
	lower := strings.ToLower(value)
	if spaced || len(value) > 8 || placeholder(value) || mentions(lower) || slices.Contains(ofPasswords(), lower) || text[at] < 0x80 || !endsSentence(text, end) {
		return -1, 0
	}
	return start, end
}

var kindOfCode = lazily(`\A` + codeKind)

// goesOn reports whether a word follows that no sentence on a code goes on with,
// behind a verb: then the number counts something.
func goesOn(rest string) bool {
	word := strings.TrimLeft(rest, " \t")
	if word == "" || len(word) == len(rest) || !isLetter(word[0]) {
		return false
	}
	word = strings.ToLower(word[:strings.IndexFunc(word+" ", func(r rune) bool { return r > 'z' || !isLetter(byte(r)) })])
	return !slices.Contains(strings.Fields("and or for but since until till now on at in as the to it works opens unlocks again both please und oder seit bis et y"), word)
}

// year reports whether a number is one of our time.
func year(value string) bool {
	return len(value) == 4 && (strings.HasPrefix(value, "19") || strings.HasPrefix(value, "20"))
}

// counts reports whether what stands behind a number makes it a quantity.
func counts(rest string) bool {
	rest = strings.ToLower(strings.TrimLeft(rest, " \t"))
	return slices.ContainsFunc(strings.Fields("位 次 个 個 天 年 月 日 分 秒 小时 字 条 條 人 元 桁 文字 回 자리 digit char letter time second minute hour day attempt user failed wrong tries stellig zeichen mal chiffres of"), func(w string) bool {
		return strings.HasPrefix(rest, w)
	})
}

// maxCodes is how many recovery codes a list has at most.
const maxCodes = 24

var codesBegin = lazily(`\A(?i:s|n)?(?:[ \t]*\([^()\n]{1,40}\))?` + wherePart + `[ \t]*(?:[:=]|(?i:are|is|sind)\b|是|为|有|は)?[ \t]*\r?\n?`)

// listOfCodes finds the codes that a note lists to come back in, from the first
// to the last.
func listOfCodes(text string, at, n int) (int, int) {
	near := ahead(text, at+n)
	m := codesBegin.FindStringIndex(near)
	if m == nil || m[1] == 0 {
		return -1, 0
	}
	first, last := -1, 0
	for i, found := m[1], 0; found < maxCodes; found++ {
		for i < len(near) && strings.IndexByte(" \t\r\n,;|*-\"'`[]", near[i]) >= 0 {
			i++
		}
		end := i
		for end < len(near) && (isAlnum(near[end]) || near[end] == '-') {
			end++
		}
		if end < i+3 && end < len(near) && (near[end] == '.' || near[end] == ')') && strings.Trim(near[i:end], digits) == "" {
			i = end + 1 // its number
			continue
		}
		value := near[i:end]
		if len(value) < 4 || !contains(value, isDigit) || timely(value) || nameLike(value) && contains(value, isLetter) {
			break
		}
		if first < 0 {
			first = i
		}
		i, last = end, end
	}
	if first < 0 || last-first < 6 || counts(near[last:]) {
		return -1, 0
	}
	return at + n + first, at + n + last
}

// isLicense reports whether a value is a licence key: groups of capitals and
// digits that say nothing.
func isLicense(value string) bool {
	return contains(value, isLetter) && contains(value, isDigit) && !nameLike(value) && entropy(value) > 2.5
}
