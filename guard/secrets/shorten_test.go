package secrets

import "testing"

// Marks lose their rule; what only looks like one stays, and nothing new is found.
func TestShorten(t *testing.T) {
	s := New(Options{Key: []byte("k")})
	for in, want := range map[string]string{
		"":                                  "",
		"no mark [redacted] here":           "no mark [redacted] here",
		"a [redacted:github-pat] b":         "a [redacted] b",
		"[redacted:card][redacted:email]":   "[redacted][redacted]",
		"password = [redacted:password]":    "password = [redacted]",
		"[redacted:no-rule] [redacted:iban": "[redacted:no-rule] [redacted:iban",
		"postgres://app:[redacted:url-password]@db1/shop": "postgres://app:[redacted]@db1/shop",
	} {
		got := Shorten(in)
		if got != want || Shorten(got) != got {
			t.Errorf("%q becomes %q", in, got)
		}
		if found := s.Scan(got); len(found) > 0 {
			t.Errorf("%q is found by %s", got, found[0].Rule)
		}
	}
}
