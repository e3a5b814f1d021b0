package reading

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func marks(text string) int {
	if strings.HasPrefix(text, "[x]") {
		return 3
	}
	return 0
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text, between, want string
		invisible           bool
	}{
		{"", "", "", false},
		{"plain [y]", "", "plain [y]", false},
		{"ｐａｓｓ：１", "", "pass:1", false},
		{"密码，是", "", "密码,是", false},
		{"𝐩𝐚𝐬𝐬 ㎏ ﬁ", "", "pass kg fi", false},
		{"a\u200bb\u00adc\ufeffd", "", "abcd", true},
		{"a\u200bb", " ", "a b", true},
		{"a[x]b", "", "a\uFFFCb", false},
		{"a\xffb[x]", "", "a\xffb\uFFFC", false},
		{"👩\u200d🔧", "", "👩🔧", true},
	} {
		folded, invisible := Fold(c.text, c.between, marks)
		if folded.S != c.want || invisible != c.invisible {
			t.Errorf("%q becomes %q, invisible %v", c.text, folded.S, invisible)
		}
	}
}

// Every byte of what is read knows the runes that it was made of.
func TestOriginal(t *testing.T) {
	text := "密ｐ\u200b㎏ z"
	folded, _ := Fold(text, "", marks)
	for _, c := range []struct{ find, want string }{
		{"密", "密"}, {"p", "ｐ"}, {"pk", "ｐ\u200b㎏"}, {"k", "㎏"}, {"g", "㎏"}, {" z", " z"}, {folded.S, text},
	} {
		i := strings.Index(folded.S, c.find)
		start, end, ok := folded.Original(i, i+len(c.find))
		if !ok || text[start:end] != c.want {
			t.Errorf("%q is of %q, want %q", c.find, text[start:end], c.want)
		}
	}
	if _, _, ok := folded.Original(1, 1); ok {
		t.Error("an empty range is of something")
	}
	// Of a text as it was given, a range is widened to whole runes.
	given := Text{S: "a密b"}
	if start, end, ok := given.Original(2, 3); !ok || start != 1 || end != 4 {
		t.Errorf("%d to %d, %v", start, end, ok)
	}
}

func TestBuilder(t *testing.T) {
	text := "１２ab\n３"
	folded, _ := Fold(text, "", marks)
	for _, of := range []Text{folded, {S: text}} {
		b := Builder{Of: of}
		last := strings.LastIndex(of.S, "\n") + 1
		b.Keep(0, last-1)
		b.Put("!", last-1, last)
		b.Keep(last, len(of.S))
		if b.Len() != len(of.S) {
			t.Errorf("%d bytes", b.Len())
		}
		made := b.Text()
		type piece struct{ Made, Given string }
		var got []piece
		for i, r := range made.S {
			start, end, _ := made.Original(i, i+utf8.RuneLen(r))
			got = append(got, piece{string(r), text[start:end]})
		}
		var want []piece
		for _, r := range strings.ReplaceAll(of.S, "\n", "!") {
			want = append(want, piece{Made: string(r)})
		}
		for i, r := range []rune(text) {
			want[i].Given = string(r)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
