package secrets

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memd/guard/reading"
)

// Field is a part of a memory that is scanned.
type Field struct {
	Name string
	Text string
	// Label marks a key, a tag or a name: it may announce a password, and is none
	// for standing alone.
	Label bool
}

// FieldFinding is a Finding in a field.
type FieldFinding struct {
	Field string
	Index int // of the field
	Finding
}

// ScanFields scans the fields of one memory, in their order, and returns what it
// found and, apart from that, what an allow-list let pass: all of it where the
// memory's source passes. Fields are also read together: a password or a key that
// stands alone in a field, or in its first line, is found where another field ends
// in a word that announces it, and what begins at the end of one field and goes on
// at the begin of another is found in both.
func (s *Scanner) ScanFields(source string, fields []Field) (found, passed []FieldFinding) {
	passes := source != "" && matchesAny(s.options.AllowSources, source)
	by := make([][]candidate, len(fields))
	for i, field := range fields {
		by[i] = s.candidates(field.Text)
	}
	s.announced(fields, by)
	s.parted(fields, by)
	for i, field := range fields {
		for _, c := range by[i] {
			if passes || s.passes(c) {
				passed = append(passed, FieldFinding{field.Name, i, c.Finding})
			} else {
				found = append(found, FieldFinding{field.Name, i, c.Finding})
			}
		}
	}
	return found, passed
}

// announced adds what stands alone in a field and another announces.
func (s *Scanner) announced(fields []Field, by [][]candidate) {
	password, token := endsIn(fields, passwordWords()), endsIn(fields, tokenWords())
	for i, field := range fields {
		if field.Label || len(by[i]) > 0 || !password && !token {
			continue
		}
		if c, ok := s.alone(field.Text, password, token); ok {
			by[i] = append(by[i], c)
		}
	}
}

func tokenWords() []string {
	return []string{"token", "secret", "api key", "api-key", "api_key", "apikey", "access key", "access-key", "secret key", "secret-key", "credential", "credentials", "令牌", "密钥", "秘钥", "授权码", "凭证", "凭据"}
}

// endsIn reports whether a field ends in one of words.
func endsIn(fields []Field, words []string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool {
		text := strings.TrimRight(f.Text, " \t\r\n.:：=＝?是为")
		text = strings.ToLower(text[max(0, len(text)-40):])
		text = strings.TrimSuffix(strings.TrimSuffix(text, " is"), " to")
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(text, word) })
	})
}

// alone finds a password or a key that is all that a text, or its first line, is.
func (s *Scanner) alone(text string, password, token bool) (candidate, bool) {
	value, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	value = strings.Trim(value, " \t\r\"'`")
	if !utf8.ValidString(value) || strings.ContainsAny(value, " \t") {
		return candidate{}, false
	}
	rule := rulePassword
	if !password || !looksChosen(value) {
		rule = ruleToken
		if !token || len(value) < 16 || !strongToken(value) || uuid.MatchString(value) || isHash(value) {
			return candidate{}, false
		}
	}
	start := strings.Index(text, value)
	return s.candidate(view{reading.Text{S: text}}, hit{rule, start, start + len(value)})
}

// How much of two fields is read together, in bytes.
const (
	maxEnd   = 160 // of the first
	maxBegin = 400 // of the second
)

// maxFields is how many fields are read together two by two.
const maxFields = 48

// parted adds what begins in one field and ends in another. Whatever their order,
// the end of each is read with the begin of each other, where the two could be
// parts of a secret.
func (s *Scanner) parted(fields []Field, by [][]candidate) {
	fields = fields[:min(len(fields), maxFields)]
	for i := range fields {
		for j := range fields {
			if i != j {
				s.joint(fields, by, i, j)
			}
		}
	}
}

// joint looks at the end of field i and the begin of field j as at one text.
func (s *Scanner) joint(fields []Field, by [][]candidate, i, j int) {
	end := strings.TrimRight(fields[i].Text, " \t\r\n\"'`+\\")
	from := len(end) - min(len(end), maxEnd)
	begin := strings.TrimLeft(fields[j].Text, " \t\r\n\"'`+")
	to := len(fields[j].Text) - len(begin)
	begin = begin[:min(len(begin), maxBegin)]
	for from < len(end) && !utf8.RuneStart(end[from]) {
		from++
	}
	end = end[from:]
	if !couldJoin(end, begin) {
		return
	}
	for _, c := range s.candidates(end + begin) {
		if c.Start >= len(end) || c.End <= len(end) {
			continue // in one of the two
		}
		first, second := c, c
		first.Start, first.End = from+c.Start, from+len(end)
		second.Start, second.End = to, to+c.End-len(end)
		if covers(by[i], first) || covers(by[j], second) {
			continue // it is whole in one, and the other is no part of it
		}
		by[i] = add(by[i], first)
		by[j] = add(by[j], second)
	}
}

// covers reports whether one of all covers c.
func covers(all []candidate, c candidate) bool {
	return slices.ContainsFunc(all, func(other candidate) bool { return other.Start <= c.Start && other.End >= c.End })
}

// couldJoin reports whether the words at the seam of two texts could be the parts
// of one secret: short ones that tell nothing, or two of prose, are not looked at.
func couldJoin(end, begin string) bool {
	left, right := wordStart(end, len(end)), wordEnd(begin, 0)
	head, tail := end[left:], begin[:right]
	if worthJoining(head, tail) {
		return true
	}
	// A chosen password has signs that tokens have not, and a word before it.
	if i := strings.LastIndexAny(end, " \t\n"); i >= 0 {
		head = end[i+1:]
	} else {
		head = end
	}
	if i := strings.IndexAny(begin, " \t\n"); i >= 0 {
		tail = begin[:i]
	} else {
		tail = begin
	}
	if len(head)+len(tail) < 8 || !contains(tail, isDigit) && !strings.ContainsAny(tail, signs) || nameLike(tail) && !contains(head, isDigit) && !strings.ContainsAny(head, signs) {
		return false
	}
	said := strings.ToLower(end)
	return slices.ContainsFunc(passwordWords(), func(w string) bool { return strings.Contains(said, w) }) || strings.Contains(said, "://")
}

// add puts a candidate in its place among those of a field, unless one of them
// covers it.
func add(all []candidate, c candidate) []candidate {
	if covers(all, c) {
		return all
	}
	at := 0
	for at < len(all) && all[at].Start <= c.Start {
		at++
	}
	all = slices.Insert(all, at, c)
	return slices.DeleteFunc(all, func(other candidate) bool {
		return other != c && other.Start >= c.Start && other.End <= c.End
	})
}
