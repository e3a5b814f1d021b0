package fence

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const quoted = `^([` + marks + `]*)`

// Forms of the lines that memd gives out. An entry of a long-term memory has source
// and date, one without a key its id; what the command line prints is in cmd/memd.
var (
	entryHead = regexp.MustCompile(quoted + `- \[` + kinds + `\] (?:` +
		`\S+ \(source .+; verified \d{4}-\d\d-\d\d(?:; (?:saved yesterday|This memory is \d+ days old))?(?:; STALE: [a-z_]*)?\)|` +
		uuid + `(?: \(.*\))?)[ \t]*$`)
	looseHead = regexp.MustCompile(quoted + `- \[[a-z]+\] \S+(?: \(.*\))?[ \t]*$`) // within a fence
	cutHead   = regexp.MustCompile(`^- \[[a-z]*(?:\] ?\S*(?: \((?:s|v|T|S).*)?)?$`)
	heading   = regexp.MustCompile(`^[ \t>*/|]*## (?:Rules and preferences|Known|Recent|This session)[ \t]*$`) // those of package recall
	manifest  = regexp.MustCompile(quoted + `\[` + kinds + `\] \S+ \((?:today|1 day|\d+ days)\): `)

	hitHead  = regexp.MustCompile(quoted + `\d+\. .+  \[` + tierNames + ` ` + kinds + `, [^\]]+\]`)
	listRow  = regexp.MustCompile(quoted + `(?:ID +TIER +KIND +KEY |` + uuid + ` +` + tierNames + ` +` + kinds + ` |more: --cursor \S+$)`)
	cardID   = regexp.MustCompile(quoted + `id {2,}` + uuid + `$`)
	cardRow  = regexp.MustCompile(quoted + `(?:tier|namespace|kind|version|importance|tags|source|verified|owner|access|session|agent|age|created|updated|accessed|expires|resolved) {2,}\S`)
	cardPart = regexp.MustCompile(quoted + `(?:summary|why|how to apply|raw content)$`)
)

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "", `\t`, "\t", `\"`, `"`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// plainly is text as it was before a client escaped, styled or widened it.
func plainly(text string) string {
	const rounds = 3
	for range rounds {
		if strings.Contains(text, "\n") || !strings.Contains(text, `\n`) && !strings.Contains(text, `\u003c`) {
			break
		}
		text = unescape.Replace(text)
	}
	if strings.Contains(text, "&lt;") || strings.Contains(text, "&#") || strings.Contains(text, "&quot;") {
		text = html.UnescapeString(text)
	}
	if plainASCII(text) {
		return text
	}
	return readable(strings.Map(func(r rune) rune {
		switch {
		case ignorable(r):
			return -1
		case unicode.Is(unicode.Dash, r):
			return '-'
		}
		return r
	}, norm.NFKC.String(text)))
}

// reader goes through the lines of one text.
type reader struct {
	lines  []string
	out    []line
	at     int
	within bool // a fence
}

// classify says of each line of a text what it is, up to the first that is own.
func classify(text string) []line {
	if !mayBeMade(text) { // beside another text
		return []line{{ofWords(text), 0}}
	}
	parts := strings.Split(signedWhole(signedJSON(readable(text))), whole)
	for i, part := range parts {
		parts[i] = signed(plainly(part))
	}
	joined := beforeSign.ReplaceAllString(strings.Join(parts, whole), "$1$2") // in one line with it
	r := reader{lines: strings.Split(joined, "\n")}
	r.orphans()
	for r.at < len(r.lines) && !r.ownFound() {
		r.next(r.lines[r.at])
	}
	return r.out
}

// ownFound reports whether the last line is own. The title of what memd get prints
// is known by the line after it.
func (r *reader) ownFound() bool {
	last := len(r.out) - 1
	return last >= 0 && r.out[last].class == own && !cardID.MatchString(r.lines[r.at])
}

func (r *reader) next(s string) {
	// A look at the first sign of a line spares most of them the patterns.
	text := strings.TrimLeft(s, marks)
	sign := ' '
	if text != "" {
		sign = rune(text[0])
	}
	switch {
	case sign == '-' && r.head(s) != nil:
		r.take(1)
		r.body(r.head(s)[1], 2)
	case '0' <= sign && sign <= '9' && hitHead.MatchString(s):
		r.take(1)
		r.body(hitHead.FindStringSubmatch(s)[1], 3)
	case sign == 'i' && cardID.MatchString(s):
		r.card(cardID.FindStringSubmatch(s)[1])
	case sign == '[' && manifest.MatchString(s), strings.ContainsRune("0123456789abcdefIm", sign) && listRow.MatchString(s):
		r.take(1)
	case heading.MatchString(s): // which is no memory
		r.out = append(r.out, line{memds, 0})
		r.at++
	default:
		r.within = (r.within || strings.Contains(s, opened)) && !strings.Contains(s, closed)
		r.other(strings.TrimRight(text, " \t"))
	}
}

// take says that the next n lines are memd's.
func (r *reader) take(n int) {
	r.out = append(r.out, line{memds, n})
	r.at += n
}

func (r *reader) head(s string) []string {
	if m := entryHead.FindStringSubmatch(s); m != nil || !r.within {
		return m
	}
	return looseHead.FindStringSubmatch(s)
}

// isBody reports whether s stands columns in behind what is before each line.
func isBody(s, before string, columns int) bool {
	rest, ok := strings.CutPrefix(s, before)
	return ok && (strings.HasPrefix(rest, strings.Repeat(" ", columns)) || strings.HasPrefix(rest, "\t"))
}

// body takes the lines below a head, with blank ones between them.
func (r *reader) body(before string, columns int) {
	n := 0
	for i, s := range r.lines[r.at:] {
		if isBody(s, before, columns) {
			n = i + 1
		} else if strings.Trim(s, marks) != "" {
			break
		}
	}
	if n > 0 {
		r.take(n)
	}
}

// card takes what memd get prints from the id on; the line before it is the title.
func (r *reader) card(before string) {
	if last := len(r.out) - 1; last >= 0 && r.out[last].class == own {
		r.out[last] = line{memds, 1}
	}
	r.take(1)
	for r.at < len(r.lines) {
		switch s := r.lines[r.at]; {
		case cardRow.MatchString(s):
			r.take(1)
		case cardPart.MatchString(s):
			r.take(1)
			r.body(before, 2)
		case strings.Trim(s, marks) == "":
			r.at++
		default:
			return
		}
	}
}

// orphans takes what stands at the beginning as the rest of an entry whose head was
// cut off: the next head, a heading or the end of a fence stands below it.
func (r *reader) orphans() {
	at := slices.IndexFunc(r.lines, func(s string) bool {
		return strings.Contains(s, "- [") && entryHead.MatchString(s) || heading.MatchString(s) || strings.Contains(s, closed)
	})
	if at <= 0 || strings.Trim(r.lines[0], marks) == "" {
		return
	}
	next := r.lines[at]
	before := next[:len(next)-len(strings.TrimLeft(next, marks))]
	if heading.MatchString(next) {
		before = next[:strings.Index(next, "##")]
	}
	for _, s := range r.lines[:at] {
		if !isBody(s, before, 2) && strings.Trim(s, marks) != "" {
			return
		}
	}
	r.take(at)
}

// other adds a line, without what stands before it, that has no form of its own.
func (r *reader) other(s string) {
	first, last := r.at == 0, r.at == len(r.lines)-1
	r.at++
	rest := strings.Trim(s, signs+" \t.…")
	switch {
	case strings.HasPrefix(s, "```"), strings.HasPrefix(s, "~~~"):
		r.out = append(r.out, line{})
		return
	case rest == "" && s != "",
		first && isCut(s, strings.HasSuffix, Open(noID), claim), last && isCut(s, strings.HasPrefix, Close(noID), claim),
		last && len(r.out) > 0 && cutHead.MatchString(s):
		r.out = append(r.out, line{memds, max(1, countSigns(s))})
		return
	}
	class := ofWords(s)
	r.out = append(r.out, line{class, 0})
	if n := countSigns(s); n > 0 && class != own {
		r.out = append(r.out, line{memds, n})
	}
}

// countSigns is how many lines the signs in s stand for.
func countSigns(s string) (n int) {
	for _, r := range s {
		if strings.ContainsRune(signs, r) {
			n++
		}
	}
	return n + strings.Count(s, whole)
}

var cutID = regexp.MustCompile(`(^|id=")[0-9a-f]{1,16}("?>?)$`)

// isCut reports whether s is what is left of one of the lines around a fence after a
// cut through it.
func isCut(s string, part func(s, part string) bool, boundary, sentence string) bool {
	const least = 8 // of a sentence
	if len(s) > len(sentence) {
		return false
	}
	if len(s) >= least && part(sentence, s) {
		return true
	}
	m := cutID.FindStringSubmatchIndex(s)
	if m != nil { // which id does not matter
		s = s[:m[3]] + noID[:m[4]-m[3]] + s[m[4]:]
	}
	return s != "" && part(boundary, s)
}
