package terms

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzQuery(f *testing.F) {
	for _, text := range agreeTexts {
		f.Add(text, agreeTexts[0])
	}
	x := newIndex(f)
	f.Fuzz(func(t *testing.T, query, text string) {
		x.t = t
		terms := Query(query, 64)
		if len(terms) > 64 {
			t.Fatalf("%d terms", len(terms))
		}
		seen := map[string]bool{}
		for _, term := range terms {
			if term.Text == "" || seen[term.Text] || !utf8.ValidString(term.Match) {
				t.Fatalf("bad term %+v", term)
			}
			seen[term.Text] = true
		}
		checkAgreement(t, x, text, query, text)
	})
}

func FuzzSegment(f *testing.F) {
	for _, text := range agreeTexts {
		f.Add(text)
	}
	x := newIndex(f)
	f.Fuzz(func(t *testing.T, text string) {
		x.t = t
		seg := Segment(text)
		if !utf8.ValidString(seg) {
			t.Fatalf("seg %q", seg)
		}
		tokens := strings.Fields(seg)
		for i, token := range tokens {
			if len(token) > maxToken {
				t.Errorf("token of %d bytes", len(token))
			}
			tokens[i] = string(stem([]byte(token)))
		}
		// Each seg token is one token to FTS5 too.
		if made := x.tokens(seg); strings.Join(made, " ") != strings.Join(tokens, " ") {
			t.Errorf("seg %q is to FTS5 %q", seg, made)
		}
		checkAgreement(t, x, text, text)
		Fold(text)
	})
}
