package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// fixed is a shape whose sentences hold everything.
func fixed(name string, in ...string) shape {
	return shape{name: name, in: in, value: func(*maker) string { return "" }, n: len(in)}
}

// harmlessShapes are what looks like a secret and is none.
func harmlessShapes() []shape {
	all := hashShapes()
	all = append(all, nameShapes()...)
	all = append(all, codeShapes()...)
	all = append(all, placeholderShapes()...)
	all = append(all, proseShapes()...)
	all = append(all, lookalikeShapes()...)
	all = append(all, harmlessNotes()...)
	all = append(all, harmlessStrangers()...)
	return append(all, fixed(later+"beside the words", "login is at admin/Settings", "creds: aws/prod-team-2024", "account: acme/billing-v2", "SSH into web1:/srv/app2", "| password | required |",
		"default password (see wiki-2024) must be changed", "use token 3f2a9c1 from the log", "v2.4.1-rc1 is the password service", "auth.go:342 is the password check", "sha256 is the password hash",
		"login: POST /api/v2/login", "account 12345678/EUR-2026", "用户：张三/李四", "账号 team/infra-2026", "private key id 42", "x-api-key header, 32 characters", "Authorization: required since v2.1.0-beta",
		"authorization = role-based-access-control-v2", "password, token and secret are never logged", "the app password: four words of four letters", "token (JWT) in header2", `urlParse "http://admin:secret@server.com:8080/api?list=false#anchor"`))
}

// hashShapes are hashes, ids and encoded data.
func hashShapes() []shape {
	stub := func(m *maker) string { return m.b64(120) }
	return []shape{
		{name: "git sha", n: 10, in: []string{"fixed in %s", "commit %s", "key commit: %s", "bisect says %s is the first bad commit", "回归由 %s 引入", "git checkout %s"},
			value: func(m *maker) string { return m.hex(40) }},
		{name: "short sha", n: 8, in: []string{"see %s", "build %s (main)", "token handling changed in %s", "revert %s"}, value: func(m *maker) string { return m.hex(8) }},
		{name: "uuid", n: 10, in: []string{"id %s", "memory %s supersedes it", "request_id=%s", "session %s", "The key %s is the row's id", "trace: %s"}, value: (*maker).uuid},
		{name: "digest", n: 10, in: []string{"image app@sha256:%s", "sha256:%s", "checksum sha256:%s verified", "source_hash: sha256:%s"}, value: func(m *maker) string { return m.hex(64) }},
		{name: "go.sum", n: 8, in: []string{"github.com/acme/auth v1.4.2 h1:%s", "golang.org/x/text v0.44.0/go.mod h1:%s"}, value: func(m *maker) string { return m.b64(43) + "=" }},
		{name: "npm lock", n: 8, in: []string{`"integrity": "sha512-%s"`, "  integrity sha512-%s"}, value: func(m *maker) string { return m.b64(86) + "==" }},
		{name: "cargo lock", n: 6, in: []string{"name = \"tokenizers\"\nchecksum = \"%s\"", "checksum = \"%s\""}, value: func(m *maker) string { return m.hex(64) }},
		{name: "pip hash", n: 6, in: []string{"keyring==24.3.0 \\\n    --hash=sha256:%s", "    --hash=sha256:%s \\"}, value: func(m *maker) string { return m.hex(64) }},
		{name: "image stub", n: 8, in: []string{"![logo](data:image/png;base64,%s)", "<img src=\"data:image/gif;base64,%s\">", "iVBORw0KGgo%s"}, value: stub},
		{name: "certificate", n: 4, in: []string{"-----BEGIN CERTIFICATE-----\nMIID%s\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB%s\n-----END PUBLIC KEY-----"}, value: stub},
		{name: "ssh public key", n: 6, in: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI%s bob@laptop", "authorized_keys: ssh-rsa AAAAB3NzaC1yc2E%s"}, value: func(m *maker) string { return m.b64(43) }},
		{name: "fingerprint", n: 6, in: []string{"host key fingerprint SHA256:%s", "ED25519 key fingerprint is SHA256:%s."}, value: func(m *maker) string { return m.b64(43) }},
		{name: "etag", n: 6, in: []string{"ETag: \"%s\"", "If-None-Match: \"%s\"", "md5 %s"}, value: func(m *maker) string { return m.hex(32) }},
		{name: "trace id", n: 8, in: []string{"traceparent: 00-%s-00f067aa0ba902b7-01", "trace_id=%s", "X-Request-Id: %s"}, value: func(m *maker) string { return m.hex(32) }},
		{name: "pseudo-version", n: 6, in: []string{"golang.org/x/crypto v0.0.0-20240604185151-%s", "github.com/acme/tokens v0.0.0-20250101000000-%s"}, value: func(m *maker) string { return m.hex(12) }},
		{name: "object id", n: 6, in: []string{"_id: ObjectId('%s')", "order %s was late", "workspace id %s"}, value: func(m *maker) string { return m.hex(24) }},
		{name: "encoded prose", n: 6, in: []string{"body: %s", "payload %s decodes to a greeting"}, value: func(m *maker) string {
			return base64.StdEncoding.EncodeToString([]byte("hello, this is " + m.words(4, " ")))
		}},
		{name: "video id", n: 6, in: []string{"https://www.youtube.com/watch?v=%s", "https://youtu.be/%s"}, value: func(m *maker) string { return m.url(11) }},
		{name: "long url", n: 8, in: []string{"https://docs.acme.dev/guide/%s", "https://acme.dev/blog/2026/%s#rotation-of-keys"}, value: func(m *maker) string {
			return m.words(5, "-") + "-" + m.hex(6)
		}},
		{name: "cdn asset", n: 6, in: []string{"https://cdn.acme.dev/assets/index-%s.js", "main.%s.chunk.css"}, value: func(m *maker) string { return m.alnum(8) }},
	}
}

// nameShapes are names of things: files, machines, versions, keys of a map.
func nameShapes() []shape {
	at := func(m *maker) string { return fmt.Sprintf("src/%s/%s.go:%d", m.word(), m.word(), m.r.IntN(900)+1) }
	return []shape{
		{name: "source line", n: 10, in: []string{"see %s", "token check in %s", "secret: %s", "the password is checked at %s", "panics at %s"}, value: at},
		{name: "long hyphenated name", n: 12, in: []string{"service %s is down", "key: %s", "token: %s", "secret name: %s", "the secret is called %s", "namespace %s"},
			value: func(m *maker) string { return m.words(5, "-") + "-v2" }},
		{name: "memory key", n: 8, in: []string{"memory_key: %s", "key=%s", "supersedes key %s"}, value: func(m *maker) string {
			return m.word() + "/" + m.word() + "-" + m.word() + "-2026"
		}},
		{name: "pod name", n: 6, in: []string{"kubectl logs %s", "pod %s restarts", "secret/%s mounted"}, value: func(m *maker) string {
			return "auth-token-service-" + m.hex(9) + "-" + m.of("bcdfghjklmnpqrstvwxz2456789", 5)
		}},
		{name: "object path", n: 6, in: []string{"s3://acme-backups/%s", "key = \"%s\"", "Key: %s"}, value: func(m *maker) string {
			return "db/2026/11/" + m.word() + "-" + m.word() + "-20261101.tar.gz"
		}},
		{name: "arn", n: 6, in: []string{"arn:aws:iam::123456789012:role/%s", "secret arn:aws:secretsmanager:eu-west-1:123456789012:secret:%s"}, value: func(m *maker) string {
			return m.words(2, "-") + "-" + m.alnum(6)
		}},
		{name: "versions", n: 8, in: []string{"auth-token v%s", "upgrade secret-manager to %s", "api: %s", "password-hasher@%s"}, value: func(m *maker) string {
			return fmt.Sprintf("%d.%d.%d-rc.%d+build.%s", m.r.IntN(9), m.r.IntN(30), m.r.IntN(9), m.r.IntN(9), m.hex(7))
		}},
		{name: "timestamps", n: 8, in: []string{"token expires %s", "the password was changed at %s", "secret rotated: %s", "access: %s"}, value: func(m *maker) string {
			return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", m.r.IntN(12)+1, m.r.IntN(28)+1, m.r.IntN(24), m.r.IntN(60))
		}},
		{name: "addresses", n: 6, in: []string{"access from %s", "auth: %s", "token server %s"}, value: func(m *maker) string {
			return fmt.Sprintf("10.%d.%d.%d:8443", m.r.IntN(255), m.r.IntN(255), m.r.IntN(255))
		}},
		{name: "feature flags", n: 6, in: []string{"flag %s is on", "key: %s", "auth: %s"}, value: func(m *maker) string {
			return "enable_" + m.words(3, "_") + "_v3"
		}},
		{name: "camel case", n: 6, in: []string{"handled by %s", "token: %s", "key: %s", "auth = %s"}, value: func(m *maker) string {
			w := strings.Fields(m.words(3, " "))
			return w[0] + strings.ToUpper(w[1][:1]) + w[1][1:] + strings.ToUpper(w[2][:1]) + w[2][1:] + "Handler2"
		}},
		fixed("secret's address", "password: op://Private/db/password", "token = vault:secret/data/ci#token", "secret: projects/acme-prod/secrets/db-pass/versions/3",
			"DB_PASSWORD=ssm:/prod/db/password", "password_file: /run/secrets/db_password", "密码在 1Password 的 infra-2024 保险库里", "tokenPath: ~/.config/acme/token.json",
			"secretRef: acme-db-credentials-v2", "SecretName=prod/payments/stripe-v2", "The password lives in vault at secret/data/staging-db2"),
	}
}

// codeShapes are code and configuration that name secrets and hold none.
func codeShapes() []shape {
	return []shape{
		fixed("code reads it", `password := os.Getenv("DB_PASSWORD2")`, "token = request.headers['X-Auth-Token2']", "const secret = process.env.JWT_SECRET_V2;",
			"password=getpass.getpass()", "self.password = user_password2", "let api_key = config.get_string(\"api_key\")?;", "if password == other.password1 {",
			"token, err := issuer.NewToken(ctx, user2)", "api_key: settings.OPENAI_API_KEY", "secretKey = Base64.decode(encoded1)", "passwd = crypt(input1, salt2)",
			"return token.slice(0, 16)", "password = data[\"password\"]", "auth_token = f\"{prefix}{suffix}\"", "Authorization: `Bearer ${token1}`"),
		fixed("types", "token: string", "password: str | None = None", `"password": {"type": "string", "minLength": 12}`, "api_key: Optional[str] = Field(default=None)",
			"secret: Buffer;", "private_key: Vec<u8>,", "password VARCHAR(255) NOT NULL", "token TEXT PRIMARY KEY", "password_hash: bytes32", "accessToken!: string;"),
		fixed("limits", "max_tokens: 4096", "tokens: 128000", "token_limit=200000", "password_min_length: 12", "secret_ttl: 3600s", "key_size: 4096", "num_tokens = 1536",
			"token budget: 100000", "context tokens: 32768", "api_timeout: 30000ms", "token count 8192, price 0.0015", "tokens_per_second: 1523.75"),
		fixed("settings", "auth: oauth2", "password_encryption = scram-sha-256", "token_algorithm: RS256", "secret_backend: aws-kms-v2", "auth_method = md5", "key_type: ed25519",
			"password policy: NIST800-63B", "jwt.algorithm=HS512", "credential_process=/usr/local/bin/creds2", "ssl_key=/etc/ssl/private/server1.key", "token_type: Bearer", "auth-mode=rbac2"),
		fixed("key bindings", "key: ctrl+shift+p", "hotkey = Cmd+Option+F12", "press key F5", "keymap: vim-mode-2", "primary key (tenant_id, order_id2)", "sort_key: created_at_2",
			"partition key: user#2026-11", "foreign key: orders.customer_id1", "cache key: user:42:profile:v3", "idempotency_key: order-2026-000042", "public_key: age1qqq", "keyId: 2"),
		fixed("urls without", "postgres://localhost:5432/shop", "postgres://app@db1/shop", "redis://cache:6379/0", "https://acme.dev:8443/a@b", "git@github.com:acme/repo.git",
			"ssh://git@git.internal:2222/team/repo.git", "mongodb://db1:27017,db2:27017/shop?replicaSet=rs0", "https://medium.com/@acme/rotating-secrets-4f5e", "jdbc:postgresql://db1:5432/shop",
			"amqp://guest:guest@localhost:5672/", "postgres://postgres:postgres@localhost/test", "mailto:bob@acme.dev", "http://user@host:80/x", "https://acme.dev/login?next=/a&lang=en2"),
		fixed("queries", "https://acme.dev/s?q=token+refresh&page=2", "https://acme.dev/list?pageToken=&limit=50", "/v1/items?cursor=2026-11-30&limit=20", "GET /api/keys?sort=created_at",
			"https://acme.dev/?utm_source=newsletter_2026&utm_campaign=autumn-sale", "https://maps.acme.dev/@52.5,13.4,15z"),
		fixed("commands", "docker run -p 8080:80 nginx", "mysql -uroot -p shop", "ssh -p 2222 deploy@web1", "redis-cli -p 6379 ping", "psql -U app -W shop", "mkdir -p build/out2",
			"openssl rand -hex 32", "gpg --list-secret-keys --keyid-format LONG", "vault kv get secret/data/db1", "kubectl create secret generic db1 --from-file=pw.txt",
			"curl -u bob https://x.internal", "ssh-keygen -t ed25519 -C bob@acme.dev", "npm token create --read-only", "tool login --password-stdin", "cp -a src2 dst2"),
		fixed("patterns", `regex: (?i)password\s*[:=]\s*\S+`, "secret pattern: AKIA[A-Z0-9]{16}", "matches ghp_[A-Za-z0-9]{36}", `token regex ^[\w-]{20,}$`, "sk-[a-zA-Z0-9]{48}",
			"prefix sk_live_ means production", "keys begin with AIza", "tskey-auth- keys expire after 90 days", "AKID 开头的是腾讯云密钥", "xoxb- tokens belong to bots"),
		fixed("logs", `{"level":"info","msg":"token refreshed","user_id":42,"took_ms":17}`, "2026-11-30T10:00:00Z WARN auth: invalid password for user2 from 10.0.0.7",
			"POST /v1/token 401 12ms req=ab12cd34", "panic: token is nil [recovered] goroutine 42", "auth.go:88: token expired 3m12s ago", "ERROR 1045 (28000): Access denied for user 'app2'@'10.0.0.3' (using password: YES)",
			"sshd[2211]: Accepted publickey for deploy from 10.0.0.9 port 51122 ssh2"),
		fixed("sql", "SELECT token_id, user_id FROM tokens WHERE expires_at < now()", "ALTER USER app PASSWORD NULL", "UPDATE users SET password = $1 WHERE id = $2",
			"INSERT INTO keys(key, value) VALUES (?, ?)", "CREATE INDEX idx_token_hash2 ON tokens (hash)", "WHERE password = crypt($1, password)"),
	}
}

// placeholderShapes stand where a secret would.
func placeholderShapes() []shape {
	return []shape{
		fixed("variables", "password: ${DB_PASSWORD}", "token=$CI_JOB_TOKEN", "PGPASSWORD=$(cat /run/pw2)", "password: {{ .Values.db.password }}", "api_key: ${{ secrets.API_KEY_2 }}",
			"password=%DB_PASS2%", "Authorization: Bearer $TOKEN", "curl -u \"$USER:$PASS\" https://x.internal", "postgres://app:${DB_PASS}@db1/shop", "postgres://app:$DB_PASS@db1/shop",
			"token: !Ref GithubToken2", "mysql -uroot -p$MYSQL_PWD shop", "sshpass -e ssh web1", "password = var.db_password_2", "Authorization: Bearer {{token}}"),
		fixed("angle brackets", "password: <your-password>", "token=<TOKEN>", "Authorization: Bearer <token>", "postgres://<user>:<password>@host/db", "api_key: <insert key 1 here>",
			"curl -u <user>:<pass> https://x", "SECRET_KEY=<generated-at-deploy-2>", "密码：<请填写>"),
		fixed("crossed out", "password: xxxxxxxx", "token=XXXX-XXXX-XXXX", "password: ********", "api_key=sk-****************abcd", "password: ••••••••", "token: ...", "AKIAXXXXXXXXXXXXXXXX",
			"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "密码：******", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "password=__________", "Bearer xxxxxxxxxxxxxxxxxxxxxx"),
		fixed("stand-ins", "password: changeme", "password=change-me-1", "token: your-token-here-123", "API_KEY=your_api_key_1", "password = \"example\"", "secret: REPLACE_ME_2", "DB_PASSWORD=password",
			"postgres://user:password@localhost:5432/db", "https://user:pass@example.com/", "token: dummy-token-1", "secret = test-secret-1", "password: todo", "AKIAIOSFODNN7EXAMPLE",
			"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "password: 'not-a-real-password1'", "api_key: fake_key_0000", "密码：你的密码", "口令：待定", "password: null", "token: false"),
		fixed("taken out", "password: [redacted:password]", "token=[redacted:github-pat]", "postgres://app:[redacted:url-password]@db1/shop", "Authorization: Bearer [redacted]", "password: (removed)", "密码：（已删除）", "secret: [REDACTED]", "api key: <redacted>"),
	}
}

// proseShapes are sentences about secrets, and about other things.
func proseShapes() []shape {
	return []shape{
		fixed("english on passwords", "The password is required for login.", "Passwords are hashed with bcrypt and 12 rounds.", "The token is valid for 15 minutes.",
			"The secret is stored in Vault, ask Maria.", "The password is base64-encoded before it is sent.", "The API key is rotated every 90 days by a job.",
			"Never put the password in the URL.", "Password reset links expire after 24h.", "The token was revoked on 2026-10-01.", "The key is to keep it simple.",
			"The password is 16 characters long.", "The secret is SHA256-hashed.", "Our password policy: at least 12 characters, one digit.", "The token is OAuth2-based.",
			"The password for the wifi is on the fridge.", "A password is not needed on the VPN.", "The access token is a JWT signed with RS256.", "Secret: nobody reads the docs.",
			"Token refresh fails when the clock is off by 5min.", "The passphrase is in the safe, drawer 3B.", "The pass: a new railway over the Alps.", "The password is wrong if it has 8 chars or fewer.",
			"Password managers: 1Password, KeePassXC, Bitwarden.", "The secret to speed is fewer copies.", "Bearer tokens are refused on port 8080.", "Basic authentication is off since v2.3."),
		fixed("chinese on passwords", "密码是必填项，至少 8 位。", "密码错误 3 次后锁定 15 分钟。", "令牌有效期是 15 分钟。", "密钥存放在 Vault，找小王要。", "密码是用 bcrypt 加密的。", "口令：不能为空",
			"密码为空时返回 400。", "API 密钥每 90 天轮换一次。", "用户名和密码：见内网文档 wiki-2024。", "密码改为由运维统一管理。", "密码是base64编码的，不是加密。", "这个令牌是JWT格式。", "密钥是RSA-2048，私钥在机房。",
			"忘记密码：点击重置链接", "密码：至少包含一个大写字母和一个数字", "密码规则为8到20位", "token 是 2 小时后过期", "凭证为 X509 证书"),
		fixed("english prose", "We chose SQLite because one binary is easier to run than a cluster.", "Ana prefers tabs; Bo wants 4 spaces in Python.", "p95 was 120 ms on build 41 and 126 ms on build 42.",
			"The importer retries 3 times with back-off of 2s, 4s and 8s.", "Release 2026.11 ships on Thursday.", "Use errgroup instead of a bare WaitGroup in internal/sync2.",
			"The billing job rounds half to even, see ADR-0007.", "Deploys freeze from 2026-12-20 to 2027-01-04.", "CI takes 14m; the cache saves 6m.", "Prefers answers in German, short and with sources."),
		fixed("chinese prose", "我们用 SQLite，因为单个文件容易备份。", "张三喜欢简短的回答，最好附上链接。", "构建 41 的 p95 是 120 毫秒，构建 42 是 126 毫秒。", "发布日期定在 2026-11-26，之后冻结。", "数据库每晚 02:30 备份到 s3。",
			"接口超时改为 30 秒，重试 3 次。", "支付模块四舍五入规则见 ADR-0007。", "小李负责登录页，小周负责后台。", "日志保留 30 天，归档到冷存储。", "部署用 k8s v1.31，三个副本。"),
		fixed("signs and markup", "- [ ] rotate keys\n- [x] add tests", "| key | value |\n|---|---|\n| retries | 3 |", "```go\nfunc Token() string { return t.raw }\n```", "🔑 = important decision", "key → value", "a:b:c:d:e:f 00:1b:44:11:3a:b7",
			"2001:db8:85a3::8a2e:370:7334", "#ff00aa / rgba(12,34,56,0.7)", "E = mc^2; a_1 = b_2 + c_3", "<key>CFBundleVersion</key><string>1042</string>", "--color-primary-500: #0ea5e9;"),
	}
}
