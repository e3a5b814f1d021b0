package secrets

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// github is a token of the form of GitHub's, put together so that this file
// holds none.
const github = "ghp" + "_8OvvHMeHjnxIYc5xyN4832micngHs3p5F4Ae"

func rulesOf(found []Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, f.Rule)
	}
	return all
}

// A Scanner that scans nothing costs nothing.
func TestNewIsCheap(t *testing.T) {
	options := Options{Key: []byte("k")}
	var s *Scanner
	if n := testing.AllocsPerRun(100, func() { s = New(options) }); n > 1 {
		t.Errorf("New allocates %v times, want once", n)
	}
	if s.Scan("") != nil {
		t.Error("an empty text has a finding")
	}
}

// Nothing that is found is told to who may only see findings.
func TestFindingsTellNothing(t *testing.T) {
	text := "CI uses " + github + " today"
	a, b, other := New(Options{Key: []byte("a")}), New(Options{Key: []byte("a")}), New(Options{Key: []byte("b")})
	found := a.Scan(text)
	if len(found) == 0 {
		t.Fatal("not found")
	}
	for i, f := range found {
		if got := text[f.Start:f.End]; got != github {
			t.Errorf("it stands at %q", got)
		}
		if len(f.Fingerprint) != 32 || strings.Contains(text, f.Fingerprint) {
			t.Errorf("fingerprint %q", f.Fingerprint)
		}
		if again := b.Scan("again " + github)[i]; again.Fingerprint != f.Fingerprint {
			t.Error("the same secret has another fingerprint elsewhere")
		}
		if again := other.Scan(text)[i]; again.Fingerprint == f.Fingerprint {
			t.Error("another key makes the same fingerprint")
		}
	}
}

// The word that switches the library off does not, as everybody may write it.
func TestAllowCommentIsIgnored(t *testing.T) {
	s := New(Options{})
	if found := s.Scan(github + " # gitleaks:allow"); len(found) == 0 {
		t.Error("gitleaks:allow hides a secret")
	}
}

// A secret that several rules know is one finding, so that one fingerprint lets
// it pass.
func TestOneFindingEach(t *testing.T) {
	s := New(Options{})
	for text, want := range map[string]string{
		"token = " + github:                                                                  "github-pat",
		"GITHUB_TOKEN=" + github + " # a":                                                    "github-pat",
		"AKIA" + "Q3EGVT5KLM2NOP4R":                                                          "aws-access-token",
		"api_key: Kx82mmQ1lPz0q9w8e7r6t5":                                                    "generic-api-key",
		"for the SDK it is sk_" + "live_Kx82mmQ1lPz0q9w8e7r6t5, for now":                     "stripe-access-token",
		"(see pul-" + "0123456789abcdef0f1e2d3c4b5a69788796a5b4) and 令牌在此":                   "pulumi-api-token",
		"令牌pul-" + "f0e1d2c3b4a5968778695a4b3c2d1e0f01234567。":                               "pulumi-api-token",
		"twitter bearer = " + strings.Repeat("A", 22) + github[4:] + github[4:] + "x1y2z3w4": "twitter-bearer-token", // filled up
		"https://hooks.slack.com/services/T0A/B0B/" + github[4:]:                             "slack-webhook-url",
	} {
		if diff := cmp.Diff([]string{want}, rulesOf(s.Scan(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// What stands behind a token in a sentence hides it from no rule, also in
// Chinese, and what is around it stays.
func TestApart(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"key: value, other", "key: value, other"},
		{"a12345678901, b", "a12345678901  b"},
		{"(a12345678901).", "(a12345678901  "},
		{"a12345678901。好b", "a12345678901      b"},
		{"a12345678901,b", "a12345678901,b"},
		{"a12345678901: b", "a12345678901: b"},
		{"abcdefghijkl, b", "abcdefghijkl, b"},
		{"a12345678901**", "a12345678901  "},
	} {
		if got := apart(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

// What a person allowed passes, and is told.
func TestAllowed(t *testing.T) {
	text := "db.password = Tiger#2024x"
	plain := New(Options{Key: []byte("k")})
	found := plain.Scan(text)
	if diff := cmp.Diff([]string{rulePassword}, rulesOf(found)); diff != "" {
		t.Fatal(diff)
	}
	for name, options := range map[string]Options{
		"fingerprint": {Allowed: func(fp string) bool { return fp == found[0].Fingerprint }},
		"value":       {AllowValues: []*regexp.Regexp{regexp.MustCompile(`Tiger|Tiger#\d+x`)}},
		"source":      {AllowSources: []*regexp.Regexp{regexp.MustCompile(`testdata/.*`)}},
	} {
		options.Key = []byte("k")
		s := New(options)
		left, passed := s.ScanFields("testdata/x.md", []Field{{Name: "summary", Text: text}})
		if len(left) != 0 {
			t.Errorf("%s: %v is left", name, left)
		}
		if diff := cmp.Diff([]FieldFinding{{"summary", 0, found[0]}}, passed); diff != "" {
			t.Errorf("%s: told %s", name, diff)
		}
		if left, _ := s.ScanFields("notes/testdata/x.md", []Field{{Name: "summary", Text: "db.password = Tiger#2024xy"}}); len(left) == 0 {
			t.Errorf("%s: lets another secret pass", name)
		}
	}
}

// The fields of a memory are scanned one by one, and a password alone is told by
// the field that announces it.
func TestFields(t *testing.T) {
	s := New(Options{})
	got := func(fields ...Field) (all []string) {
		found, _ := s.ScanFields("", fields)
		for _, f := range found {
			all = append(all, f.Field+" "+f.Rule)
		}
		return all
	}
	text := func(name, text string) Field { return Field{Name: name, Text: text} }
	for _, c := range []struct {
		name   string
		fields []Field
		want   []string
	}{
		{"none", []Field{text("summary", "The password is in the vault."), text("raw_content", "Ask Maria.")}, nil},
		{"body", []Field{text("summary", "deploys"), text("raw_content", "password: Tiger#2024x")}, []string{"raw_content password"}},
		{"key announces", []Field{text("memory_key", "staging/db-password"), text("raw_content", "Tiger#2024x")}, []string{"raw_content password"}},
		{"summary announces", []Field{text("summary", "测试库密码："), text("raw_content", "Tiger#2024x")}, []string{"raw_content password"}},
		{"tag announces", []Field{{Name: "tags", Text: "password", Label: true}, text("raw_content", "Tiger#2024x")}, []string{"raw_content password"}},
		{"a tag alone", []Field{{Name: "tags", Text: "Tiger#2024x", Label: true}, text("summary", "set the password")}, nil},
		{"nothing announces", []Field{text("memory_key", "staging/db"), text("raw_content", "Tiger#2024x")}, nil},
		{"first line", []Field{text("summary", "The admin password is:"), text("raw_content", "Tiger#2024x\nKeep it for the demo.")}, []string{"raw_content password"}},
		{"key alone", []Field{text("summary", "the weather API key:"), text("raw_content", "Kx82mmQ1lPz0q9w8e7r6t5")}, []string{"raw_content token"}},
		{"hash alone", []Field{text("summary", "the token"), text("raw_content", "da39a3ee5e6b4b0d3255bfef95601890afd80709")}, nil},
		{"two tags", []Field{{"tags", github[:20], true}, {"tags", github[20:], true}}, []string{"tags github-pat", "tags github-pat"}},
		{"two tags, turned", []Field{{"tags", github[20:], true}, {"tags", "ci", true}, {"tags", github[:20], true}}, []string{"tags github-pat", "tags github-pat"}},
		{"summary and body", []Field{text("summary", "CI uses "+github[:17]), text("raw_content", github[17:]+" until May")}, []string{"summary github-pat", "raw_content github-pat"}},
		{"body and why", []Field{text("summary", "x"), text("raw_content", "db password: Tiger"), text("why", "#2024x")}, []string{"raw_content password", "why password"}},
		{"address", []Field{text("summary", "postgres://app:s3cr3t"), text("raw_content", "pw9@db1/x")}, []string{"summary url-password", "raw_content url-password"}},
		{"whole in one", []Field{text("summary", "db.password = Tiger#2024x"), text("source", "a.md"), {"tags", "v2", true}}, []string{"summary password"}},
		{"token whole in one", []Field{text("why", "CI uses "+github), text("source", "docs/2024.md"), text("how_to_apply", "42 times")}, []string{"why github-pat"}},
		{"prose in two", []Field{text("summary", "The password policy of v2"), text("raw_content", "Since 2024 it has 12 characters.")}, nil},
		{"names in two", []Field{{"tags", "auth-token-service-2024", true}, {"tags", "payments-v2-2024", true}, text("summary", "rotation of tokens")}, nil},
		{"shas in two", []Field{text("summary", "fixed in da39a3ee5e6b4b0d"), text("raw_content", "3255bfef95601890afd80709 broke it")}, nil},
		{"a word alone", []Field{text("memory_key", "staging/db-password"), text("raw_content", "rotated-in-2024")}, nil},
	} {
		if diff := cmp.Diff(c.want, got(c.fields...)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestRedact(t *testing.T) {
	s := New(Options{})
	wide := strings.NewReplacer("g", "ｇ", "h", "ｈ", "p", "ｐ", "_", "＿").Replace(github)
	for _, c := range []struct{ text, want string }{
		{"nothing here", "nothing here"},
		{"use " + github + ".", "use [redacted:github-pat]."},
		{"密码是Tiger@2024，别外传。", "密码是[redacted:password]，别外传。"},
		{"a " + wide + " b", "a [redacted:github-pat] b"},
		{"db.password = Tiger#2024x # old", "db.password = [redacted:password] # old"},
		{"postgres://app:s3cr3tpw9@db1/x", "postgres://app:[redacted:url-password]@db1/x"},
	} {
		got, _ := s.Clean(c.text)
		if got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
		if left := s.Scan(got); len(left) != 0 {
			t.Errorf("%q still holds %v", got, left)
		}
	}
}

func TestRedactMerges(t *testing.T) {
	text := "0123456789"
	for _, c := range []struct {
		findings []Finding
		want     string
	}{
		{nil, text},
		{[]Finding{{Rule: "a", Start: 2, End: 5}}, "01[redacted:a]56789"},
		{[]Finding{{Rule: "a", Start: 2, End: 5}, {Rule: "b", Start: 4, End: 9}}, "01[redacted:b]9"},
		{[]Finding{{Rule: "b", Start: 6, End: 7}, {Rule: "a", Start: 0, End: 2}}, "[redacted:a]2345[redacted:b]789"},
		{[]Finding{{Rule: "a", Start: 0, End: 10}, {Rule: "b", Start: 1, End: 2}, {Rule: "c", Start: 8, End: 10}}, "[redacted:a]"},
		{[]Finding{{Rule: "a", Start: 0, End: 2}, {Rule: "b", Start: 2, End: 4}}, "[redacted:a][redacted:b]456789"},
	} {
		if got := Redact(text, c.findings); got != c.want {
			t.Errorf("%v: %q, want %q", c.findings, got, c.want)
		}
	}
}

// A secret does not hide in what looks like the mark of a redaction.
func TestMarksHideNothing(t *testing.T) {
	s := New(Options{})
	if found := s.Scan("[redacted:" + "sk-" + "1f2e3d4c5b6a79880716253443526170" + "]"); len(found) == 0 {
		t.Error("a secret in brackets is not seen")
	}
	if found := s.Scan("password: [redacted:github-pat]"); len(found) != 0 {
		t.Errorf("a mark is found: %v", found)
	}
}

// Many scan at once with one Scanner, and all see the same.
func TestConcurrent(t *testing.T) {
	s := New(Options{Key: []byte("k")})
	text := "a " + github + " and password: Tiger#2024x"
	want := s.Scan(text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if diff := cmp.Diff(want, s.Scan(text)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	group.Wait()
}

// Whatever the text, Scan returns places on the bounds of its runes, in order and
// none within another;
// what is cleaned is clean, and stays as it is.
func FuzzScan(f *testing.F) {
	for _, path := range []string{"../testdata/secrets.tsv", "../testdata/harmless.tsv"} {
		for i, s := range samples(f, path) {
			if i%4 == 0 {
				f.Add(s.text)
			}
		}
	}
	for _, unit := range hostile() {
		f.Add(strings.Repeat(unit, 1+300/len(unit)))
	}
	f.Add("a\xffb password:\xff\xfe1234567a")
	f.Add("-----BEGIN PRIVATE KEY-----")
	f.Add("password=[redacted:password]x1y2z3w4")
	f.Add("\\u0070assword: %41%42%43%44" + "\u200b")
	s := New(Options{Key: []byte("k")})
	f.Fuzz(func(t *testing.T, text string) {
		var before Finding
		for _, found := range s.Scan(text) {
			if found.Start < before.Start || found.End <= before.End || found.Start >= found.End || found.End > len(text) {
				t.Fatalf("%+v in %d bytes after %+v", found, len(text), before)
			}
			before = found
			if !utf8.RuneStart(text[found.Start]) && utf8.ValidString(text) || found.End < len(text) && !utf8.RuneStart(text[found.End]) && utf8.ValidString(text) {
				t.Fatalf("%+v is within a rune of %q", found, text)
			}
		}
		clean, _ := s.Clean(text)
		if left := s.Scan(clean); len(left) != 0 {
			t.Fatalf("%v is left in %q of %q", left, clean, text)
		}
		if again, _ := s.Clean(clean); again != clean {
			t.Fatalf("%q becomes %q", clean, again)
		}
	})
}
