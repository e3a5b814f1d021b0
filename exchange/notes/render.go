package notes

import (
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"memd"
)

// known are the fields of memd in the order in which it writes them.
var known = [...]string{
	"name", "description", "type", "kind", "memory_key", "namespace", "importance", "tags", "source", "verified_at", "owner", "access",
	"expires_at", "resolved_at", "updatedAt", "contentHash", "version", "syncHash",
}

// Render writes the note as a file, over the one that it was read from if there was
// one: what says the same keeps its bytes. What it writes it has read back before; a
// note that no file can say is a *Fault, and nothing is written.
func (n *Note) Render(w io.Writer) error {
	out := n.render()
	back, fault := parse(out)
	if fault == nil && !same(n, back) {
		fault = invalid(0, "", "the note cannot be written so that it is read as the same")
	}
	if fault != nil {
		return fault
	}
	_, err := io.WriteString(w, out)
	return err
}

// same reports whether two notes say the same, however they were written.
func same(a, b *Note) bool {
	x, y := *a, *b
	for _, n := range []*Note{&x, &y} {
		n.written = nil
		n.Body, n.Why, n.HowToApply = block(n.Body), inline(n.Why), inline(n.HowToApply)
	}
	return reflect.DeepEqual(x, y)
}

func (n *Note) render() string {
	w := n.written
	if w == nil {
		w = &written{start: "---\n", newline: "\n", end: "---\n"}
	}
	var b strings.Builder
	b.WriteString(w.start)
	stated, last := map[string]bool{}, -1
	for i, f := range w.fields {
		if slices.Contains(known[:], f.key) {
			stated[f.key], last = true, i
		}
	}
	n.renderNew(&b, w, stated, last == -1)
	for i, f := range w.fields {
		b.WriteString(f.above)
		switch now := n.value(f.key); {
		case !slices.Contains(known[:], f.key) || now == w.read.value(f.key):
			b.WriteString(f.lines)
		case now != "":
			b.WriteString(f.key + ": " + now + w.newline)
		}
		n.renderNew(&b, w, stated, i == last)
	}
	b.WriteString(n.renderEnd(w))
	return b.String()
}

// renderNew writes the fields that the file did not have, at the place for them.
func (n *Note) renderNew(b *strings.Builder, w *written, stated map[string]bool, here bool) {
	if !here {
		return
	}
	for _, key := range known {
		if value := n.value(key); !stated[key] && value != "" {
			b.WriteString(key + ": " + value + w.newline)
		}
	}
}

// renderEnd is the file from the second delimiter on.
func (n *Note) renderEnd(w *written) string {
	old := w.read
	if block(n.Body) == old.Body && inline(n.Why) == old.Why && inline(n.HowToApply) == old.HowToApply {
		return w.end + w.body
	}
	end, body := w.end, strings.ReplaceAll(n.bodyText(), "\n", w.newline)
	if body != "" && !strings.HasSuffix(end, "\n") && !strings.HasSuffix(end, "\r") {
		end += w.newline
	}
	return end + body
}

// value writes the value of a field, "" where it is not stated.
func (n *Note) value(key string) string {
	switch key {
	case "type":
		return string(n.Type)
	case "kind":
		return string(n.Kind)
	case "importance":
		return number(n.Importance)
	case "version":
		return number(n.Version)
	case "tags":
		return optional(n.Tags)
	case "access":
		return optional(n.Access)
	case "verified_at":
		return at(n.VerifiedAt)
	case "expires_at":
		return at(n.ExpiresAt)
	case "resolved_at":
		return at(n.ResolvedAt)
	case "updatedAt":
		return at(n.UpdatedAt)
	}
	value := n.text(key)
	if value == nil || *value == "" {
		return ""
	}
	return text(*value)
}

func number(v int) string {
	if v == 0 {
		return ""
	}
	return strconv.Itoa(v)
}

func optional(values []string) string {
	if values == nil {
		return ""
	}
	return texts(values)
}

// at writes a time in its one form.
func at(t memd.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.String()
}
