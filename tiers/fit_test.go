package tiers_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/configs"
)

// padded is text with words before it, of n characters together.
func padded(text string, n int) string {
	return strings.Repeat("word ", n/5)[:n-len(text)-1] + " " + text
}

// What is as long as it may be is written, whatever marks make of it: they are
// shortened, or the end goes, and the caller is told. Sizes are those of what was sent.
func TestRedactedTextFits(t *testing.T) {
	one := "pass" + "word = Tiger#2024x"
	var many strings.Builder
	for n := range 12 {
		fmt.Fprintf(&many, "pass"+"word = Xq%d#kz\n", n+10)
	}
	const all = "[redacted]"
	for _, c := range []struct {
		door, field, text string
		limit             int
		want              string // at the end of what is stored
		told              string
	}{
		{"short summary", "summary", one, 300, "= [redacted]", "stay within 300 characters"},
		{"long summary", "summary", one, 300, "= [redacted]", "stay within 300 characters"},
		{"note", "summary", one, 300, "= [redacted]", "stay within 300 characters"},
		{"short raw", "raw_content", one, 300, "= [redacted]", "stay within 300 bytes"},
		{"long raw", "raw_content", one, 300, "= [redacted]", "stay within 300 bytes"},
		{"long why", "why", one, 4000, "= [redacted]", "stay within 4000 characters"},
		{"long how", "how_to_apply", one, 4000, "= [redacted]", "stay within 4000 characters"},
		{"promote why", "why", one, 4000, "= [redacted]", "stay within 4000 characters"},
		{"short summary", "summary", many.String(), 300, "…", "its end is left out"},
		{"long summary", "summary", many.String(), 300, "…", "its end is left out"},
		{"note", "summary", many.String(), 300, "…", "its end is left out"},
		{"short raw", "raw_content", many.String(), 300, "…", "its end is left out"},
		{"long why", "why", many.String(), 4000, "…", "its end is left out"},
		{"long how", "how_to_apply", many.String(), 4000, "…", "its end is left out"},
		{"short tag", "tags", "pass" + "word = Tiger#2024x", 64, "= [redacted]", "stay within 64 characters"},
		{"patch long tag", "tags", "pass" + "word = Xq1#kz77", 64, all, "stay within 64 characters"},
		{"promote tag", "tags", "pass" + "word = Xq1#kz77", 64, all, "stay within 64 characters"},
		{"short source", "source", "?pass" + "word=Tiger2024xQ", 1024 - len("https://ci.internal/"), "=[redacted]", "stay within 1024 characters"},
		{"short source", "source", "?pass" + "word=Tig3rxQ9", 1024 - len("https://ci.internal/"), all, "stay within 1024 characters"},
	} {
		t.Run(c.door+" "+c.told, func(t *testing.T) {
			h := newHouse(t, func(b *configs.Budgets) {
				b.ShortChars, b.LongChars, b.TransientChars, b.RawBytes = 300, 300, 300, 300
			})
			h.Service = h.WithGuard(with(configs.GuardRedact))
			text := padded(c.text, c.limit)
			if c.field == "source" {
				text = strings.ReplaceAll(text, " ", "/")
			}
			if n := utf8.RuneCountInString(text); n != c.limit {
				t.Fatalf("%d characters are sent", n)
			}
			d := doors()[c.door]
			w, err := d.write(h, text)
			h.must(err)
			m := must(h.Get(ctx, admin, w.ID))
			stored := map[string]string{
				"summary": m.Summary, "raw_content": m.RawContent, "why": m.Why, "how_to_apply": m.HowToApply, "source": m.Source, "tags": strings.Join(m.Tags, ""),
			}[c.field]
			size := utf8.RuneCountInString(strings.Join(m.Tags[max(0, len(m.Tags)-1):], ""))
			if c.field != "tags" {
				size = utf8.RuneCountInString(stored)
			}
			if c.field == "raw_content" {
				size = len(stored)
			}
			limit := c.limit
			if c.field == "source" {
				limit = memd.MaxSourceChars
			}
			if size > limit || !strings.HasSuffix(stored, c.want) || !strings.Contains(stored, "[redacted]") {
				t.Errorf("%d of %d characters are stored: …%q", size, limit, stored[max(0, len(stored)-80):])
			}
			if strings.Contains(stored, "#") || strings.Contains(stored, "Tig") {
				t.Errorf("a secret is stored: %q", stored)
			}
			if told := strings.Join(w.Warnings, "\n"); !strings.Contains(told, c.field+": ") || !strings.Contains(told, c.told) {
				t.Errorf("told %q", told)
			}
			if found := h.Findings(&m); len(found) != 0 {
				t.Errorf("what is stored is found: %v", found)
			}
			if c.field != "source" && c.field != "tags" && !strings.HasPrefix(stored, text[:40]) {
				t.Errorf("the beginning is lost: %q", stored[:40])
			}
			if c.door != "short source" && c.door != "promote tag" { // of which one puts an address before it, and one has promoted its row
				_, err = d.write(h, "x"+text)
				refused(t, err, memd.CodeTooLarge, c.field)
			}
		})
	}
}

// Personal data is taken out of what is cut, too, and no mark is cut through.
func TestPersonalDataFits(t *testing.T) {
	h := newHouse(t, func(b *configs.Budgets) { b.RawBytes = 200 })
	h.Service = h.WithGuard(with(configs.GuardOff))
	var mails strings.Builder
	for n := range 10 {
		fmt.Fprintf(&mails, "a%d@corp-in.org ", n)
	}
	w := h.keep("k", "addresses", func(r *memd.RememberLongTerm) { r.RawContent = padded(strings.TrimSpace(mails.String()), 200) })
	m := must(h.Get(ctx, admin, w.ID))
	if len(m.RawContent) > 200 || strings.Contains(m.RawContent, "@") || strings.Count(m.RawContent, "[") != strings.Count(m.RawContent, "]") {
		t.Errorf("%d bytes: %q", len(m.RawContent), m.RawContent)
	}
}
