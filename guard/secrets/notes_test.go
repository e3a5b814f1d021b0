package secrets

// noteShapes are lines as agents note them, one of each kind: the secret stands
// where many sayings, files and commands have it.
func noteShapes() []shape {
	all := []shape{
		{name: "notes with a password", in: []string{
			"新密码：%s", "密码由旧的换成 %s", "请用密码 %s 登录", "用户 bob 的密码被重置为 %s", "跳板机：jump.acme.cn，用户 ops，口令 %s", "私钥密码（passphrase）：%s", "测试账号：13800001111 / %s", "MySQL root 密码为空改为 %s", "密碼是 %s",
			"The passcode for the meeting room screen is %s", "Pass phrase: %s", "login with user \"deploy\" and password \"%s\"", "Username: deploy\nPassword: %s", "deploy:%s@10.2.3.4",
			"ftp 10.2.3.4 user anon7 pass %s", "sudo password on build box: %s", "Remember the unlock code: %s", "gpg --batch --passphrase '%s' -d x.gpg",
			"ansible-playbook -e \"ansible_password=%s\"", "terraform apply -var=\"db_password=%s\"", "TF_VAR_db_password=%s", "expect \"Password:\" { send \"%s\\r\" }",
			"<password value=\"%s\"/>", "<security:user name=\"bob\" password=\"{noop}%s\"/>", "<credentials><user>bob</user><pass>%s</pass></credentials>",
			"username: bob, password: %s, host: db1", "(user=bob, pwd=%s)", "password is: %s", "password was %s until May", "old password %s, new one in vault",
			"password '%s' no longer works", "I tried %s as the password and it worked", "The password? %s", "pw? %s", "Q: password? A: %s", "password......%s", "password >>> %s",
			"password\t%s", "password;%s", "\"password\", \"%s\"", "['password' => '%s']", ":password => \"%s\"", "password: !!str %s", "password: |\n  %s", "password: &pw %s",
			"password:%s", "password=%s", "PASSWORD IS %s",
		}, value: func(m *maker) string { return m.pick("Xy#", "Qv!", "Lm&") + m.of(digits, 5) + m.of(lower, 1) }},
		{name: "notes with a machine's password", in: []string{
			"{\"credentials\": {\"username\": \"svc\", \"password\": \"%s\"}}", "auth: svc-deploy:%s", "basic auth admin:%s", "HTTP basic: user ops, password %s",
			"ssh ops@10.1.2.3 (pw %s)", "redis://:%s@10.0.0.9:6379", "amqp://svc:%s@mq", "postgresql+asyncpg://app:%s@db/app", "clickhouse://default:%s@ch:9000",
			"sftp://up:%s@files.acme.io/in", "smb://acme;bob:%s@nas/share", "jdbc:oracle:thin:scott/%s@//db:1521/x", "服务器 root 密码 %s", "数据库账号 root，密码 %s", "密码我改成了 %s",
		}, value: func(m *maker) string {
			return m.pick("kL", "zR", "pT") + m.of(digits, 1) + m.of(lower, 3) + m.of(digits, 2) + m.of(upper, 3)
		}},
		{name: "notes with a token", in: []string{
			"VERCEL_TOKEN=%s", "密鑰：%s", "the key to the API is %s", "here's the token I used: %s", "bearer %s", "-H \"Authorization: Bearer %s\"", "client_id: abc\nclient_secret: %s",
		}, value: func(m *maker) string { return "k2mQ" + m.alnum(18) + "a7" }},
	}
	for i := range all {
		all[i].name = later + all[i].name
	}
	return all
}

// harmlessNotes are such lines without a secret.
func harmlessNotes() []shape {
	return []shape{fixed(later+"notes without",
		"commit c2547eb745079dac9320b638f5e225cf483cc5cf fixes the token parser",
		"docker pull ghcr.io/acme/auth@sha256:c2547eb745079dac9320b638f5e225cf483cc5cfdda41c2547eb745079dac932", "ETag: W/\"c2547eb745079dac9320b638f5e225cf\"",
		"trace 4bf92f3577b34da6a3ce929d0e0e4736 shows the token refresh", "The token count is 128k", "tokens: 4096 in, 512 out", "Use `git rev-parse HEAD` → c2547eb", "key: value",
		"key=user:42", "sort key is created_at", "api key rotation runbook: docs/runbooks/api-keys.md", "password hashing uses argon2id m=65536,t=3,p=4",
		"PasswordHasher2 in src/auth/hasher.go:88", "passwordResetToken expires in 24h", "test_password_validation_rejects_short_2", "TestTokenRefresh/expired_token_3",
		"secret_scanning: enabled", "secrets.GITHUB_TOKEN is read-only", "const SECRET_NAME = \"prod/db-2\";", "kubectl get secret db-credentials-v2 -o yaml",
		"the secret acme-db-credentials-7f9c8 is mounted", "pod auth-service-7d9f8c6b5-x2x4z restarted", "Set-Cookie is missing HttpOnly", "cookie: theme=dark",
		"X-Request-ID: 7b1c9f8e-1234-4abc-9def-0123456789ab", "order id 7b1c9f8e12344abc9def0123456789ab", "uuid 7b1c9f8e-1234-4abc-9def-0123456789ab",
		"JWT has three parts: header.payload.signature", "Bearer <token>", "Authorization: Bearer ${TOKEN}", "curl -H \"Authorization: Bearer $TOKEN\" https://x",
		"password: ${DB_PASSWORD:-changeme}", "password: \"{{ vault_db_password }}\"", "password: !Ref DbPassword", "password: \"CHANGE_ME\"", "password = \"<PASSWORD>\"",
		"password = var.password", "password: process.env.PASSWORD!", "password = settings.DB_PASSWORD", "db_password = config[\"db\"][\"password\"]", "password=$(pass show db/prod)",
		"export PASSWORD=$(gopass show db2)", "login as root, then sudo", "login: 3 failures for user root from 10.0.0.9",
		"Failed password for invalid user admin from 10.0.0.9 port 22 ssh2", "account 4411 is locked", "account: acme-prod-2 (eu-west-1)", "credentials are in ~/.aws/credentials",
		"creds file: /etc/acme/creds.json", "creds: see 1Password", "用户 zhang/li 的权限", "账号 ops-2024 已禁用", "密码策略：8-20 位，含大小写", "密码错误次数超过 5 次", "密码重置接口 POST /api/v1/password/reset",
		"密码字段名改成 passwd2", "密码字段改为 pwd_hash", "把密码字段改成 password_hash", "密码校验改成 bcrypt", "密码加密方式改成 SHA256", "密码提示改为“请输入密码”", "密码输入框改成 type=password", "密码轮换周期改为 90d", "token 改成 JWT",
		"token 有效期改为 7200 秒", "令牌桶容量 100", "密钥对存放在 KMS", "密钥长度 2048", "密钥轮换 90d", "主键 id, 外键 user_id2", "change the password field to password_hash", "rename password to passwd2",
		"rename column password to password_digest2", "set password policy to NIST800-63B", "update the token type to JWT", "changed token TTL to 15m",
		"reset the password counter to 0", "set secret backend to vault-v2", "set password hasher to argon2id", "update password column to varchar255", "convert the password to utf8",
		"map password to user.password", "bind password to form.password2", "changed password min length to 12", "password → password_hash", "password -> pw_hash",
		"token -> access_token", "pass `token` to the handler2", "pass user2 to login", "pass: 12, fail: 3", "passed 14/15", "pw stands for password", "PW: page width 210mm",
		"key: Ctrl+Shift+P", "hotkey F12", "keyboard: K380", "key-value store: bbolt v1.4",
		"public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKx82mmQ1lPz0q9w8e7r6t5abcdefghijklmnopqrst ops",
		"known_hosts: |1|k2mQ9xTz81LpRw3vYb5nAaHq7Zs=|k2mQ9xTz81LpRw3vYb5nAaHq7Zs= ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKx82mmQ",
		"integrity sha512-k2mQ9xTz81LpRw3vYb5nAaHq7Zt5Lm2Xc9Vb4Nn8Qw1Er6Ty3Ui0Op5As7Df2Gh4jk2mQ9xTz81LpRw3vYb5nAa==",
		"\"resolved\": \"https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz\"", "checksum = \"c2547eb745079dac9320b638f5e225cf483cc5cfdda41c2547eb745079dac932\"",
		"github.com/golang-jwt/jwt/v5 v5.2.1 h1:OuVbFODueb089Lh128TAcimifWaLhJwVflnrgM17wHk=", "serial 1234-5678-9012", "build 20261130.4-rc2+g1a2b3c4d",
		"image tag v1.2.3-1a2b3c4d5e6f", "s3 key: uploads/2026/11/30/7b1c9f8e-1234-4abc-9def-0123456789ab.png", "cache key v3-linux-x64-c2547eb745079dac9320b638f5e225cf",
		"partition key tenant#42", "redis key session:42:token", "the keyring is unlocked by PAM", "ssh key type ed25519, 256 bits", "GPG key 0x1A2B3C4D5E6F7A8B",
		"key id 1A2B3C4D5E6F7A8B", "kid: 2026-11-rotation", "AKIA is the prefix of access key ids", "sk-... keys are OpenAI's", "ghp_ tokens are classic PATs", "the `sk-proj-` prefix",
		"token prefix glpat-", "secret detection: ghp_[A-Za-z0-9]{36}",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "{\"token_type\":\"Bearer\",\"expires_in\":3600}",
		"{\"access_token\":\"<redacted>\",\"expires_in\":3600}", "{\"password\":\"********\"}", "{\"password\":null}", "\"password\": {\"$ref\": \"#/components/schemas/Password2\"}",
		"\"required\": [\"username\", \"password\"]", "format: password", "type: password", "autocomplete=\"current-password\"", "<input type=\"password\" id=\"pw1\" minlength=\"12\">",
		"<PasswordField value={password1} onChange={setPassword} />", "<Trans>Password must have 8 characters</Trans>", "v-model=\"form.password2\"", "{{ form.password.errors }}",
		"password.value.length >= 8", "passwords.map(p => p.hash)", "def password(self): return self._password2", "def set_password(self, raw_password: str) -> None:",
		"func (u *User) SetPassword(pw string) error", "fn verify_password(hash: &str, password: &str) -> bool", "async function resetPassword(token: string, newPassword: string)",
		"password_hash BYTEA NOT NULL,", "token_hash CHAR(64) UNIQUE", "SELECT password FROM users WHERE id = 42", "UPDATE users SET password = :password WHERE id = :id",
		"ALTER TABLE users ADD COLUMN password_changed_at timestamptz", "GRANT SELECT ON tokens TO app2", "errors: password: too short (minimum is 8 characters)",
		"password: can't be blank", "password: must contain a digit", "password is invalid", "\"password\": \"must be at least 8 characters\"", "password: at least 12 chars",
		"password: 12+ characters", "password: 8-64 chars", "password: stored in vault", "password: vault", "password: none", "password: same as before", "password: (see 1Password)",
		"password: see https://wiki.acme.io/pw", "password: wiki/Infra#passwords", "password: ask @maria", "password: ask maria2", "password: rotated 2026-11-30",
		"password: $6$rounds is the crypt prefix", "passwd: $6$rounds is the crypt prefix", "$2b$12$ is bcrypt with cost 12", "root:$y$ means yescrypt", "license key format: XXXX-XXXX",
		"MIT License (c) 2026 Acme", "f(x)=ax^2+bx+c; a=1,b=-3,c=2", "P(token|context)=0.73", "E[X^2]-E[X]^2", "λ=0.5, σ²=1.2e-3", "at Object.<anonymous> (/app/dist/a1b2c3.js:12:345)",
		"e.t9Zk is not a function", "_0x4f2a3b is obfuscated", "chunk vendors~main.3f2a9c1d.js", "see src/auth/password_reset.ts:120-145", "docs/adr/0010-secrets.md#limits",
		"https://github.com/acme/auth/pull/1234#discussion_r1234567890", "https://acme.atlassian.net/browse/AUTH-1234", "https://app.slack.com/client/T01ABCDEF/C02GHIJKL",
		"https://docs.google.com/document/d/1k2mQ9xTz81LpRw3vYb5nAaHq7Zt5Lm2Xc9Vb4Nn8Qw1E/edit", "https://www.figma.com/file/k2mQ9xTz81LpRw3vYb5nAa/Design",
		"https://s3.amazonaws.com/acme/k2mQ9xTz81.png", "arn:aws:kms:eu-west-1:123456789012:key/7b1c9f8e-1234-4abc-9def-0123456789ab", "projects/acme/secrets/db/versions/latest",
		"op://Private/GitHub/token", "vault kv get -mount=secret prod/db2", "user-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", "password-store 1.7.4 is installed",
		"passlib==1.7.4", "@types/jsonwebtoken@9.0.5", "token-bucket@0.3.1", "go-password/v2", "root@db1:~# systemctl restart app2", "deploy@web1",
		"ssh deploy@web1 -i ~/.ssh/id_ed25519", "root/build2 on main", "admin/api2 at v3", "user/settings2 for tests", "login/logout2 on mobile", "Login2FA page", "secret santa 2026",
		"the secret sauce is caching2", "token ring IEEE802.5", "key results: KR1 95%, KR2 80%", "keynote at 10:30", "The key is idempotency2")}
}
