package guard

import (
	"strings"
	"testing"
)

// Secrets are found by the rule of their issuer. They are put together here, so
// that this file holds none.
func TestScanFinds(t *testing.T) {
	for rule, texts := range map[string][]string{
		"private_key":    {"-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE", "-----BEGIN " + "PRIVATE KEY-----", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----"},
		"aws_access_key": {"the key AKIA" + "Q3EGUJ7MWFPLZ2KD of the deploy user"},
		"github_token":   {"ghp_" + strings.Repeat("aB3d", 9), "令牌ghs_" + strings.Repeat("Zx9q", 9)},
		"gitlab_token":   {"glpat-" + "h3Kd82mslPq01xZvB7nT"},
		"slack_token":    {"xoxb-" + "2048-4096-aZ3kP9"},
		"stripe_key":     {"sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"},
		"api_key":        {"sk-" + "proj-" + strings.Repeat("a1B2", 8), "sk-" + strings.Repeat("a1B2", 8)},
		"jwt":            {"eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"},
		"url_password":   {"postgres://app:hunter2" + "x@db:5432/app", "https://bot:s3cr" + "et@ci.internal/x"},
		"assigned_secret": {"password = hunter2" + "x", "DB_PASSWORD: 'Tr0ub4" + "dor&3'", "数据库密码：Qw3rty" + "88", "口令是 abc12345" + "6",
			`{"api_key": "9f8e7d6c` + `5b4a3f2e1d"}`},
	} {
		for _, text := range texts {
			if found := Scan(text); len(found) == 0 || found[0].Rule != rule {
				t.Errorf("%s in %q: found %v", rule, text, found)
			}
		}
	}
}

// What only looks like a secret is none.
func TestScanLeaves(t *testing.T) {
	for _, text := range []string{
		"fixed in 8f14e45fceea167a5a36dedd4bea2543f2f5b0d6",
		"01900000-0000-7000-8000-000000000001",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"token: 01900000-0000-7000-8000-000000000001",
		"secret: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"password = ${DB_PASSWORD}", "password: <from the vault>", "api_key = your-key-here1", "token=$GITHUB_TOKEN", "token: {{ .Token1 }}",
		"postgres://app:password@localhost/app", "postgres://user:${PW}@db/app", "https://example.org:8080/@scope/pkg",
		"AKIAIOSFODNN7EXAMPLE is Amazon's own", "密码：请向管理员索取", "the token is rotated weekly", "passwords: stored as hashes",
		"src/api/token.go:342", "the secret: nobody reads it", "password = os.Getenv(\"PW1\")", "sk-learn-estimators", "a risk-assessment-of-the-whole-platform2026",
		"see -----BEGIN CERTIFICATE-----", "xoxo-hugs", "token: tokens/2026.json", "-----BEGIN PUBLIC KEY-----",
	} {
		if found := Scan(text); len(found) > 0 {
			t.Errorf("%q is taken for %v", text, found)
		}
	}
}
