package dates

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sort is what a token is.
type sort uint8

const (
	word   sort = iota // letters of ASCII, with what follows an apostrophe
	number             // digits alone
	han                // one Chinese character
	mark               // one of punctuation
	date               // what is or ends a date by itself: 2026-12-03, 12/3, 4th
	opaque             // code, an address, an identifier, a compound
	stop               // the end of a sentence
)

// token is a piece of a text. White space and the dates in brackets are none: texts
// with and without them have the same tokens.
type token struct {
	lower    string // a word without what follows its apostrophe; a Chinese character in its plain form; else the text
	from, to int32  // bytes of the text
	dated    int32  // how long the date in brackets is that follows it, with the space before it; 0 for none
	sort     sort
	tail     tail
	upper    bool // of a word, it begins with a capital
	first    bool // it is the first of its line
	option   bool // of what is opaque, it is an option of a command: --since, -d
	glued    bool // it follows the token before without white space, date or line between
}

// date is the date in brackets that follows a token of a text, with the space before it.
func (t token) date(text string) string { return text[t.to : t.to+t.dated] }

// tail is what follows the apostrophe of a word.
type tail uint8

const (
	bare tail = iota
	possessive
	will
	other
)

// reader makes the tokens of a text, in one pass over it.
type reader struct {
	text   string
	at     int
	tokens []token
	end    int  // of the last token, where the next one would be glued
	line   bool // no token of the line has been read
	begun  int  // where the line begins
	noHTML bool // no comment ends behind here
}

// tokensOf reads a text.
func tokensOf(text string) []token {
	r := reader{text: text, line: true, end: -1, tokens: make([]token, 0, len(text)/4+8)}
	for r.at < len(text) {
		if r.at == r.begun && r.wholeLine() {
			continue
		}
		r.next()
	}
	return r.tokens
}

// put appends a token that ends at a byte of the text, and goes on behind it.
func (r *reader) put(t token, to int) {
	t.from, t.to = int32(r.at), int32(to)
	t.first, t.glued = r.line, r.at == r.end
	if t.sort == mark {
		t.lower = r.text[r.at:to]
	}
	r.tokens = append(r.tokens, t)
	r.line, r.at, r.end = false, to, to
}

// wholeLine takes a line that is no prose: a fenced block, or a quotation, whose
// words were said at another time.
func (r *reader) wholeLine() bool {
	line := r.lineAt(r.at)
	trimmed := strings.TrimLeft(line, " \t")
	fence := fenceOf(trimmed)
	switch {
	case fence != "":
		from := r.at
		r.at += len(line)
		for r.at < len(r.text) {
			next := r.lineAt(r.at)
			r.at += len(next)
			if closes(next, fence) {
				break
			}
		}
		r.opaque(from)
	case strings.HasPrefix(trimmed, ">"):
		from := r.at
		r.at += len(line)
		r.opaque(from)
	default:
		return false
	}
	return true
}

// opaque puts what was read since from, as whole lines.
func (r *reader) opaque(from int) {
	r.line = true
	to := r.at
	r.at = from
	r.put(token{sort: opaque}, to)
	r.put(token{sort: stop}, to)
	r.line, r.begun = true, r.at
}

// lineAt is the rest of a line, with its end.
func (r *reader) lineAt(at int) string {
	if end := strings.IndexByte(r.text[at:], '\n'); end >= 0 {
		return r.text[at : at+end+1]
	}
	return r.text[at:]
}

// fenceOf is the mark that opens a block of code on a line, "" for none.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// next reads one token, or what is none.
func (r *reader) next() {
	c, size := utf8.DecodeRuneInString(r.text[r.at:])
	switch {
	case c == '\n':
		r.newline()
	case unicode.IsSpace(c):
		r.at += size
	case c == '`':
		r.code()
	case c == '<' && r.comment():
	case c == '(' || c == '（':
		if !r.bracket() {
			r.put(token{sort: mark}, r.at+size)
		}
	case isHan(c):
		r.put(token{sort: han, lower: plain(r.text[r.at : r.at+size])}, r.at+size)
	case strings.ContainsRune("。！？；", c):
		r.put(token{sort: stop}, r.at+size)
	case c >= utf8.RuneSelf && !unicode.IsLetter(c) && !unicode.IsNumber(c):
		r.put(token{sort: mark}, r.at+size)
	default:
		r.chunk()
	}
}

// newline ends a sentence where a paragraph ends, or the next line is an item, a
// heading or a row of its own.
func (r *reader) newline() {
	r.at++
	r.line, r.begun = true, r.at
	next := strings.TrimLeft(r.lineAt(r.at), " \t")
	if len(r.tokens) == 0 {
		return
	}
	if c, _ := utf8.DecodeRuneInString(next); c == utf8.RuneError || strings.ContainsRune("\r\n-*+#|•", c) || c >= '0' && c <= '9' || isHan(c) {
		if r.tokens[len(r.tokens)-1].sort != stop {
			r.put(token{sort: stop}, r.at)
			r.line = true
		}
	}
}

// code takes what stands between backticks on a line, or all behind one that is not
// closed there.
func (r *reader) code() {
	inner := strings.TrimLeft(r.text[r.at:], "`")
	opening := len(r.text) - r.at - len(inner)
	end := strings.IndexAny(inner, "`\n")
	switch {
	case end < 0:
		end = len(inner)
	case inner[end] == '`':
		end = len(inner) - len(strings.TrimLeft(inner[end:], "`"))
	}
	r.put(token{sort: opaque}, r.at+opening+end)
}

// comment takes a comment of HTML, in which a note keeps its name.
func (r *reader) comment() bool {
	if r.noHTML || !strings.HasPrefix(r.text[r.at:], "<!--") {
		return false
	}
	end := strings.Index(r.text[r.at:], "-->")
	if end < 0 {
		r.noHTML = true
		return false
	}
	r.put(token{sort: opaque}, r.at+end+len("-->"))
	return true
}

// bracket takes a date in brackets, which stands beside the token before it.
func (r *reader) bracket() bool {
	n := bracketed(r.text[r.at:])
	if n == 0 || len(r.tokens) == 0 || r.line {
		return false
	}
	last := &r.tokens[len(r.tokens)-1]
	from := r.at
	if from > int(last.to) && r.text[from-1] == ' ' {
		from--
	}
	if last.dated == 0 && from == int(last.to) {
		last.dated = int32(r.at + n - from)
	}
	r.at += n
	if from == r.end { // what comes next is as near as it was without
		r.end = r.at
	}
	return true
}

// chunk takes what stands between white space, Chinese characters and their
// punctuation, and tells words from identifiers, addresses and numbers.
func (r *reader) chunk() {
	end := r.at
	for end < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[end:])
		if unicode.IsSpace(c) || c == '`' || isHan(c) || c >= utf8.RuneSelf && c != '’' && !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			break
		}
		end += size
	}
	const before, after = `"'([{*~`, `.,;:!?"')]}*~`
	for r.at < end && strings.IndexByte(before, r.text[r.at]) >= 0 {
		if n := bracketed(r.text[r.at:end]); n > 0 && r.bracket() {
			continue
		}
		r.put(token{sort: mark}, r.at+1)
	}
	core := strings.TrimRight(r.text[r.at:end], after)
	if cut := strings.Index(core, "("); cut > 0 && bracketed(core[cut:]+")") > 0 {
		core = core[:cut] // a date without a space before it
	}
	if core != "" {
		r.put(classed(core), r.at+len(core))
	}
	for r.at < end {
		if r.text[r.at] == '(' {
			return // next knows brackets
		}
		s := mark
		if strings.IndexByte(".!?;", r.text[r.at]) >= 0 {
			s = stop
		}
		r.put(token{sort: s}, r.at+1)
	}
}

// classed is the token of what stands between white space.
func classed(core string) token {
	t := token{sort: opaque}
	letters, digits := 0, 0
	for letters < len(core) && isLetter(core[letters]) {
		letters++
	}
	for digits < len(core) && core[digits] >= '0' && core[digits] <= '9' {
		digits++
	}
	rest := core[max(letters, digits):]
	switch {
	case len(core) > 64:
	case letters > 0:
		tail := strings.TrimPrefix(strings.TrimPrefix(rest, "'"), "’")
		if rest != "" && (tail == rest || len(tail) > 2 || !isLetters(tail)) {
			return t
		}
		t.sort, t.lower, t.tail = word, strings.ToLower(core[:letters]), tailOf(tail)
		t.upper = core[0] < 'a'
	case digits == 0:
		name := strings.TrimLeft(core, "-")
		t.option = name != core && name != "" && isLetter(name[0])
		if core == "." || core == "!" || core == "?" {
			t.sort = stop
		} else if len(core) == 1 {
			t.sort = mark
		}
	case rest == "":
		t.sort, t.lower = number, core
	case rest == "st", rest == "nd", rest == "rd", rest == "th", isNumeric(rest):
		t.sort = date
	}
	return t
}

func tailOf(text string) tail {
	switch strings.ToLower(text) {
	case "":
		return bare
	case "s":
		return possessive
	case "ll":
		return will
	}
	return other
}

// isNumeric reports whether what follows digits makes a date, or a range, of them.
func isNumeric(rest string) bool {
	digits := 0
	for i := range len(rest) {
		c := rest[i]
		if c >= '0' && c <= '9' {
			digits++
		} else if c != '-' && c != '/' && c != '.' {
			return false
		}
	}
	return digits > 0 && len(rest) <= 8
}

func isLetters(text string) bool {
	for i := range len(text) {
		if !isLetter(text[i]) {
			return false
		}
	}
	return text != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHan(c rune) bool { return c >= 0x3400 && c <= 0x9fff }

// plain is a Chinese character of a time in its simplified form, any other as it is.
func plain(c string) string {
	switch c {
	case "週":
		return "周"
	case "後":
		return "后"
	case "禮":
		return "礼"
	case "拜":
		return "拜"
	case "個":
		return "个"
	case "這":
		return "这"
	case "兩":
		return "两"
	case "過":
		return "过"
	case "將":
		return "将"
	case "會":
		return "会"
	}
	return c
}
