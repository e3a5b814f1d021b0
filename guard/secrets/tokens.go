package secrets

import "strings"

// tokenRules are tokens of vendors that tell what they are by how they begin,
// and that the library does not know, or only with a word before them.
func tokenRules() []rule {
	return []rule{
		form("aws-key-id", `[A-Z2-7]{16}`, "AKIA", "ASIA"),
		form("tencent-secret-id", `[A-Za-z0-9]{32}`, "AKID"),
		form("aliyun-key-id", `[A-Za-z0-9]{12,26}`, "LTAI"),
		form("volcengine-key-id", `[A-Za-z0-9]{30,60}`, "AKLT"),
		form("google-api-key", `[A-Za-z0-9_-]{35}`, "AIza"),
		form("google-oauth-secret", `[A-Za-z0-9_-]{24,40}`, "GOCSPX-"),
		form("google-refresh-token", `[A-Za-z0-9_-]{30,}`, "1//0"),
		form("google-access-token", `[A-Za-z0-9_-]{30,}`, "ya29."),
		form("tailscale-key", `(?:auth|api|client|scim|webhook|oauth)-[A-Za-z0-9]{6,40}-[A-Za-z0-9]{16,80}`, "tskey-"),
		form("telegram-token", `[A-Za-z0-9_-]{32,36}`, ":AA").behindDigits(7),
		form("discord-token", `[A-Za-z0-9_-]{20,30}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}`, discordStarts()...),
		// sk- is what the makers of models agree on, in lengths of their own.
		form("model-api-key", `(?:[a-z0-9]{2,12}-){0,3}[A-Za-z0-9_]{20,}[A-Za-z0-9_-]*`, "sk-"),
		form("model-api-key", `[A-Za-z0-9_-]{32,120}`, "gsk_", "xai-", "pplx-", "csk-", "gsk-", "fastgpt-"),
		form("twilio-key", `[0-9a-f]{32}`, "SK", "AC"),
		form("docker-token", `[A-Za-z0-9_-]{20,60}`, "dckr_pat_", "dckr_oat_"),
		form("stripe-key", `[A-Za-z0-9]{16,99}`, "sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
		form("supabase-token", `[A-Za-z0-9_]{30,60}`, "sbp_", "sb_secret_", "sbp_v0_"),
		form("replicate-token", `[A-Za-z0-9]{30,40}`, "r8_"),
		form("figma-token", `[A-Za-z0-9_-]{30,60}`, "figd_", "figu_"),
		form("netlify-token", `[A-Za-z0-9]{30,60}`, "nfp_"),
		form("render-key", `[A-Za-z0-9]{28,40}`, "rnd_"),
		form("neon-key", `[a-z0-9]{40,70}`, "napi_"),
		form("sonar-token", `[0-9a-f]{40}`, "squ_", "sqp_", "sqa_"),
		form("bitbucket-token", `[A-Za-z0-9_=-]{24,}`, "ATBB", "ATATT3", "ATCTT3"),
		form("slack-token", `[A-Za-z0-9-]{20,}`, "xoxb-", "xoxp-", "xoxa-", "xoxs-", "xapp-"),
		form("vault-token", `[A-Za-z0-9_-]{20,}`, "hvs.", "hvb.", "hvr."),
		form("mapbox-token", `[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`, "sk.eyJ"),
		form("vercel-token", `[A-Za-z0-9]{20,60}`, "vcp_", "vck_", "vci_", "vcr_", "vca_"),
		form("cloudflare-token", `[A-Za-z0-9_-]{30,60}`, "cfut_", "cfat_", "cfk_"),
		form("digitalocean-token", `[0-9a-f]{40,70}`, "dop_v1_", "doo_v1_", "dor_v1_"),
		form("linear-key", `[A-Za-z0-9]{32,64}`, "lin_api_", "lin_oauth_", "lin_wh_"),
		form("notion-token", `[A-Za-z0-9]{36,60}`, "ntn_", "secret_"),
		form("langsmith-key", `[A-Za-z0-9_]{30,60}`, "lsv2_pt_", "lsv2_sk_"),
		form("pinecone-key", `[A-Za-z0-9_]{40,100}`, "pcsk_"),
		form("resend-key", `[A-Za-z0-9]{6,12}_[A-Za-z0-9]{18,30}`, "re_"),
		form("together-key", `[A-Za-z0-9_-]{30,60}`, "tgp_v1_"),
		form("fireworks-key", `[A-Za-z0-9]{20,40}`, "fw_"),
		form("elevenlabs-key", `[0-9a-f]{48}`, "sk_"),
		form("tavily-key", `[A-Za-z0-9]{20,50}`, "tvly-", "tvly-dev-", "tvly-prod-"),
		form("firecrawl-key", `[0-9a-f]{32}`, "fc-"),
		form("model-api-key", `[A-Za-z0-9_-]{24,100}`, "wandb_v1_", "jina_", "nvapi-", "esecret_"),
		form("fly-token", `[A-Za-z0-9+/=_,-]{40,}`, "fm2_", "fm1r_", "fo1_"),
		form("circleci-token", `[A-Za-z0-9_]{20,80}`, "CCIPAT_", "CCIPRJ_"),
		form("buildkite-token", `[A-Za-z0-9]{30,60}`, "bkua_", "bkaj_", "bkpt_"),
		form("trello-token", `[A-Za-z0-9]{60,80}`, "ATTA"),
		form("github-token", `[A-Za-z0-9_]{30,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
		form("gitlab-token", `[A-Za-z0-9_.-]{20,80}`, "glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "glcbt-", "gloas-", "glffct-", "glwt-"),
		form("npm-token", `[A-Za-z0-9]{36}`, "npm_"),
		form("pypi-token", `[A-Za-z0-9_-]{50,}`, "pypi-AgE"),
		form("huggingface-token", `[A-Za-z0-9]{30,40}`, "hf_", "api_org_"),
		form("shopify-token", `[0-9a-fA-F]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),
		form("square-token", `[A-Za-z0-9_-]{22,60}`, "sq0atp-", "sq0csp-", "EAAAE", "EAAAl"),
		form("plaid-token", `[0-9a-f-]{36}`, "access-production-", "access-sandbox-", "access-development-"),
		form("atlas-key", `[A-Za-z0-9_-]{20,60}`, "mdb_sa_sk_"),
		form("onepassword-token", `[A-Za-z0-9+/=_-]{60,}`, "ops_eyJ"),
		form("bedrock-key", `[A-Za-z0-9+/=]{60,}`, "ABSK"),
		form("qianfan-key", `ALTAK-[A-Za-z0-9]{15,40}/[0-9a-f]{30,60}`, "bce-v3/"),
		form("dingtalk-secret", `[0-9a-f]{64}`, "SEC"),
		form("serverchan-key", `\d{1,8}T[A-Za-z0-9]{20,40}`, "SCT", "sctp"),
		form("coze-token", `[A-Za-z0-9]{50,80}`, "pat_", "sat_"),
		form("dify-key", `[A-Za-z0-9]{24}`, "app-", "dataset-"),
		form("langfuse-key", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "sk-lf-"),
		form("modal-token", `[A-Za-z0-9]{20,30}`, "as-"),
		form("contentful-token", `[A-Za-z0-9_-]{40,50}`, "CFPAT-"),
		form("airtable-token", `[A-Za-z0-9]{14}\.[0-9a-f]{60,70}`, "pat"),
		form("sentry-token", `[A-Za-z0-9+/=_]{50,}`, "sntrys_", "sntryu_", "sntryi_"),
		form("new-relic-key", `[A-Za-z0-9]{24,42}`, "NRAK-", "NRJS-", "NRIQ-", "NRII-"),
		form("postman-key", `[0-9a-f]{24}-[0-9a-f]{34}`, "PMAK-"),
		form("rubygems-key", `[0-9a-f]{48}`, "rubygems_"),
		form("cargo-token", `[A-Za-z0-9]{32}`, "cio"),
		form("nuget-key", `[a-z0-9]{43}`, "oy2"),
		form("heroku-key", `[A-Za-z0-9_-]{40,80}`, "HRKU-"),
		form("sendinblue-key", `[0-9a-f]{64}-[A-Za-z0-9]{16}`, "xkeysib-", "xsmtpsib-"),
		form("sendgrid-key", `[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}`, "SG."),
		form("firebase-server-key", `[A-Za-z0-9_-]{80,}`, ":APA91b"),
		form("planetscale-token", `[A-Za-z0-9_.=-]{32,64}`, "pscale_pw_", "pscale_tkn_", "pscale_oauth_"),
		form("doppler-token", `(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}`, "dp."),
		form("jwt", `[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}`, "eyJ"),
		form("mailgun-key", `[0-9a-f]{32}`, "key-"),
		form("nostr-key", `[02-9ac-hj-np-z]{58}`, "nsec1"),
		form("wallet-key", `[1-9A-HJ-NP-Za-km-z]{100,115}`, "xprv", "yprv", "zprv", "tprv"),
		form("wallet-key", `[1-9A-HJ-NP-Za-km-z]{56}`, "6P"),
		form("wallet-key", `[02-9ac-hj-np-z]{58,70}`, "suiprivkey1", "ed25519_sk1"),
		after("zhipu-key", `[^\n]{0,30}?[ \t:=是为]["'`+"`"+`]?([0-9a-f]{32}\.[A-Za-z0-9]{16})\b`, nil, "zhipu", "智谱", "glm", "bigmodel"),
		after("mailchimp-key", `[^\n]{0,40}?([0-9a-f]{32}-us\d{1,2})\b`, nil, "mailchimp"),
		after("bark-key", `([A-Za-z0-9]{20,24})\b`, mixed, "api.day.app/"),
		{"aws-session-token", []string{"iqojb3jpz2lu", "fwogzxiv"}, longRun},
		{"azure-devops-token", []string{"azdo"}, azureToken},
		{"azure-key", []string{"jqqj99"}, azureToken},
		{"azure-client-secret", []string{"q~"}, azureClientSecret},
		{"key-beside-id", []string{"akia", "asia", "ltai", "akid"}, keyBesideID},
	}
}

// discordStarts are how the base64 of a number, which an id is, begins.
func discordStarts() []string {
	var all []string
	for _, first := range "MNO" {
		for _, second := range "DTjz" {
			all = append(all, string(first)+string(second))
		}
	}
	return all
}

// behindDigits widens a rule to the digits before its word, n of them at least.
func (r rule) behindDigits(n int) rule {
	find := r.find
	r.find = func(text string, at, length int) (int, int) {
		start := at
		for start > 0 && isDigit(text[start-1]) {
			start--
		}
		if at-start < n || !startsWord(text, start) && !strings.HasSuffix(text[:start], "bot") {
			return -1, 0
		}
		// The digits are no part of the word, which they keep from beginning one.
		_, end := find(text[at:], 0, length)
		if end == 0 {
			return -1, 0
		}
		return start, at + end
	}
	return r
}

// azureClientSecret has "7Q~" or "8Q~" behind three characters, and 31 to 34 more.
func azureClientSecret(text string, at, n int) (int, int) {
	start, end := at-4, at+n
	if start < 0 || !isDigit(text[at-1]) || !startsWord(text, start) || text[at] != 'Q' {
		return -1, 0
	}
	for end < min(len(text), at+50) && (isAlnum(text[end]) || text[end] == '.' || text[end] == '_' || text[end] == '-' || text[end] == '~') {
		end++
	}
	if length := end - at - n; length < 31 || length > 36 || !mixed(text[at+n:end]) {
		return -1, 0
	}
	return start, end
}

// keyBesideID finds the secret key that people write beside the id of it: the
// next word that is as long as one and is as mixed.
func keyBesideID(text string, at, n int) (int, int) {
	id := at
	if !startsWord(text, id) {
		return -1, 0
	}
	for at += n; at < len(text) && isAlnum(text[at]); at++ {
	}
	if text[id:id+n] != strings.ToUpper(text[id:id+n]) || at-id < 16 || !mixed(text[id:at]) {
		return -1, 0
	}
	for start := at; start < min(len(text), at+60); start++ {
		if !isKeyByte(text[start]) || isKeyByte(text[start-1]) && start > at {
			continue
		}
		end := start
		for end < min(len(text), start+60) && isKeyByte(text[end]) {
			end++
		}
		// Slashes and signs between the two are not of the key.
		for start < end && !isAlnum(text[start]) {
			start++
		}
		if length := end - start; length >= 30 && length <= 44 && mixed(text[start:end]) && !isHex(text[start:end]) && !crossedOut(text[start:end]) &&
			!placeholder(text[start:end]) {
			return start, end
		}
	}
	return -1, 0
}

func isKeyByte(c byte) bool { return isAlnum(c) || c == '+' || c == '/' }

// webhookRules are addresses that whoever knows them may write to.
func webhookRules() []rule {
	return []rule{
		{"webhook", []string{"hooks.slack.com/", "webhook.office.com/webhookb2/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "open.feishu.cn/open-apis/bot/", "open.larksuite.com/open-apis/bot/",
			"qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", "oapi.dingtalk.com/robot/send?access_token=", "sctapi.ftqq.com/"}, webhook},
	}
}

// webhook takes the whole address, where a long id stands in it.
func webhook(text string, at, n int) (int, int) {
	start, end := at, at+n
	for start > max(0, at-20) && (isAlnum(text[start-1]) || text[start-1] == ':' || text[start-1] == '/' || text[start-1] == '.') {
		start--
	}
	for end < min(len(text), at+maxMatch) && (inToken(text[end]) || text[end] == '?' || text[end] == '&' || text[end] == '@') {
		end++
	}
	rest := text[at+n : end]
	if len(rest) < 30 || !mixed(rest) || crossedOut(rest) {
		return -1, 0
	}
	return start, end
}

// longRun is a token from its begin to its end, whatever it is filled up with.
func longRun(text string, at, n int) (int, int) {
	end := wordEnd(text, at+n)
	if !startsWord(text, at) || end-at < 60 || !mixed(text[at:min(end, at+maxMatch)]) {
		return -1, 0
	}
	return at, end
}

// lengthOfAzure is that of the newer keys of Azure, which hold a mark of their
// maker further in.
const lengthOfAzure = 84

// azureToken finds the token around the mark of its maker.
func azureToken(text string, at, n int) (int, int) {
	start, end := at, at+n
	for start > max(0, at-lengthOfAzure) && isAlnum(text[start-1]) {
		start--
	}
	for end < min(len(text), at+lengthOfAzure) && isAlnum(text[end]) {
		end++
	}
	if end-start != lengthOfAzure || text[at:at+n] != strings.ToUpper(text[at:at+n]) || !mixed(text[start:end]) {
		return -1, 0
	}
	return start, end
}
