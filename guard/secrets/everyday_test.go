package secrets

import (
	"encoding/base64"
	"strings"
)

// everydayShapes are what agents note of what they did and saw: further ways in
// which secrets are written, and keys of vendors of late. They came to mind after
// the rules.
func everydayShapes() []shape {
	all := append(saidShapes(), laidOutShapes()...)
	all = append(all, ranShapes()...)
	all = append(all, builtShapes()...)
	all = append(all, vendorShapes()...)
	for i := range all {
		all[i].name = later + all[i].name
	}
	return all
}

// saidShapes are sentences.
func saidShapes() []shape {
	letters := func(m *maker) string {
		return m.pick("sunshine", "Wintermute", "buttercup", "moonlight", "dragonfly", "Snowflake")
	}
	weak := func(m *maker) string {
		return m.pick("summer", "harbor", "welcome", "falcon", "Dragon") + m.of("123456789", 1) + m.of(digits, 2)
	}
	long := func(m *maker) string { return m.alnum(24) }
	return []shape{
		{name: "set to", in: []string{"Set the admin password to %s.", "I changed the root password to %s", "reset the password of svc-api to %s, works", "We rotated the db password to %s yesterday",
			"updated password for bob to '%s'", "Setting the Grafana admin password to %s fixed the login", "password has been reset to %s"}, value: (*maker).password},
		{name: "chinese set to", in: []string{"密码改成 %s", "把 root 密码改成%s了", "已将数据库密码重置为 %s", "密码换成了%s", "初始密码设置为%s，首次登录要改", "默认密码就是 %s", "密码统一用 %s", "密码还是 %s 没变", "管理员密码已修改为：%s"}, value: (*maker).password},
		{name: "pair of mail", in: []string{"qa@acme.io / %s", "Stripe test login: qa@acme.io / %s"}, value: func(m *maker) string { return "Vn8k" + m.of(digits, 2) + "qL!" }},
		{name: "note between", in: []string{"password (new): %s", "Password (case sensitive): %s", "password [prod]: %s", "password = os.getenv(\"DB_PASSWORD\") || \"%s\"", "vpn 密码改了，现在是 %s", "密码从 old 改为 %s", "密码：%s（记得改）"}, value: func(m *maker) string { return "Vn8k" + m.of(digits, 2) + "qLx" }},
		{name: "chinese pair", in: []string{"用户名 admin 密码 %s", "账号：ops，密码：%s", "账号密码：admin/%s", "账密 deploy / %s", "用户名/密码: root/%s", "账号 test01 密码是 %s", "登录：admin / %s", "用 admin / %s 登录后台"}, value: (*maker).password},
		{name: "chinese weak", in: []string{"密码：%s", "用户名 admin 密码 %s", "密码是%s。", "密码改成 %s"}, value: weak},
		{name: "english pair", in: []string{"root/%s on db1", "login admin/%s", "creds: svc/%s", "username/password: admin/%s", "Log in as admin / %s at the console", "credentials: root:%s", "user: admin, pass: %s",
			"username admin password %s", "(admin:%s)", "user bob with password %s"}, value: (*maker).password},
		{name: "letters alone", in: []string{"password: %s", "Password: %s\nHost: db1", "密码：%s", "passphrase: %s", "The box:\n- user: bob\n- password: %s\n", "口令：%s。"}, value: letters},
		{name: "letters in quotes", in: []string{"password: \"%s\"", "the password is `%s`", "pwd = '%s'"}, value: func(m *maker) string { return strings.ToLower(letters(m)) + "x" }},
		{name: "word and number", in: []string{"password: %s", "The password is %s", "pass: %s", "pwd=%s", "wifi password: %s"}, value: weak},
		{name: "brackets", in: []string{"admin user (password: %s)", "the demo account (password %s)", "密码（%s）", "密码【%s】", "密码「%s」", "password [%s]"}, value: (*maker).password},
		{name: "token v", in: []string{"token %s", "use token %s", "deploy token %s works", "令牌 %s", "secret %s", "API key %s"}, value: func(m *maker) string { return m.of(alnum, 15) + "7a" }},
		{name: "chinese app secret", in: []string{"AppSecret 是 %s", "微信公众号 appsecret：%s", "飞书 App Secret: %s", "app_secret 填 %s", "小程序密钥换成 %s", "接口 token 用 %s"}, value: func(m *maker) string { return m.hex(32) }},
		{name: "english tokens", in: []string{"The new API token is %s", "api token = %s", "My key: api_key=%s", "signing secret - %s", "use this access token: %s", "the webhook secret is now %s"}, value: long},
		{name: "as password", in: []string{"用 %s 作为密码", "Use %s as the admin password", "`%s` is the password for bob"}, value: (*maker).password},
		{name: "other tongues", in: []string{"Das neue Passwort lautet %s", "le mot de passe est %s", "la contraseña es %s", "пароль %s", "a senha é %s", "パスワード：%s", "Kennwort: %s", "암호: %s", "비번은 %s"}, value: (*maker).password},
	}
}

// laidOutShapes are secrets that stand apart from their word: in markup, tables,
// the next line.
func laidOutShapes() []shape {
	letters := func(m *maker) string { return m.word() + m.word() }
	return []shape{
		{name: "element", in: []string{"<password>%s</password>", "<server><id>nexus</id><username>ci</username><password>%s</password></server>", "<db:password>%s</db:password>", "<Password type=\"plain\">%s</Password>",
			"<entry key=\"db.password\">%s</entry>", "<string name=\"admin_password\">%s</string>", "<password>\n  %s\n</password>", "<password><![CDATA[%s]]></password>", "<passwd><value>%s</value></passwd>"}, value: (*maker).password},
		{name: "element of letters", in: []string{"<password>%s</password>", "<adminPassword>%s</adminPassword>"}, value: letters},
		{name: "attribute", in: []string{"<user name=\"bob\" password=\"%s\"/>", "<property name=\"password\" value=\"%s\"/>", "<add key=\"DbPassword\" value=\"%s\" />", "<input type=\"password\" value=\"%s\">",
			"<property name=\"password\"><value>%s</value></property>"}, value: (*maker).password},
		{name: "html", in: []string{"<tr><td>Password</td><td>%s</td></tr>", "<dt>Password</dt>\n<dd>%s</dd>", "<b>Password:</b> %s", "<li><strong>Password</strong>: <code>%s</code></li>", "<key>password</key>\n<string>%s</string>"}, value: (*maker).password},
		{name: "token element", in: []string{"<apiKey>%s</apiKey>", "<token>%s</token>", "<add key=\"ApiSecret\" value=\"%s\"/>"}, value: func(m *maker) string { return m.alnum(28) }},
		{name: "name and value", in: []string{"env:\n  - name: DB_PASSWORD\n    value: %s", "{\"name\":\"DB_PASSWORD\",\"value\":\"%s\"}", "{ \"Name\": \"MYSQL_PASSWORD\", \"Value\": \"%s\" }", "set {\n  name  = \"db.password\"\n  value = \"%s\"\n}",
			"variable \"db_password\" {\n  default = \"%s\"\n}", "variable \"db_password\" {\n  type = string\n  default = \"%s\"\n}"}, value: (*maker).password},
		{name: "next line", in: []string{"PASSWORD\n%s", "password:\n%s", "password =\n  %s", "## Root password\n\n%s\n", "密码：\n%s", "Password\n```\n%s\n```", "admin_password: >-\n  %s", "db.password = \\\n  %s", "**Password**\n`%s`"}, value: (*maker).password},
		{name: "token next line", in: []string{"API key:\n%s", "TOKEN\n%s\n", "access token:\n\n    %s\n"}, value: func(m *maker) string { return m.alnum(30) }},
		{name: "table by column", in: []string{"| user | password |\n|---|---|\n| admin | %s |", "| host | user | Password | note |\n| --- | --- | --- | --- |\n| db1 | app | %s | old |", "user,password\nadmin,%s", "host,user,password,port\ndb1,app,%s,5432",
			"USER      PASSWORD\nadmin     %s", "user\tpassword\tshell\nbob\t%s\t/bin/sh", "| 用户 | 密码 |\n|---|---|\n| admin | %s |", "user;password\nadmin;%s", "name password\nadmin %s"}, value: (*maker).password},
		{name: "second row", in: []string{"| user | password |\n|---|---|\n| bob | ⟦Maple#2231x⟧ |\n| ann | %s |", "user,password\nbob,⟦Maple#2231x⟧\nann,%s\n"}, value: (*maker).password},
		{name: "token column", in: []string{"| service | api key |\n|---|---|\n| maps | %s |", "name,token\nci,%s"}, value: func(m *maker) string { return m.alnum(30) }},
		{name: "table by row", in: []string{"| Password | %s |", "| **Root password** | `%s` |", "password,%s", "Password    %s", "password\t%s", "| 密码 | %s |"}, value: (*maker).password},
		{name: "concatenated", in: []string{"password = \"%s\"", "pw := \"%s\"", "password: '%s'"}, value: func(m *maker) string { return m.pick("Tiger#\" + \"20", "Ti\"+\"ger#\"+\"20") + m.of(digits, 2) + "xQ" }},
		{name: "concatenated lines", in: []string{"db.password = \"%s\"", "password = (\"%s\")"}, value: func(m *maker) string {
			return "Tiger#" + m.pick("\" +\n    \"", "\"\n    \"", "\" \\\n  \"") + m.of(digits, 4) + "xQ"
		}},
		{name: "goes on", in: []string{"password=%s", "export DB_PASSWORD=%s"}, value: func(m *maker) string { return "Tiger#\\\n" + m.of(digits, 4) + "xQ" }},
		{name: "entities", in: []string{"p&#97;ssword: %s", "&lt;password&gt;%s&lt;/password&gt;", "password: &quot;%s&quot;", "password&#58;&nbsp;%s", "password: %s"}, value: func(m *maker) string { return "Maple" + m.of(digits, 4) + "xQz!" }},
		{name: "entities inside", in: []string{"<password>%s</password>", "password: %s", "密码：%s"}, value: func(m *maker) string { return m.pick("Tiger&amp;", "&#84;iger&#x23;") + m.of(digits, 4) + "xQ" }},
		{name: "byte escapes", in: []string{`{"note":"pass\x77ord: %s"}`, `{"pass\u0077ord": "%s"}`}, value: func(m *maker) string { return m.of(digits, 4) + "xQz" }},
	}
}

// ranShapes are commands that were run, and what they read.
func ranShapes() []shape {
	return []shape{
		{name: "docker", in: []string{"docker run -d -e POSTGRES_PASSWORD=%s postgres:17", "docker run --env MYSQL_ROOT_PASSWORD='%s' mysql", "podman login -u bot -p %s quay.io", "echo %s | docker login -u bot --password-stdin", "ENV ADMIN_PASSWORD=%s", "ARG DB_PASSWORD=\"%s\""}, value: (*maker).password},
		{name: "kubectl", in: []string{"kubectl create secret generic db --from-literal=password=%s", "kubectl create secret generic db --from-literal=DB_PASSWORD='%s' -n prod", "helm upgrade x ./x --set postgres.password=%s", "stringData:\n  password: %s"}, value: (*maker).password},
		{name: "database clients", in: []string{"PGPASSWORD=%s psql -h db1 -U app shop", "mysql -h db1 -u root -p'%s' -e 'show databases'", "mongosh -u admin -p %s --host db1", "psql \"host=db1 user=app password=%s\"", "sqlcmd -S db1 -U sa -P %s", "sqlplus scott/%s@orcl", "redis-cli -h cache -a %s", "clickhouse-client --password %s", "mysqladmin -u root -p%s ping"},
			value: func(m *maker) string {
				return m.pick("Tiger", "Maple", "Comet") + m.pick("_", "#") + m.of(digits, 4) + m.of(lower, 2)
			}},
		{name: "sql", in: []string{"CREATE USER app WITH PASSWORD '%s';", "ALTER ROLE app PASSWORD '%s';", "CREATE USER 'app'@'%' IDENTIFIED BY '%s';", "ALTER USER root@localhost IDENTIFIED WITH mysql_native_password BY '%s';", "SET PASSWORD FOR bob = PASSWORD('%s');"}, value: (*maker).password},
		{name: "inserted", in: []string{"INSERT INTO users (name, password) VALUES ('bob', '%s');", "insert into accounts(password, role) values ('%s', 'admin')"}, value: (*maker).password},
		{name: "shells", in: []string{"sshpass -p %s ssh root@10.0.0.2", "echo 'root:%s' | chpasswd", "echo %s | sudo -S apt update", "ldapsearch -D cn=admin,dc=acme -w %s", "7z x -p%s backup.7z", "openssl pkcs12 -in a.p12 -passin pass:%s", "smbclient //nas/x -U bob%%s", "net use Z: \\\\nas\\x /user:bob %s",
			"rabbitmqctl add_user bob %s", "xfreerdp /u:bob /p:%s /v:host", "htpasswd -bc .htpasswd bob %s"}, value: func(m *maker) string {
			return m.pick("Tiger", "Maple") + m.pick("#", "_") + m.of(digits, 4) + m.of(upper, 2)
		}},
		{name: "http", in: []string{"curl -u admin:%s https://x.internal/api", "curl --user 'ops:%s' https://x.internal", "http -a ops:%s GET x.internal", "wget --user=bob --password=%s https://x.internal", "curl -d 'username=bob&password=%s' https://x.internal/login", "curl -d '{\"user\":\"bob\",\"password\":\"%s\"}' x.internal"},
			value: func(m *maker) string {
				return m.pick("Tiger", "Maple") + m.pick("!", "_") + m.of(digits, 4) + m.of(upper, 2)
			}},
		{name: "machine files", in: []string{"machine api.internal\n  login bob\n  password %s", "requirepass %s", "rootpw %s", "spring:\n  datasource:\n    username: app\n    password: %s", "[client]\nuser=root\npassword=%s", "//reg/:_password=%s", "ansible_become_pass: %s", "ansible_ssh_pass=%s", "bindpw %s",
			"smtp_password = \"%s\"", "<Connector keystorePass=\"%s\"/>"}, value: (*maker).password},
		{name: "htpasswd", in: []string{"bob:{SHA}%s", "userPassword: {SSHA}%s"}, value: func(m *maker) string { return m.b64(27) + "=" }},
		{name: "database hashes", in: []string{"rolpassword | SCRAM-SHA-256$4096:%s", "django user bob pbkdf2_sha256$%s"}, value: func(m *maker) string { return "600000$" + m.alnum(22) + "$" + m.b64(43) + "=" }},
	}
}

// builtShapes are code and configuration.
func builtShapes() []shape {
	token := func(m *maker) string { return m.alnum(32) }
	return []shape{
		{name: "code", in: []string{"String password = \"%s\";", "private static final String DB_PASSWORD = \"%s\";", "var password = \"%s\";", "let dbPass = '%s'", "define('DB_PASSWORD', '%s');", "os.environ[\"DB_PASSWORD\"] = \"%s\"", "process.env.DB_PASSWORD = '%s'",
			"conn = psycopg2.connect(host=\"db1\", password=\"%s\")", "new NetworkCredential(\"bob\", \"%s\")", "auth=(\"bob\", \"%s\")", "props.setProperty(\"password\", \"%s\");", "config.put(\"db.password\", \"%s\")", "DriverManager.getConnection(url, \"app\", \"%s\")",
			"cfg.Password = \"%s\"", "{Password: \"%s\"}", "password => '%s'", "os.Setenv(\"DB_PASSWORD\", \"%s\")", "ConvertTo-SecureString \"%s\" -AsPlainText -Force"}, value: (*maker).password},
		{name: "configuration", in: []string{"password = \"%s\" # toml", "DB_PASSWORD: %s", "variables:\n  DEPLOY_PASSWORD: \"%s\"", "vault_db_password: '%s'", "default_password: %s", "resource \"aws_db_instance\" \"x\" {\n  username = \"app\"\n  password = \"%s\"\n}", "env:\n  ADMIN_PASSWORD: %s",
			"\"ConnectionStrings\": {\"Default\": \"Server=db1;User Id=sa;Password=%s;\"}", "- DB_PASSWORD=%s", "ADMIN_PASS=%s", "password=%s\nuser=app"}, value: (*maker).password},
		{name: "tokens in configuration", in: []string{"API_TOKEN=%s", "api_token: \"%s\"", "x-api-key: %s", "hubot.token = '%s'", "setx DEPLOY_TOKEN %s", "heroku config:set API_SECRET=%s", "aws configure set aws_secret_access_key %s", "gh secret set DEPLOY_KEY --body %s", "github_token: %s", "Authorization: Token %s", "headers = {\"X-Auth-Token\": \"%s\"}",
			"\"api_key\": \"%s\"", "?access_token=%s", "client = Client(api_key=\"%s\")", "accessToken='%s'"}, value: token},
		{name: "service account", in: []string{`{"type":"service_account","private_key_id":"0a1b","private_key":"-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"}`}, value: func(m *maker) string { return "MIIE" + m.b64(60) + `\n` + m.b64(64) }},
	}
}

// vendorShapes are keys that tell what they are.
func vendorShapes() []shape {
	return []shape{
		token("openai service account", func(m *maker) string { return "sk-svcacct-" + m.url(60) + "T3BlbkFJ" + m.url(60) + "x" }),
		token("anthropic admin key", func(m *maker) string { return "sk-ant-admin01-" + m.url(93) + "AA" }),
		token("gitlab kinds", func(m *maker) string { return m.pick("gldt-", "glrt-", "glptt-", "glft-") + m.alnum(20) }),
		token("gitlab routable", func(m *maker) string { return "glpat-" + m.alnum(27) + ".01." + m.of(hexed, 9) }),
		token("github kinds", func(m *maker) string { return m.pick("gho_", "ghu_", "ghr_") + m.alnum(36) }),
		token("slack app token", func(m *maker) string {
			return "xapp-1-A" + m.of(upper+digits, 10) + "-" + m.of(digits, 13) + "-" + m.hex(64)
		}),
		token("vercel", func(m *maker) string { return m.pick("vcp_", "vck_") + m.alnum(56) }),
		token("digitalocean oauth", func(m *maker) string { return "doo_v1_" + m.hex(64) }),
		token("notion secret", func(m *maker) string { return "secret_" + m.alnum(43) }),
		token("langsmith", func(m *maker) string { return "lsv2_pt_" + m.hex(32) + "_" + m.hex(10) }),
		token("pinecone", func(m *maker) string { return "pcsk_" + m.alnum(6) + "_" + m.alnum(63) }),
		token("resend", func(m *maker) string { return "re_" + m.alnum(8) + "_" + m.alnum(24) }),
		token("elevenlabs", func(m *maker) string { return "sk_" + m.hex(48) }),
		token("tavily", func(m *maker) string { return "tvly-dev-" + m.alnum(32) }),
		token("nvidia", func(m *maker) string { return "nvapi-" + m.url(63) + "x" }),
		token("fly", func(m *maker) string { return "fm2_" + m.b64(90) + "==" }),
		token("shopify", func(m *maker) string { return "shpat_" + m.hex(32) }),
		token("sentry", func(m *maker) string { return "sntryu_" + m.hex(64) }),
		token("doppler", func(m *maker) string { return "dp.pt." + m.alnum(43) }),
		token("heroku", func(m *maker) string { return "HRKU-AA" + m.url(57) + "x" }),
		token("bedrock", func(m *maker) string { return "ABSK" + m.b64(128) }),
		token("qianfan", func(m *maker) string { return "bce-v3/ALTAK-" + m.alnum(21) + "/" + m.hex(40) }),
		token("dingtalk secret", func(m *maker) string { return "SEC" + m.hex(64) }),
		token("coze", func(m *maker) string { return "pat_" + m.alnum(64) }),
		token("supabase secret", func(m *maker) string { return "sb_secret_" + m.alnum(22) + "_" + m.alnum(8) }),
		token("linear oauth", func(m *maker) string { return "lin_oauth_" + m.hex(64) }),
		token("planetscale", func(m *maker) string { return "pscale_pw_" + m.alnum(43) }),
		token("circleci", func(m *maker) string { return "CCIPAT_" + m.alnum(22) + "_" + m.hex(40) }),
		token("new relic", func(m *maker) string { return "NRAK-" + m.of(upper+digits, 27) }),
		token("brevo", func(m *maker) string { return "xkeysib-" + m.hex(64) + "-" + m.alnum(16) }),
		{name: "shared access", in: []string{"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=%s"}, value: func(m *maker) string { return m.b64(43) + "=" }},
		{name: "aws session", in: []string{"AWS_SESSION_TOKEN=%s", "aws_session_token = %s"}, value: func(m *maker) string { return "IQoJb3JpZ2luX2Vj" + m.b64(200) }},
		{name: "huawei", in: []string{"SK: %s", "AK/SK: ⟦HPUA2QV3KX9M4ZT7WL1B⟧ / %s"}, value: func(m *maker) string { return m.alnum(40) }},
		{name: "json of basic", in: []string{"Proxy-Authorization: Basic %s"}, value: func(m *maker) string { return base64.StdEncoding.EncodeToString([]byte("ops:" + m.password())) }},
	}
}
