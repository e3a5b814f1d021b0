package transcript

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"memd"
	"memd/exchange/importers"
)

// turn begins what somebody says: a time, if there is one, and a role, as a heading, in
// bold or bare, with a colon behind it.
var turn = regexp.MustCompile(`^\s*(?:[-*>]\s+)?(#{1,6}\s+)?(?:[\[(]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)[\])]?\s*[-–—:]?\s*)?(\*\*|__)?\s*(` + roles + `)\s*(?:[\[(](\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)[\])])?\s*(?:([:：])\s*(?:\*\*|__)?|(?:\*\*|__)\s*([:：])|((?:\*\*|__)?\s*$))\s*(.*)$`)

// roles are the words before a colon that begin a turn. Those of turns that are left out
// must be marked as such, as a heading or in bold, and so must a word without a colon:
// else it may be part of what was said.
const roles = `(?i:user|human|me|you|assistant|ai|bot|claude|chatgpt|gemini|copilot|system|tool)|用户|我|人类|助手|助理|系统|工具`

// plain reads text. What stands before the first turn is nobody's.
func (x *exchanges) plain(r io.Reader) {
	lines := importers.NewLines(r)
	var m message
	var b strings.Builder
	fence := ""
	flush := func() {
		m.text = strings.TrimSpace(b.String())
		b.Reset()
		x.add(m)
	}
	for !x.over {
		raw, n, err := lines.Next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, importers.ErrLong) {
			x.fault(n, "the line is %s", err)
			continue
		}
		if err != nil {
			x.emit(importers.Item{}, err)
			return
		}
		if !utf8.Valid(raw) || strings.IndexByte(string(raw), 0) >= 0 {
			x.fault(n, "the line is not valid UTF-8 text")
			continue
		}
		line := string(raw)
		fence = fenced(fence, line)
		if fence == "" {
			if role, when, rest, ok := begins(line); ok {
				flush()
				m = message{line: n, role: role, at: when}
				line = rest
			}
		}
		if b.Len() < 2*importers.MaxRaw {
			b.WriteString(line + "\n")
		}
	}
	flush()
}

// begins reads the line that begins a turn.
func begins(line string) (role string, at memd.Time, rest string, ok bool) {
	if len(line) > 4096 { // the role stands at its beginning
		head, tail := line[:4096], line[4096:]
		role, at, rest, ok = begins(strings.ToValidUTF8(head, ""))
		return role, at, rest + tail, ok
	}
	m := turn.FindStringSubmatch(line)
	if m == nil {
		return "", at, "", false
	}
	heading, alone := m[1] != "" || m[3] != "", m[6] == "" && m[7] == ""
	role = roleOf(m[4])
	if (alone || role == "") && !heading {
		return "", at, "", false
	}
	if at = importers.Time(m[2]); at.IsZero() {
		at = importers.Time(m[5])
	}
	return role, at, m[9], true
}

// fenced is the fence of the block of code that a line stands in, "" outside.
func fenced(fence, line string) string {
	text := strings.TrimLeft(line, " ")
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(text, mark) {
			switch fence {
			case "":
				return mark
			case mark:
				return ""
			}
		}
	}
	return fence
}
