package secrets

import "strings"

const (
	base32 = upper + "234567"
	base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	bech32 = "023456789acdefghjklmnpqrstuvwxyz"
)

// strangeShapes are of the kinds that a corpus by another hand, which knew none of
// the rules, showed to be missed.
func strangeShapes() []shape {
	all := append(shortShapes(), wordyShapes()...)
	all = append(all, numberShapes()...)
	all = append(all, spokenShapes()...)
	for i := range all {
		all[i].name = later + all[i].name
	}
	return all
}

// shortShapes are what opens doors, cards and shared files.
func shortShapes() []shape {
	pin := func(m *maker) string { return m.of("3456789", 1) + m.of(digits, 3) }
	return []shape{
		{name: "pins", in: []string{"My bank PIN: %s", "The PIN of the tablet in the hall is %s.", "SIM PIN %s", "Garage door code is %s", "alarm code %s", "Zugangscode Keller: %s", "Geheimzahl der Karte: %s", "暗証番号は %s です", "银行卡 PIN：%s", "PUK: %s", "gate code = %s",
			"The door code for the archive is %s and works till May", "密码是 %s", "开机密码 %s", "腾讯会议 会议号 222 333 444 密码 %s", "保险箱密码：%s，别写在纸上", "passcode: %s", "the CVV is %s"}, value: pin},
		{name: "codes of shares", in: []string{"提取码：%s", "网盘提取码 %s", "访问密码: %s", "ToDesk 临时密码 %s", "向日葵验证码 %s", "分享码是 %s"}, value: func(m *maker) string { return m.of(digits, 1) + m.of(lower, 2) + m.of(digits, 1) }},
		{name: "scrambled", in: []string{"AnyDesk 222 333 444 password %s", "Webex passcode %s", "Passwort %s", "会议室投屏 密码 %s"}, value: func(m *maker) string { return m.of("23456789", 1) + m.of(lower, 3) + m.of(digits, 2) + m.of(lower, 2) }},
		{name: "recovery codes", in: []string{"GitHub recovery codes:\n%s", "backup codes: %s", "备用码：%s"}, value: func(m *maker) string {
			return m.of(digits, 5) + "-" + m.hex(5) + "\n" + m.of(digits, 5) + "-" + m.hex(5)
		}},
		{name: "licence keys", in: []string{"Windows key: %s", "激活码 %s", "product key is %s"}, value: func(m *maker) string {
			return m.of(upper+digits, 5) + "-" + m.of(upper, 4) + m.of(digits, 1) + "-" + m.of(upper+digits, 5) + "-" + m.of(digits+upper, 5)
		}},
	}
}

// wordyShapes are secrets of words.
func wordyShapes() []shape {
	seed := func(m *maker) string { return m.words(12, " ") }
	return []shape{
		{name: "seeds of wallets", in: []string{"Seed phrase of the old wallet: %s", "recovery phrase is \"%s\", keep it", "助记词（12 个）：%s", "Trezor 12 words: %s", "Mnemonic:\n%s"}, value: seed},
		{name: "seeds by lines", in: []string{"mnemonic\n%s", "Wallet recovery words:\n%s"}, value: func(m *maker) string { return m.words(12, "\n") }},
		{name: "passphrases of words", in: []string{"passphrase: %s", "GPG passphrase of the build key is \"%s\"", "Passphrase for the backup: %s", "保护口令（passphrase）是 %s", "master password = %s"}, value: func(m *maker) string { return m.words(5, "-") }},
		{name: "passphrases by spaces", in: []string{"SSH key passphrase: %s", "pass phrase is %s."}, value: func(m *maker) string { return m.words(5, " ") }},
		{name: "dotted words", in: []string{"vault password is %s", "The admin password for the wiki is %s, nobody else has it."}, value: func(m *maker) string { return "Walnut.Copper" + m.of("3456789", 2) }},
		{name: "letters in a table", in: []string{"| service | login | password |\n|---|---|---|\n| nas | admin | %s |", "name,username,password\ncms,lena,%s", "站点\t账号\t密码\nwiki\tlena\t%s"}, value: func(m *maker) string { return m.pick("sunflower", "butterfly", "moonlight") }},
		{name: "letters of a place", in: []string{"password of the NAS: %s", "解压密码：%s"}, value: func(m *maker) string { return m.pick("sunflower", "butterfly", "moonlight") }},
	}
}

// numberShapes are keys of wallets, of second factors and of libraries.
func numberShapes() []shape {
	return []shape{
		{name: "wallet import", in: []string{"paper wallet WIF: %s", "BTC private key %s"}, value: func(m *maker) string { return m.pick("K", "L") + m.of(base58, 51) }},
		{name: "solana", in: []string{"solana private key: %s", "Phantom 钱包私钥 %s"}, value: func(m *maker) string { return "4z" + m.of(base58, 86) }},
		token("nostr", func(m *maker) string { return "nsec1" + m.of(bech32, 57) + "7" }),
		token("extended key", func(m *maker) string { return "xprv9" + m.of(base58, 106) }),
		{name: "bare keys", in: []string{"应用私钥(PKCS8)：%s", "rsa.key = %s", "sign with\n%s\n"}, value: func(m *maker) string {
			return "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + m.b64(600) + "=="
		}},
		{name: "second factors", in: []string{"TOTP seed of the root account: %s", "MFA secret for lena %s", "谷歌验证器密钥 %s", "oathtool --totp -b %s", "pyotp.TOTP(\"%s\")"}, value: func(m *maker) string { return m.of(base32, 24) + "7Q" }},
		{name: "second factors in fours", in: []string{"2FA setup key: %s", "authenticator key is %s"}, value: func(m *maker) string {
			return m.of(lower, 3) + "7 " + m.of(lower, 4) + " 2" + m.of(lower, 3) + " " + m.of(lower, 4) + " " + m.of(lower, 4)
		}},
		{name: "keys of calls", in: []string{"f = Fernet(b\"%s\")", "jwt.encode(claims, '%s', algorithm='HS256')", "hmac.new(b'%s', body, 'sha256')", "createHmac('sha256', '%s')", "CryptoJS.AES.encrypt(text, \"%s\")"}, value: func(m *maker) string { return m.url(30) + "7Qz=" }},
		{name: "cookies", in: []string{"Cookie: theme=dark; sid=%s", "cookie：SESSDATA=%s", "curl -b 'session=%s' https://x.internal"}, value: func(m *maker) string { return m.hex(30) + "a7" }},
		{name: "second cookie", in: []string{"Cookie: sessionid=⟦k2mq9xtz81lprw3vyb5naahq7zt5lm2x⟧; csrftoken=%s"}, value: func(m *maker) string { return m.alnum(40) + "7" }},
		{name: "letters of a vendor", in: []string{"硅基流动 key %s", "use %s for embeddings"}, value: func(m *maker) string { return "sk-" + m.of(lower, 48) }},
		{name: "azure devops", in: []string{"PAT %s", "az devops login with %s"}, value: func(m *maker) string { return m.alnum(76) + "AZDO" + m.alnum(4) }},
		{name: "hex of an app", in: []string{"appid wx1a2b3c4d appsecret %s", "client secret %s", "Gitee 私人令牌 %s"}, value: func(m *maker) string { return m.hex(31) + "7" }},
		{name: "keys of services", in: []string{"高德地图 key：%s", "DeepL key %s", "百度地图 AK %s", "API-Schlüssel: %s", "APIキー：%s"}, value: func(m *maker) string { return m.alnum(24) + "7q" }},
	}
}

// spokenShapes are passwords in further words and orders.
func spokenShapes() []shape {
	word := func(m *maker) string {
		return m.pick("Walnut", "Marble", "Copper") + m.of("3456789", 2) + m.of(digits, 2)
	}
	signed := func(m *maker) string { return m.pick("Walnut", "Marble") + m.pick("!", "$", "%") + m.of(digits, 4) }
	return []shape{
		{name: "whose password", in: []string{"Passwort für den Server: %s", "Neues Passwort vom Drucker: %s", "mot de passe du serveur : %s", "contraseña del router: %s", "Пароль от сервера: %s", "hasło do wifi: %s", "senha do wifi: %s", "Password for the printer's admin page: %s", "the root password of db1 is %s."}, value: word},
		{name: "other orders", in: []string{"the password's %s", "Das Passwort wurde auf %s geändert.", "パスワードを %s に変更", "la password è %s", "MDP : %s", "Zugangsdaten: Benutzer lena, Passwort %s", "BIOS password %s", "the guest wifi uses %s as its password", "【密码】%s", "路由器后台 admin/%s"}, value: word},
		{name: "by a space", in: []string{"creds: root %s", "root %s", "ssh root %s", "Administrator / %s", "Login for the CMS: lena / %s"}, value: signed},
		{name: "wherever it stands", in: []string{"密码还是老的那个 %s", "Her laptop unlocks with %s", "密码跟上次一样，%s", "初始密码统一为身份证后六位 + %s"}, value: signed},
		{name: "answers", in: []string{"A: 服务器密码多少?\nB: %s", "Omar: what's the wifi password?\nLena: %s", "[10:02] Ann: password pls\n[10:03] Bob: %s"}, value: signed},
		{name: "further commands", in: []string{"ssh-keygen -t ed25519 -N '%s' -f key", "keytool -storepass %s -list", "passwd --stdin root <<< '%s'", "rsync --password-file=<(echo %s) a b::c", "mosquitto_pub -u svc -P %s -t a", "net user bob %s /add", "wpa_passphrase home %s", "scott/%s@//db1:1521/orcl", "snmp-server community %s RO", "nmcli dev wifi connect home password %s"}, value: func(m *maker) string {
			return word(m) + strings.ToLower(m.of(upper, 1)) + m.of(upper, 1)
		}},
	}
}

// harmlessStrangers are look-alikes of those.
func harmlessStrangers() []shape {
	all := []shape{
		fixed("numbers that open nothing", "PIN 12 of the header is ground", "GPIO pin: 17, second pin: 27", "The PIN has 4 digits and the PUK has 8 digits.", "PIN must be 4 to 8 digits long", "pin numpy==1.26.4", "The pin is 2000 micrometres wide", "Ping 1000 times", "SPIN 2048 in the config", "after 3 wrong PINs wait 3600 seconds", "PIN 重试 5 次后锁定", "Bengaluru PIN 560001",
			"验证码 6 位，60 秒内有效", "验证码有效期 300 秒", "验证码错误 3 次锁定", "验证码：短信获取", "提取码见群公告", "提取码由系统生成，4 位字母数字", "解压密码错误", "支付密码 6 位数字", "锁屏密码 30 秒后生效", "临时密码 24 小时有效", "安全码是卡背面三位数字", "password: 2024", "密码 2024 年更新", "密码改为 1024 位 RSA", "密码重试 3600 秒",
			"entry code in main.go line 1204", "security code scanning found 1204 alerts", "access code path: src/access/code2.go", "The door code changes weekly", "OTP 26 on Erlang", "verification code must be 6 digits", "CVC 3 digits", "The passcode is asked after 300 seconds", "recovery codes are printed on page 12", "recovery codes:\n- print them\n- keep 2 copies",
			"Backup codes: see the safe, 2 copies from 2024", "backup code runs at 02:30", "License key format AAAA-BBBB-CCCC-DDDD", "serial number SN-2024-001", "序列号 PF-2X4K9", "PUK in the letter from 2024", "クレジットカードの暗証番号は4桁"),
		fixed("words that open nothing", "random seed is fixed so that results are same across runs", "The seed phrase should never leave your desk, please write down each word twice", "mnemonic: every good boy does fine", "The recovery phrase is twelve words that only the owner knows", "助记词：12 个英文单词，按顺序保存", "24 words are better than twelve when you want strong wallets",
			"passphrase: four or more words chosen with dice", "SSH passphrase: required by the policy of our team", "password: must-be-at-least-twelve-chars", "password: prod-db-main-cluster", "password: acme-postgres-prod-primary", "password for the admin: required", "mot de passe du serveur : obligatoire", "contraseña del router: cambiada", "Passwort vom Drucker: steht im Tresor", "Passwort: siehe Tresor",
			"password utf8mb4", "Kennwort 8zeichen lang", "password's length must be 12", "the password's hash is stored", "| user | password |\n|---|---|\n| admin | rotated |", "password reset user2", "any password?\nTestLogin2Fails ran", "Omar: what is the password policy?\nLena: at least 12 chars", "A: 密码改了吗?\nB: 改了"),
		fixed("keys that open nothing", "wallet address 0x71C7656EC7ab88b098defB751B7401B5f6d8976F", "wallet address bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "wallet tx 3205673fd6f29b81bc27aaa077c7716d7379e6f0aa188adca560996bcee813cf", "Solana wallet 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU is ours", "npub17jx82h2u2psvsajt0ty0gwgf2cgw4eqwxkq5jxw9ay3h9efek9dqvac6nj",
			"private key file: /etc/ssl/private/server2.key", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlRuRnThUjU8/prwYxbty", "MIIDXTCCAkWgAwIBAgIJALmyTtNmeW8AMA0GCSqGSIb3DQEBCwUAMEUxCzAJBgNV", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURYVENDQWtXZ0F3SUJBZ0lKQUxt", "2FA is REQUIRED for ADMINISTRATORSOFORG", "MFA rollout: MULTIFACTORAUTHENTICATION is the flag", "TOTP SHA1 30 seconds",
			"fernet = Fernet(key)", "Fernet(os.environ[\"FERNET_KEY2\"])", "jwt.decode(token, settings.SECRET_KEY2, algorithms=[\"HS256\"])", "createCipheriv(\"aes-256-gcm\", key, iv)", "hmac.new(key, msg, \"sha256\")", "new Serializer(\"application/json; charset=utf-8\")", "signer(\"v4-presigned-url\")", "Cookie: theme=dark; lang=de", "cookie: _ga=GA1.2.1234567890.1234567890; _gid=GA1.2.987654321.1234567890", "cookie=req.headers.cookie2",
			"令牌桶 c2547eb745079dac9320b638f5e225cf", "密钥指纹 c2547eb745079dac9320b638f5e225cf", "地图 key 要申请", "接口 key 是 user_id", "map key: user:42:profile", "maps key1 to value2", "Task AK 47 is closed", "SK hynix H5AN8G8NCJR", "キーは user_id", "キー配列 JIS109", "-H \"X-API-Key: YOUR_API_KEY\""),
		fixed("names that are joined", "登录后跳转 Home$Page2", "后台 admin/users2024", "パスワードを Vault2024 に保存", "log in at App$Inner2 class", "unlock Level$9Up", "Unlock achievement Boss&Loot99 now", "root Dockerfile$2Stage", "admin User$Inner2", "login Foo%20Bar2", "Cookie: _pk_id.1.1fff=8fa3bc91d07e5a4c.1730000000.",
			"重置密码流程 ResetFlow2024", "密码组件 PasswordInput2024", "The password is stored in Keycloak24.", "password in Bitwarden2024", "Das Passwort ist im Tresor2", "routing_key: orders.created.v2", "bot.run(port=8080)"),
		fixed("pairs that open nothing", "TCP / HTTP2", "a / b^2 + c$1", "total / count*100", "client / Server@2", "root cause: disk full", "root 1234 0.0 0.1 ? Ss", "admin panel v2.0 is slow", "account 4411 locked!", "login page v2 broken!", "creds in vault path kv/prod", "net user bob /domain", "diff <(echo a1b2c3) <(cat b)", "cat <<< \"hello world2\"", "snmp-server community public RO", "ssh-keygen -R host2.acme.io", "login fails, see Acme#1234", "unlock the door!"),
	}
	for i := range all {
		all[i].name = later + all[i].name
	}
	return all
}
