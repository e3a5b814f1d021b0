package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// Sentences that any token may stand in.
func anywhere() []string {
	return []string{
		"For the nightly job use %s until the new one is there.",
		"CI reads %s",
		"export SERVICE_CREDENTIAL=%s",
		"部署时用这个 %s ，下周轮换。",
		"config:\n  value: \"%s\"\n  region: eu",
	}
}

func token(name string, value func(m *maker) string) shape {
	return shape{name: name, in: anywhere()[:3], value: value}
}

// secretShapes are the ways in which secrets are written, all made up.
func secretShapes() []shape {
	all := providerShapes()
	all = append(all, writtenShapes()...)
	all = append(all, hiddenShapes()...)
	all = append(all, laterShapes()...)
	all = append(all, everydayShapes()...)
	all = append(all, noteShapes()...)
	all = append(all, fileShapes()...)
	return append(all, strangeShapes()...)
}

// providerShapes are tokens that tell what they are by their form.
func providerShapes() []shape {
	return []shape{
		token("aws access key", func(m *maker) string { return "AKIA" + m.of(upper+"234567", 16) }),
		{name: "aws secret key", in: []string{
			"aws_secret_access_key = %s", "AWS_SECRET_ACCESS_KEY=%s", "secretAccessKey: '%s'",
		}, value: func(m *maker) string { return m.b64(40) }},
		{name: "aws pair", in: []string{"⟦AKIAQ3EGVT5KLM2NOP4R⟧ / %s", "⟦AKIAQ3EGVT5KLM2NOP4R⟧:%s", "id ⟦AKIAQ3EGVT5KLM2NOP4R⟧, key %s"},
			value: func(m *maker) string { return m.b64(40) }},
		token("github pat", func(m *maker) string { return "ghp_" + m.alnum(36) }),
		token("github fine-grained pat", func(m *maker) string { return "github_pat_" + m.alnum(22) + "_" + m.alnum(59) }),
		token("github app token", func(m *maker) string { return "ghs_" + m.alnum(36) }),
		token("gitlab pat", func(m *maker) string { return "glpat-" + m.url(20) }),
		token("slack bot token", func(m *maker) string {
			return "xoxb-" + m.of(digits, 12) + "-" + m.of(digits, 12) + "-" + m.alnum(24)
		}),
		{name: "slack webhook", in: []string{"post to %s", "webhook: %s", "告警发到 %s"}, value: func(m *maker) string {
			return "https://hooks.slack.com/services/T" + m.of(upper+digits, 9) + "/B" + m.of(upper+digits, 9) + "/" + m.alnum(24)
		}},
		token("stripe key", func(m *maker) string { return "sk_live_" + m.alnum(24) }),
		token("stripe webhook secret", func(m *maker) string { return "whsec_" + m.alnum(32) }),
		token("openai project key", func(m *maker) string { return "sk-proj-" + m.url(74) + "T3BlbkFJ" + m.url(73) + "x" }),
		token("openai key", func(m *maker) string { return "sk-" + m.alnum(20) + "T3BlbkFJ" + m.alnum(20) }),
		token("anthropic key", func(m *maker) string { return "sk-ant-api03-" + m.url(93) + "AA" }),
		token("deepseek key", func(m *maker) string { return "sk-" + m.hex(32) }),
		token("openrouter key", func(m *maker) string { return "sk-or-v1-" + m.hex(64) }),
		token("groq key", func(m *maker) string { return "gsk_" + m.alnum(52) }),
		token("google api key", func(m *maker) string { return "AIza" + m.url(34) + "w" }),
		token("google oauth secret", func(m *maker) string { return "GOCSPX-" + m.url(27) + "k" }),
		token("google refresh token", func(m *maker) string { return "1//0" + m.url(59) + "k" }),
		token("sendgrid key", func(m *maker) string { return "SG." + m.url(21) + "x." + m.url(42) + "x" }),
		token("twilio key", func(m *maker) string { return "SK" + m.hex(32) }),
		token("npm token", func(m *maker) string { return "npm_" + m.alnum(36) }),
		token("pypi token", func(m *maker) string { return "pypi-AgEIcHlwaS5vcmc" + m.url(79) + "x" }),
		token("docker hub token", func(m *maker) string { return "dckr_pat_" + m.url(26) + "x" }),
		token("hugging face token", func(m *maker) string { return "hf_" + m.of(lower+upper, 34) }),
		token("digitalocean token", func(m *maker) string { return "dop_v1_" + m.hex(64) }),
		token("tailscale key", func(m *maker) string { return "tskey-auth-k" + m.alnum(9) + "CNTRL-" + m.alnum(32) }),
		token("telegram bot token", func(m *maker) string { return m.of(digits, 10) + ":AA" + m.url(32) + "x" }),
		token("discord bot token", func(m *maker) string {
			return base64.RawStdEncoding.EncodeToString([]byte(m.of(digits, 18))) + ".G" + m.alnum(5) + "." + m.url(37) + "x"
		}),
		{name: "discord webhook", in: []string{"bot posts to %s", "hook %s"}, value: func(m *maker) string {
			return "https://discord.com/api/webhooks/" + m.of(digits, 18) + "/" + m.url(67) + "x"
		}},
		{name: "dingtalk webhook", in: []string{"钉钉机器人：https://oapi.dingtalk.com/robot/send?access_token=%s", "https://oapi.dingtalk.com/robot/send?access_token=%s"},
			value: func(m *maker) string { return m.hex(64) }},
		{name: "wecom webhook", in: []string{"企业微信告警 https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=%s"}, value: (*maker).uuid},
		{name: "feishu webhook", in: []string{"飞书群机器人 https://open.feishu.cn/open-apis/bot/v2/hook/%s"}, value: (*maker).uuid},
		token("tencent secret id", func(m *maker) string { return "AKID" + m.alnum(32) }),
		{name: "tencent secret key", in: []string{"SecretKey: %s", "TENCENTCLOUD_SECRET_KEY=%s", "腾讯云 SecretKey 是 %s"},
			value: func(m *maker) string { return m.alnum(32) }},
		token("aliyun key id", func(m *maker) string { return "LTAI" + m.alnum(20) }),
		{name: "aliyun secret", in: []string{"AccessKeySecret=%s", "accessKeySecret: %s", "阿里云 AccessKey Secret：%s"},
			value: func(m *maker) string { return m.alnum(30) }},
		{name: "azure sas", in: []string{
			"https://acct.blob.core.windows.net/c?sv=2023-11-03&ss=b&srt=sco&sp=rl&se=2027-01-01T00:00:00Z&sig=%s",
			"SAS: ?sv=2022-11-02&st=2026-01-01&se=2027-01-01&sr=c&sp=r&sig=%s"},
			value: func(m *maker) string { return url.QueryEscape(m.b64(43) + "=") }},
		{name: "azure storage key", in: []string{"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=%s;EndpointSuffix=core.windows.net"},
			value: func(m *maker) string { return m.b64(86) + "==" }},
		token("azure client secret", func(m *maker) string { return m.alnum(3) + "8Q~" + m.alnum(34) }),
		token("vault token", func(m *maker) string { return "hvs." + m.alnum(95) }),
		token("grafana token", func(m *maker) string { return "glsa_" + m.alnum(32) + "_" + m.hex(8) }),
		token("notion token", func(m *maker) string { return "ntn_" + m.of(digits, 11) + m.alnum(35) }),
		token("linear key", func(m *maker) string { return "lin_api_" + m.alnum(40) }),
		token("figma token", func(m *maker) string { return "figd_" + m.url(39) + "x" }),
		token("supabase token", func(m *maker) string { return "sbp_" + m.hex(40) }),
		token("replicate token", func(m *maker) string { return "r8_" + m.alnum(37) }),
		token("xai key", func(m *maker) string { return "xai-" + m.alnum(80) }),
		token("age key", func(m *maker) string { return "AGE-SECRET-KEY-1" + m.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) }),
		token("atlassian token", func(m *maker) string { return "ATATT3" + m.url(185) + "x" }),
		token("databricks token", func(m *maker) string { return "dapi" + m.hex(32) }),
		token("jwt", func(m *maker) string {
			claims := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + m.of(digits, 10) + `","name":"made up","iat":1760000000}`))
			return "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + claims + "." + m.url(42) + "x"
		}),
		{name: "mailchimp key", in: []string{"mailchimp_api_key=%s", "MAILCHIMP_KEY: %s"}, value: func(m *maker) string { return m.hex(32) + "-us12" }},
	}
}

// writtenShapes are secrets that only the words around them give away.
func writtenShapes() []shape {
	long := func(m *maker) string { return m.alnum(28) }
	return []shape{
		{name: "dotted assignment", in: []string{"db.password = %s", "spring.datasource.password=%s", "mail.smtp.passwd: %s", "ldap.bind.pwd=%s"}, value: (*maker).password},
		{name: "environment", in: []string{"DB_PASSWORD=%s", "export PGPASSWORD=%s", "REDIS_PASS=%s", "set ADMIN_PASSWORD=%s", "MYSQL_ROOT_PASSWORD: %s"}, value: (*maker).password},
		{name: "yaml password", in: []string{"db:\n  user: app\n  password: %s\n  host: db1", "  passphrase: %s", "password: '%s'"}, value: (*maker).password},
		{name: "json password", in: []string{`{"user":"app","password":"%s"}`, `"clientSecret": "%s",`, `{"passwd": "%s"}`}, value: (*maker).password},
		{name: "code constant", in: []string{`const dbPassword = "%s"`, `password := "%s"`, `$password = '%s';`, `client.login(user="svc", password="%s")`}, value: (*maker).password},
		{name: "prose password", in: []string{
			"The staging password is %s.", "The admin password was changed to %s on Monday.", "Password for the test database is %s",
			"Root password: %s", "Log in as svc-deploy with password %s, then restart.", "The wifi password at the office is \"%s\"",
		}, value: (*maker).password},
		{name: "prose as password", in: []string{"Use %s as the password for the demo account.", "We set %s as password of the replica."}, value: (*maker).password},
		{name: "user and password", in: []string{"login: deploy / pass: %s", "user=deploy pass=%s", "账号 admin 密码 %s", "用户名：root，密码：%s"}, value: (*maker).password},
		{name: "chinese password is", in: []string{"测试库密码是%s，别外传。", "密码是 %s", "后台登录密码已改为 %s", "生产环境的密码为%s"}, value: (*maker).password},
		{name: "chinese password colon", in: []string{"密码：%s", "密码: %s", "口令：%s", "WiFi 密码：%s", "解压密码:%s"}, value: (*maker).password},
		{name: "chinese token", in: []string{"令牌是 %s", "密钥：%s", "接口密钥为 %s", "API 密钥: %s", "授权码：%s"}, value: long},
		{name: "other languages", in: []string{"Das Passwort ist %s", "contraseña: %s", "mot de passe : %s", "パスワードは %s", "пароль: %s", "비밀번호: %s"}, value: (*maker).password},
		{name: "quoted word password", in: []string{`password = "%s"`, `"db_password": "%s"`}, value: func(m *maker) string { return m.word() + m.word() }},
		{name: "bare word password", in: []string{"db.password = %s", "ADMIN_PASSWORD=%s"}, value: func(m *maker) string { return m.word() + m.word() }},
		{name: "numeric password", in: []string{"密码是%s", "password: %s", "The door password is %s"}, value: func(m *maker) string { return m.of("123456789", 1) + m.of(digits, 7) }},
		{name: "passphrase", in: []string{`passphrase: "%s"`, `The key's passphrase is "%s"`}, value: func(m *maker) string { return m.words(5, " ") }},
		{name: "api key prose", in: []string{"The API key is %s", "api key: %s", "Our weather API key = %s", "apikey=%s"}, value: long},
		{name: "token assignment", in: []string{"auth_token: %s", "token = \"%s\"", "DEPLOY_TOKEN=%s", "--token %s", "access_token=%s"}, value: long},
		{name: "secret assignment", in: []string{"client_secret=%s", "JWT_SECRET=%s", "SECRET_KEY = '%s'", "secret_key_base: %s", "webhook secret is %s"}, value: func(m *maker) string { return m.alnum(40) }},
		{name: "hex key", in: []string{"secret_key_base: %s", "ENCRYPTION_KEY=%s", "api_key: %s"}, value: func(m *maker) string { return m.hex(64) }},
		{name: "laravel key", in: []string{"APP_KEY=%s"}, value: func(m *maker) string { return "base64:" + m.b64(43) + "=" }},
		{name: "uuid key", in: []string{"api_key=%s", "HEROKU_API_KEY=%s", "API token: %s"}, value: (*maker).uuid},
		{name: "seed phrase", in: []string{"seed phrase: %s", "The wallet's mnemonic is %s", "助记词：%s"}, value: func(m *maker) string { return m.words(12, " ") }},
		{name: "totp seed", in: []string{"otpauth://totp/acme:bob?secret=%s&issuer=acme", "TOTP secret: %s", "2FA secret is %s"}, value: func(m *maker) string { return m.of(upper+"234567", 32) }},
		{name: "bearer header", in: []string{"Authorization: Bearer %s", "curl -H 'Authorization: Bearer %s' https://x.internal/v1", "header Authorization=Bearer %s"}, value: func(m *maker) string { return m.alnum(40) }},
		{name: "basic header", in: []string{"Authorization: Basic %s", "-H \"Authorization: Basic %s\""}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte("deploy:" + m.password()))
		}},
		{name: "key header", in: []string{"X-Api-Key: %s", "curl -H \"X-Auth-Token: %s\" https://x.internal", "PRIVATE-TOKEN: %s"}, value: long},
		{name: "cookie", in: []string{"Cookie: session=%s; theme=dark", "Set-Cookie: sessionid=%s; HttpOnly; Path=/"}, value: func(m *maker) string { return m.alnum(40) }},
		{name: "command line", in: []string{"sshpass -p '%s' ssh root@10.0.0.4", "mysql -uroot -p%s shop", "redis-cli -a %s ping", "tool login --user bob --password %s", "curl -u deploy:%s https://x.internal", "docker login -u bob -p %s"}, value: (*maker).password},
		{name: "wifi code", in: []string{"WIFI:T:WPA;S:office;P:%s;;"}, value: func(m *maker) string { return m.alnum(12) }},
	}
}

// hiddenShapes are secrets written so that a plain search does not see them.
func hiddenShapes() []shape {
	github := func(m *maker) string { return "ghp_" + m.alnum(36) }
	wide := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > ' ' && r <= '~' {
				return r + 0xFEE0
			}
			return r
		}, s)
	}
	return []shape{
		{name: "full-width token", in: []string{"用 %s 部署", "token %s"}, value: func(m *maker) string { return wide(github(m)) }},
		{name: "full-width assignment", in: []string{"ｐａｓｓｗｏｒｄ＝%s", "密码：%s", "ＰＡＳＳＷＯＲＤ：%s"}, value: func(m *maker) string { return wide(m.password()) }},
		{name: "zero-width inside", in: []string{"use %s here", "密码：%s"}, value: func(m *maker) string {
			v := github(m)
			return v[:9] + "\u200b" + v[9:20] + "\u200d" + v[20:]
		}},
		{name: "split over lines", in: []string{"token:\n%s\nend", "The key is\n  %s\n"}, value: func(m *maker) string {
			v := github(m)
			return v[:18] + "\n  " + v[18:]
		}},
		{name: "split in quotes", in: []string{"key = (%s)"}, value: func(m *maker) string {
			v := "sk_live_" + m.alnum(24)
			return `"` + v[:14] + "\"\n       \"" + v[14:] + `"`
		}},
		{name: "split with backslash", in: []string{"export T=%s"}, value: func(m *maker) string {
			v := "glpat-" + m.alnum(20)
			return v[:12] + "\\\n" + v[12:]
		}},
		{name: "base64 wrapped", in: []string{"data: %s", "decode %s first"}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte("token=" + github(m)))
		}},
		{name: "base64 password", in: []string{"data: %s", "decode %s first"}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte("db.password = " + m.password()))
		}},
		{name: "base64 twice", in: []string{"blob %s"}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("x: " + github(m) + "!"))))
		}},
		{name: "hex wrapped", in: []string{"blob %s"}, value: func(m *maker) string { return hex.EncodeToString([]byte("token " + github(m))) }},
		{name: "percent encoded", in: []string{"https://x.internal/cb?next=%s"}, value: func(m *maker) string {
			return "%2Fhome%3Ftoken%3D" + m.alnum(30)
		}},
		{name: "json escapes", in: []string{`{"note":"%s"}`}, value: func(m *maker) string { return `\u0067\u0068\u0070\u005f` + m.alnum(36) }},
	}
}

// fileShapes are secrets as files and addresses hold them.
func fileShapes() []shape {
	return []shape{
		{name: "postgres url", in: []string{"postgres://app:%s@db1:5432/shop", "DATABASE_URL=postgresql://app:%s@db.internal/shop?sslmode=require"}, value: func(m *maker) string { return m.alnum(16) }},
		{name: "mongodb url", in: []string{"mongodb+srv://svc:%s@cluster0.ab1cd.mongodb.net/x", "连接串 mongodb://svc:%s@10.0.0.3:27017"}, value: func(m *maker) string { return m.alnum(14) }},
		{name: "redis url", in: []string{"redis://:%s@cache:6379/0", "rediss://default:%s@cache.internal:6380"}, value: func(m *maker) string { return m.alnum(20) }},
		{name: "amqp url", in: []string{"amqps://worker:%s@mq.internal/vhost"}, value: (*maker).weakURL},
		{name: "word in url", in: []string{"postgres://app:%s@db1/shop", "ftp://backup:%s@10.1.1.1/"}, value: func(m *maker) string { return m.word() + m.word() }},
		{name: "mysql dsn", in: []string{"app:%s@tcp(db1:3306)/shop?parseTime=true"}, value: func(m *maker) string { return m.alnum(14) }},
		{name: "jdbc url", in: []string{"jdbc:sqlserver://db1:1433;user=app;password=%s;encrypt=true", "jdbc:mysql://db1/shop?user=app&password=%s"}, value: func(m *maker) string { return m.alnum(14) }},
		{name: "ado connection", in: []string{"Server=db1;Database=shop;User Id=app;Password=%s;", "Driver={X};Uid=app;Pwd=%s;"}, value: func(m *maker) string { return m.alnum(14) }},
		{name: "git url", in: []string{"git clone https://bot:%s@git.internal/team/repo.git", "https://%s@git.internal/team/repo.git"}, value: func(m *maker) string { return m.alnum(32) }},
		{name: "private key", in: []string{"-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----", "key:\n-----BEGIN EC PRIVATE KEY-----\n%s\n-----END EC PRIVATE KEY-----\n",
			"-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n%s\n-----END PGP PRIVATE KEY BLOCK-----"},
			value: func(m *maker) string { return m.b64(64) + "\n" + m.b64(64) + "\n" + m.b64(30) }},
		{name: "private key cut off", in: []string{"-----BEGIN PRIVATE KEY-----\n%s", "-----BEGIN PRIVATE KEY-----\\n%s"}, value: func(m *maker) string { return "MIIE" + m.b64(60) }},
		{name: "putty key", in: []string{"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n%s\nPrivate-MAC: 00"}, value: func(m *maker) string { return m.b64(48) }},
		{name: "wireguard key", in: []string{"[Interface]\nPrivateKey = %s\nAddress = 10.0.0.2/32"}, value: func(m *maker) string { return m.b64(43) + "=" }},
		{name: "jwk", in: []string{`{"kty":"EC","crv":"P-256","d":"%s","x":"f83OJ3D2"}`}, value: func(m *maker) string { return m.url(43) }},
		{name: "netrc", in: []string{"machine git.internal login bob password %s"}, value: (*maker).password},
		{name: "pgpass", in: []string{"db1.internal:5432:shop:app:%s", ".pgpass: *:5432:*:postgres:%s"}, value: func(m *maker) string { return m.alnum(14) }},
		{name: "npmrc", in: []string{"//registry.internal/:_authToken=%s", "_auth=%s"}, value: func(m *maker) string { return m.alnum(36) }},
		{name: "docker auth", in: []string{`{"auths":{"reg.internal":{"auth":"%s"}}}`}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte("bot:" + m.alnum(20)))
		}},
		{name: "password hash", in: []string{"admin:%s", "INSERT INTO users VALUES (1, '%s')"}, value: func(m *maker) string { return "$2b$12$" + m.of(alnum+"./", 53) }},
		{name: "shadow", in: []string{"root:%s:19700:0:99999:7:::"}, value: func(m *maker) string { return "$6$" + m.alnum(12) + "$" + m.of(alnum+"./", 86) }},
		{name: "kubernetes secret", in: []string{"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: %s\n"}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte(m.password() + m.alnum(6)))
		}},
		{name: "presigned url", in: []string{"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=604800&X-Amz-Signature=%s"}, value: func(m *maker) string { return m.hex(64) }},
		{name: "query token", in: []string{"https://x.internal/feed?user=3&token=%s", "wss://x.internal/ws?api_key=%s&v=2"}, value: func(m *maker) string { return m.alnum(32) }},
	}
}

// weakURL is a password of letters and digits that are no words.
func (m *maker) weakURL() string { return m.of(lower, 3) + m.of(digits, 2) + m.of(lower, 4) }

// laterShapes came to mind when the rules were there.
func laterShapes() []shape {
	strong := func(m *maker) string {
		return m.pick("Tr", "Kx", "Zp") + m.of(digits, 2) + m.pick("#", "&", "!") + m.of(lower, 3) + m.of(upper, 2)
	}
	all := []shape{
		{name: "markdown password", in: []string{"**Password:** `%s`", "| password | %s |", "- *password*: %s", "default password (%s) must be changed"}, value: strong},
		{name: "pair of login", in: []string{"vpn creds: svc_vpn / %s", "Grafana login is admin/%s", "SSH into root:%s first", "账号：deploy/%s"}, value: strong},
		{name: "is the password", in: []string{"%s is the admin password", "%s is our root password for db1"}, value: strong},
		{name: "app password", in: []string{"gmail app password: %s", "应用专用密码：%s"}, value: func(m *maker) string {
			return m.of(lower, 4) + " " + m.of(lower, 4) + " " + m.of(lower, 4) + " " + m.of(lower, 4)
		}},
		{name: "authorization other", in: []string{"Authorization: token %s", "Authorization: ApiKey %s", "authorization=%s"}, value: func(m *maker) string { return m.alnum(40) }},
		{name: "wallet key", in: []string{"private key 0x%s", "私钥：%s"}, value: func(m *maker) string { return m.hex(64) }},
		{name: "token by space", in: []string{"use token %s for the hook", "x-api-key %s"}, value: func(m *maker) string { return m.alnum(22) }},
		{name: "java session", in: []string{"Cookie: JSESSIONID=%s"}, value: func(m *maker) string { return strings.ToUpper(m.hex(32)) }},
		{name: "flow yaml", in: []string{"auth: { username: 'svc', password: '%s' }", "db: {user: app, password: %s}"}, value: strong},
	}
	for i := range all {
		all[i].name = later + all[i].name
	}
	return all
}
