package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd/guard/reading"
)

// decoded is the lines of v that hold encoded text, with that decoded in its
// place. It is false where nothing is.
func (v view) decoded() (view, bool) {
	b := reading.Builder{Of: v.Text}
	kept := 0 // up to where v was copied
	for at := 0; at < len(v.S); {
		start, end, plainText := nextEncoded(v.S, at)
		if start < 0 {
			break
		}
		at = end
		line := kept + strings.LastIndexByte(v.S[kept:start], '\n') + 1
		b.Keep(line, start)
		b.Put(plainText, start, end)
		kept = end
	}
	if kept == 0 {
		return view{}, false
	}
	rest := strings.IndexByte(v.S[kept:], '\n')
	if rest < 0 {
		rest = len(v.S) - kept
	}
	b.Keep(kept, kept+rest)
	return view{b.Text()}, true
}

// nextEncoded finds the next run from at on that decodes to readable text;
// start is -1 without one.
func nextEncoded(text string, at int) (start, end int, decoded string) {
	for at < len(text) {
		c := text[at]
		if c == '&' {
			if n, s := entity(text[at:]); s != "" {
				return at, at + n, s
			}
			at++
			continue
		}
		if c == '%' || c == '\\' {
			read := percent
			if c == '\\' {
				read = escapes
			}
			n, s := read(text[at:])
			if s != "" {
				return at, at + n, s
			}
			at += max(n, 1)
			continue
		}
		if !inBase64(c) {
			at++
			continue
		}
		end := at
		for end < len(text) && inBase64(text[end]) {
			end++
		}
		bare := end
		for end < len(text) && end < bare+2 && text[end] == '=' {
			end++
		}
		if bare-at >= 16 {
			if s := decode(text[at:bare]); s != "" {
				return at, end, s
			}
		}
		at = end
	}
	return -1, 0, ""
}

func inBase64(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '/' || c == '_' || c == '-'
}

// decode reads a run without its padding, "" where it is no readable text.
func decode(run string) string {
	if !strings.ContainsAny(run, "0123456789+/_-") {
		return ""
	}
	for _, from := range []func(string) ([]byte, error){
		hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if plain, err := from(run); err == nil && readable(plain) {
			return string(plain)
		}
	}
	return ""
}

func readable(text []byte) bool {
	return utf8.Valid(text) && !slices.ContainsFunc([]rune(string(text)), func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\n' && r != '\r' && r != '\t'
	})
}

// percent reads a run of percent encoding with what stands between in one word,
// and returns its length, also where it is no readable text.
func percent(text string) (n int, decoded string) {
	var b []byte
	for n < len(text) {
		if inToken(text[n]) {
			b = append(b, text[n])
			n++
			continue
		}
		if text[n] != '%' || n+2 >= len(text) {
			break
		}
		one, err := hex.DecodeString(text[n+1 : n+3])
		if err != nil {
			break
		}
		b = append(b, one...)
		n += 3
	}
	if !readable(b) {
		return n, ""
	}
	return n, string(b)
}

// maxEntity is how long a character reference is at most, in bytes.
const maxEntity = 10

// entity reads a character reference of HTML, such as &#64; and &amp;, and
// returns its length; decoded is "" where it is none.
func entity(text string) (n int, decoded string) {
	end := strings.IndexByte(text[:min(len(text), maxEntity)], ';')
	if end < 3 {
		return 0, ""
	}
	decoded = html.UnescapeString(text[:end+1])
	if r, size := utf8.DecodeRuneInString(decoded); size != len(decoded) || r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' {
		return 0, ""
	} else if unicode.IsSpace(r) && r != '\n' {
		decoded = " "
	}
	return end + 1, decoded
}

// escapes reads a run of \uXXXX, as JSON has it, or of \xXX, and returns its
// length, also where it is no readable text.
func escapes(text string) (n int, decoded string) {
	var b strings.Builder
	for n+6 <= len(text) && text[n] == '\\' && text[n+1] == 'u' {
		two, err := hex.DecodeString(text[n+2 : n+6])
		if err != nil {
			break
		}
		b.WriteRune(rune(two[0])<<8 | rune(two[1]))
		n += 6
	}
	for n+4 <= len(text) && text[n] == '\\' && text[n+1] == 'x' {
		one, err := hex.DecodeString(text[n+2 : n+4])
		if err != nil {
			break
		}
		b.WriteByte(one[0])
		n += 4
	}
	if !readable([]byte(b.String())) {
		return n, ""
	}
	return n, b.String()
}
