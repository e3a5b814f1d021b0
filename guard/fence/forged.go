package fence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bracket reports whether r opens a tag, or looks as if it did.
func bracket(r rune) bool {
	switch r {
	case '<', '＜', '﹤', '‹', '〈', '\u2329', '⟨', '❮', '❰', '˂', 'ᐸ', '«', '《', '≪':
		return true
	}
	return false
}

// unforged is s with each bracket before what could pass for the name of the fence
// as an entity: readable as it was, and no boundary.
func unforged(s string) string {
	var b strings.Builder
	from := 0
	for i, r := range s {
		if !bracket(r) {
			continue
		}
		if end := i + utf8.RuneLen(r); named(s[end:]) {
			b.WriteString(s[from:i] + "&lt;")
			from = end
		}
	}
	if from == 0 {
		return s
	}
	return b.String() + s[from:]
}

// named reports whether s, what follows a bracket, is the name of the fence after
// any white space and slashes.
func named(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unseen(r) || strings.ContainsRune(`/\⁄∕／⧸`, r) })
	rest := Name
	for _, r := range s {
		if unseen(r) {
			continue
		}
		for _, like := range likeness(r) {
			if unseen(like) {
				continue
			}
			if like != rune(rest[0]) {
				return false
			}
			if rest = rest[1:]; rest == "" {
				return true
			}
		}
	}
	return false
}

// unseen reports whether r changes no letter beside it into another.
func unseen(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) || ignorable(r) }

// lookalikes are letters of other alphabets that are drawn as those of Name.
var lookalikes = strings.NewReplacer(
	"м", "m", "ᴍ", "m", "е", "e", "ҽ", "e", "℮", "e", "ᴇ", "e", "ԁ", "d", "ᴅ", "d", "о", "o", "ο", "o", "օ", "o", "ᴏ", "o", "0", "o",
	"г", "r", "ʀ", "r", "і", "i", "ι", "i", "ı", "i", "ɪ", "i", "ӏ", "i", "1", "i", "ѕ", "s", "ꜱ", "s", "5", "s",
)

// likeness is r as a reader takes it, in small Latin letters where it looks like
// them, and - for what joins words.
func likeness(r rune) string {
	switch {
	case 'a' <= r && r <= 'z':
		return string(r)
	case unicode.Is(unicode.Dash, r), r == '_', unicode.IsSpace(r):
		return "-"
	}
	return lookalikes.Replace(strings.ToLower(norm.NFKD.String(string(r))))
}
