package secrets

import (
	"slices"
	"strings"
)

// besideRules find passwords that stand beside the name of a user, in a command,
// or before the word for them.
func besideRules() []rule {
	const opening = "[ \\t]*(?:is|are|with|as|using|:|=|是|为|用)?[ \\t]*[\"'`(]?"
	return []rule{
		{rulePassword, []string{" as the ", " as a ", " as password", " as its ", " as pwd", " is the ", " is our ", " is my ", "作为密码", "做密码", "当密码", "作密码", "设为密码", "为密码", "是密码"}, asPassword},
		after(rulePassword, opening+`[A-Za-z0-9][\w.@-]{1,40}[ \t]*[/:|]{1,2}[ \t]*["'`+"`"+`]?([!-~]{6,64})`, chosenToken, "creds", "credentials", "login", "account", "ssh into", "log in with", "log in as",
			"logged in as", "sign in with", "sign in as", "账号", "帐号", "账户", "用户", "登录", "登陆", "账密"),
		after(rulePassword, `(?:密码|口令)?[ \t]*(?:is|are|:|=|是|为|分别是)[ \t]*["'`+"`"+`(]?[A-Za-z][\w.@-]{1,40}[ \t]*(?:[/:|,、]|[ \t])[ \t]*["'`+"`"+`]?([!-~]{6,64})`, weakToken,
			"账号密码", "账密", "用户名密码", "用户名/密码", "账号/密码", "username/password", "user/password", "user/pass", "user:pass", "login/password", "username and password", "user and password", "用户名和密码", "账号和密码"),
		{rulePassword, []string{"root/", "admin/", "administrator/", "postgres/", "ubuntu/", "oracle/", "deploy/", "root:", "admin:", "administrator:", "root / ", "admin / ", "root // ", "admin // ", "postgres / ", "elastic/", "elastic:", "neo4j/", "sa/", "sa / "}, ofUser},
		after(rulePassword, `[ \t]*[A-Za-z][\w.-]{1,30}[ \t]*/[ \t]*([!-~]{6,64})[ \t]*(?:登录|登陆|登入|连接|连)`, weakToken, "用"),
		{rulePassword, []string{" / "}, ofMail},
		{rulePassword, []string{"root ", "admin ", "administrator ", "sa "}, ofUserBySpace},
		after(rulePassword, `[ \t]*(?:is|are|with|as|:|=|是|为)?[ \t]*["'`+"`"+`(]?[A-Za-z][\w.@-]{1,40}[ \t]+["'`+"`"+`]?([!-~]{8,64})`, signedToken, "creds", "credentials", "login", "ssh", "account", "zugang", "账号", "帐号", "登录", "账密"),
		{rulePassword, []string{"log into", "log in", "login", "sign in", "unlock", "登录", "登陆", "解锁", "anmelden", "zugang", "connexion"}, func(text string, at, n int) (int, int) { return signedNear(text, at+n, "!$%^&*?#") }},
		{rulePassword, []string{"@//"}, beforeService},
		{rulePassword, []string{"<<<"}, hereString},
		{rulePassword, []string{"<(echo ", "<(printf "}, hereString},
		after(rulePassword, `[ \t=:]+["']?([^\s"']{6,64})`, weakToken, "-storepass", "-keypass", "-srcstorepass", "-deststorepass"),
		after(rulePassword, `[ \t]+\S{1,60}[ \t]+["']?([^\s"']{8,63})`, weakToken, "wpa_passphrase", "-setairportnetwork en0", "net user"),
		after(rulePassword, `[^\n|]{1,80}?[ \t]password[ \t]+["']?([^\s"']{8,63})`, weakToken, "nmcli "),
		after(rulePassword, `[ \t]+([^\s"']{5,32})(?:[ \t]+(?i:ro|rw)|[ \t]*\n|\z)`, weakToken, "snmp-server community", "rocommunity", "rwcommunity"),
		after(rulePassword, `([A-Za-z0-9+/=_-]{24,})`, mixed, "vmess://", "ssr://"),
		{rulePassword, []string{"values"}, inserted},
		{rulePassword, commands(), onCommandLine},
		after(rulePassword, `(?i)[ \t]*(?:\w+[ \t]+by[ \t]*)?(?:as[ \t]*)?(?:password[ \t]*)?'([^'\n]{4,100})'`, weakToken, "identified by", "identified with"),
		after(rulePassword, `[ \t]+["']?([^\s"']{6,100})`, weakToken, "requirepass", "masterauth"),
		after(rulePassword, `[ \t]*pass:([^\s"']{4,100})`, weakToken, "-passin", "-passout", "-pass "),
		after(rulePassword, `[^\n|]{0,80}?[ \t]-U[ \t]*["']?[\w.\\-]{1,40}%([^\s"']{4,64})`, weakToken, "smbclient", "rpcclient", "net rpc"),
		after(rulePassword, `[ \t]+(?:-\w+[ \t]+)*[\w]{1,30}/([^\s"'@]{4,64})@`, weakToken, "sqlplus", "expdp", "impdp", "sqlldr"),
		after(rulePassword, `[ \t]+[\w.@-]{1,40}[ \t]+["']?([^\s"']{6,64})`, chosenToken, "add_user", "change_password", "adduser", "useradd"),
		after(rulePassword, `(?:-e |-n )?["']?(?:[\w.-]{1,30}:)?([^\s"'|:]{6,80})["']?[ \t]*\|[ \t]*(?:sudo[ \t]+-S|(?:sudo[ \t]+)?(?:chpasswd|passwd)|[^\n|]{0,100}?(?:password-stdin|--stdin|with-token))`, weakToken, "echo ", "printf "),
		after(rulePassword, `[ \t]+["']?([^\s"']{6,64})`, weakToken, "--sftp-pass", "--ftp-pass", "--http-password", "--proxy-password", "--with-password"),
		after(rulePassword, `[^\n]{0,100}?/user:\S{1,40}[ \t]+([^\s"'/]{4,64})`, weakToken, "net use "),
		after(rulePassword, `-\w*b\w*[ \t]+\S{1,60}[ \t]+(?:[\w.@-]{1,40}[ \t]+)?["']?([^\s"']{6,64})`, weakToken, "htpasswd "),
		after(rulePassword, `["']?[\w.@-]{1,40}:([^\s"']{4,64})`, weakToken, "http -a ", "https -a ", "http --auth ", "http --auth="),
		after(rulePassword, `[^()\n]{0,80}?["'][^"'\n]{0,60}["'][ \t]*,[ \t]*["']([^"'\n]{4,64})["'][ \t]*[,)]`, weakToken, "credential(", "credentials(", "auth=(", "basicauth(", "basic_auth(", "getconnection(", "authentication(", "login(", "createuser(", "digestauth("),
		after(rulePassword, `[ \t]+(?:-string[ \t]+)?["']([^"'\n]{4,64})["']`, weakToken, "convertto-securestring"),
		after(ruleToken, `[^\n]{0,60}?[ \t](?:--body|-b)[ \t=]+["']?([^\s"']{8,200})`, strongToken, "gh secret set"),
		after(ruleToken, `[ \t]*(?:[:=是为][ \t]*)?["']?([A-Za-z0-9+/]{20,64})`, strongToken, "sk:", "sk=", `sk":`, "sk ", "sk是", "sk为", "ak:", "ak=", `ak":`, "ak ", "ak是").atWord(),
		after(ruleToken, `[ \t]*[:=][ \t]*[A-Za-z0-9]{16,40}[ \t]*[/,:][ \t]*([A-Za-z0-9]{30,50})`, strongToken, "ak/sk", "ak sk"),
		after(rulePassword, `[ \t]*[:=]?[ \t]*[A-Za-z][\w.-]{1,40}:([!-~]{8,64})`, chosenToken, "auth:", "basic auth", "auth="),
		after(rulePassword, `(?:[ \t]+(?:network|ssid|is))?[ \t]*[:=]?[ \t]*["']?[\w.-]{2,32}["']?[ \t]*[/,|][ \t]*([!-~]{8,63})`, weakToken, "wifi", "wi-fi", "ssid"),
		after(rulePassword, `[\w ,=.-]{1,80}[ \t]+/[ \t]+([!-~]{6,64})`, weakToken, "cn=", "uid="),
		after(rulePassword, `\w{1,30}/([^\s"'@/]{4,64})@`, weakToken, "jdbc:oracle:thin:"),
		after(rulePassword, `([^"\\\n]{6,64})\\[rn]"`, weakToken, `send "`, `send -- "`, `sendline "`),
		after(ruleToken, `[ \t=]+([a-z0-9]{6}\.[a-z0-9]{16})\b`, nil, "--token"),
		{rulePassword, []string{"@10.", "@192.168.", "@172.", "@127.0.0.1", "@localhost"}, beforeHost},
		after(rulePassword, `-u,?[ \t]*[\w.@-]{1,40},([^\s"',]{4,64})`, weakToken, "lftp "),
	}
}

// commands are what takes a password behind -p, -a, -P, -w, -pw or /p:.
func commands() []string {
	return []string{"sshpass -p", "mysql ", "redis-cli ", "docker login ", "podman login ", "helm registry login ", "mysqldump ", "mysqladmin ", "mariadb ", "mongo ", "mongosh ", "mongodump ", "sqlcmd ", "cqlsh ",
		"ldapsearch ", "ldapadd ", "ldapmodify ", "ldapwhoami ", "7z ", "zip ", "unzip ", "unrar ", "ipmitool ", "az login ", "xfreerdp ", "rdesktop ", "plink ", "pscp ", "oc login ", "argocd login ", "clickhouse-client ", "bcp ", "mosquitto_pub ", "mosquitto_sub ", "psexec ", "paexec ", "winrs ", "cryptsetup ", "ssh-keygen ", "mongorestore ", "mongoexport ", "influx ", "arangosh ", "vncviewer ", "evil-winrm ", "keytool ", "qpdf ", "rar "}
}

// chosenToken and weakToken judge what stands where a password does: the one by
// its form alone, the other where nothing else may stand.
func chosenToken(value string) bool {
	value = bare(value, "")
	return looksChosen(value) || chosenWithAt(value)
}

func weakToken(value string) bool {
	value = bare(value, "")
	odd := contains(value, isLetter) && (contains(value, isDigit) || strings.ContainsAny(value, signs))
	return odd && len(value) >= 6 && !placeholder(value) && !elsewhere(value) && !timely(value) && !speaksOfTechnique(value)
}

// ofUser finds the password behind the name of a user that machines have, as in
// "root/V on db1".
func ofUser(text string, at, n int) (int, int) {
	if !startsWord(text, at) || at > 0 && strings.IndexByte("/.-_@~$\\", text[at-1]) >= 0 {
		return -1, 0
	}
	start, end := at+n, at+n
	for end < min(len(text), start+64) && text[end] > ' ' && text[end] <= '~' && strings.IndexByte("\"'`", text[end]) < 0 {
		end++
	}
	value := bare(text[start:end], "")
	end = start + len(value)
	said := strings.ToLower(text[end:min(len(text), end+12)])
	bound := slices.ContainsFunc([]string{" on ", " (", " @ ", " at ", " to log", " for ", "登录", " 登录"}, func(w string) bool { return strings.HasPrefix(said, w) })
	told := wordAndNumber.MatchString(value) && len(value) >= 8 && !mentions(strings.ToLower(value)) && !namesThing(value) && endsSentence(text, end) && tellsOfLogin.MatchString(lineBefore(text[:at]))
	signed := strings.ContainsAny(value, "!@#$^&*?") && !strings.ContainsAny(value, "=/:.")
	if signed && (looksChosen(value) || chosenWithAt(value)) || told || bound && weakToken(value) && innerCapital(value) {
		return start, end
	}
	return -1, 0
}

var tellsOfLogin = lazily(`后台|登录|登陆|账号|帐号|面板|路由|控制台|\blog ?in\b|\bconsole\b|\brouter\b|\bnas\b|\bzugang`)

var userAndPassword = lazily(`(?:\A|[\s"'=(])[A-Za-z][\w-]{1,30}:([^\s"'/:]{6,64})\z`)

// beforeHost finds the password of user:password@host without a scheme.
func beforeHost(text string, at, _ int) (int, int) {
	before := behind(text, at)
	m := userAndPassword.FindStringSubmatchIndex(before)
	if m == nil || !weakToken(before[m[2]:m[3]]) || nameLike(before[m[2]:m[3]]) {
		return -1, 0
	}
	return at - len(before) + m[2], at - len(before) + m[3]
}

var beforeAs = lazily(`([!-~]{6,64})[ \t]?\z`)

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
	start, at := at-len(behind(text, at))+m[2], at-len(behind(text, at))+m[3]
	if value := strings.Trim(text[start:at], "\"'`"); !looksChosen(value) && !chosenWithAt(value) && !(ofWordAndNumber.MatchString(value) && len(value) >= 8 && innerOrFirst(value) && !mentions(strings.ToLower(value)) && !namesThing(value)) {
		return -1, 0
	}
	return start, at
}

var flagged = lazily(`\A[^\n|]{0,100}?[ \t](?:-pw[ \t=]|(?:-p|-a|-P|-N|-w|--pass|/p:)(?:[ \t]|=)?)(?:"([^"\n]{4,64})"|'([^'\n]{4,64})'|([!-&(-~]{4,64}))`)

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

// signedToken reports whether a word is a password wherever it stands: long, with
// letters of both cases, a digit and a sign that no code or address has there.
func signedToken(value string) bool {
	value = bare(value, "")
	return len(value) >= 8 && strings.ContainsAny(value, "!@#$^&?%") && !strings.ContainsAny(value, "=/:.()[]{}<>\"'`") && contains(value, isDigit) && innerOrFirst(value) &&
		!oneDigit.MatchString(value) && !joinsNames.MatchString(value) && (looksChosen(value) || chosenWithAt(value))
}

// oneDigit is a word, a sign and a digit, as names of versions are.
var oneDigit = lazily(`\A[A-Za-z]+\W\d\z`)

// joinsNames is a sign that joins two names, as of a class within another, or that
// begins the code of a character.
var joinsNames = lazily(`\A[A-Za-z]+\d*[$&]\d?[A-Za-z]+\d*[a-z]?\z|%(?:2[0-9A-F]|3[ADF]|5[B-E]|[C-F][0-9A-F])`)

// innerOrFirst reports whether letters of both cases stand in a value.
func innerOrFirst(value string) bool {
	return strings.ToLower(value) != value && strings.ToUpper(value) != value
}

// ofUserBySpace finds the password in "root V".
func ofUserBySpace(text string, at, n int) (int, int) {
	if !startsWord(text, at) || at > 0 && strings.IndexByte("/.-_@~$\\#", text[at-1]) >= 0 {
		return -1, 0
	}
	start := at + n
	end := start
	for end < min(len(text), start+64) && text[end] > ' ' && text[end] <= '~' && strings.IndexByte("\"'`", text[end]) < 0 {
		end++
	}
	value := bare(text[start:end], "")
	if !signedToken(value) {
		return -1, 0
	}
	return start, start + len(value)
}

var userBeforeService = lazily(`(?:\A|[\s"'=(:])[A-Za-z]\w{1,30}/([^\s"'/@]{4,64})\z`)

// beforeService finds the password of user/password@//host:1521/service.
func beforeService(text string, at, _ int) (int, int) {
	before := behind(text, at)
	m := userBeforeService.FindStringSubmatchIndex(before)
	if m == nil || placeholder(before[m[2]:m[3]]) {
		return -1, 0
	}
	return at - len(before) + m[2], at - len(before) + m[3]
}

var (
	hereWord    = lazily(`\A[ \t]*(?:-e |-n )?["']?([^\s"')]{6,64})`)
	asksForPass = lazily(`(?i)pass|sudo -s|\bpw|secret|token|key`)
)

// hereString finds a password that a command which asks for one is given as its
// input: passwd --stdin root <<< V, rsync --password-file=<(echo V).
func hereString(text string, at, n int) (int, int) {
	m := hereWord.FindStringSubmatchIndex(ahead(text, at+n))
	if m == nil || !asksForPass.MatchString(lineBefore(text[:at])) {
		return -1, 0
	}
	if value := text[at+n+m[2] : at+n+m[3]]; !weakToken(value) && (!mixed(value) || elsewhere(value) || placeholder(value)) {
		return -1, 0
	}
	return at + n + m[2], at + n + m[3]
}
