package instructions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Merged is one text of all parts that apply, the weakest first, each under a line
// that says where it comes from; what was skipped stands at the end. These lines
// carry an id that nothing else contains, so that no file can speak for another.
func (f *Found) Merged() string {
	if len(f.Skipped) == 0 && !slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Applies }) {
		return ""
	}
	mark := "=== memd " + f.id() + " "
	var b strings.Builder
	b.WriteString(mark + "instructions, each under its origin; where two disagree, the later one holds\n")
	for _, p := range f.Parts {
		if !p.Applies {
			continue
		}
		fmt.Fprintf(&b, "\n%s%s %s%s\n\n%s\n", mark, p.Layer, shown(p.Origin), included(p.IncludedBy), strings.Trim(p.Text, "\n"))
	}
	if len(f.Skipped) > 0 {
		b.WriteString("\n" + mark + "skipped\n\n")
	}
	for _, s := range f.Skipped {
		fmt.Fprintf(&b, "%s %s%s: %s\n", s.Layer, shown(s.Origin), included(s.IncludedBy), shown(s.Reason))
	}
	return b.String()
}

// id is made from all that files say, so that equal files give equal texts and none
// can aim at it.
func (f *Found) id() string {
	h := sha256.New()
	for _, p := range f.Parts {
		fmt.Fprintf(h, "%d %s %d %s", len(p.Origin), p.Origin, len(p.Text), p.Text)
	}
	for _, s := range f.Skipped {
		fmt.Fprintf(h, "%d %s %d %s", len(s.Origin), s.Origin, len(s.Reason), s.Reason)
	}
	sum := h.Sum(nil)
	for {
		id := hex.EncodeToString(sum[:8])
		if !f.contains(id) {
			return id
		}
		next := sha256.Sum256(sum)
		sum = next[:]
	}
}

func (f *Found) contains(id string) bool {
	for _, p := range f.Parts {
		if strings.Contains(p.Text, id) {
			return true
		}
	}
	return slices.ContainsFunc(f.Skipped, func(s Skipped) bool { return strings.Contains(s.Origin+s.Reason, id) })
}

func included(by string) string {
	if by == "" {
		return ""
	}
	return " (included by " + shown(by) + ")"
}

// shown is a path or a reason in one line.
func shown(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
