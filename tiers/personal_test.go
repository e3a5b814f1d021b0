package tiers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"memd"
	"memd/configs"
)

// Made-up personal data: numbers of the issuers' own examples.
const (
	aCard  = "the card is 4539 1488 0343 6467, paid twice"
	anID   = "身份证 11010519491231002X 的用户"
	anIBAN = "pay to IBAN GB03 WEST 3020 1640 0188 23 please"
	aMail  = "ask maria.k@corp.internal-mail.org first"
	aPhone = "call +49 30 901820 in an emergency"
	unsure = "order 4539148803436467 was late"
)

// What is done with personal data, by kind, tier, field and mode.
func TestPersonal(t *testing.T) {
	const off, redact, block = configs.GuardOff, configs.GuardRedact, configs.GuardBlock
	for _, c := range []struct {
		door, text, kind, mode string
		want                   string // "", redacted, warned or refused
	}{
		{"short summary", aCard, "card", redact, "redacted"}, {"long raw", aCard, "card", redact, "redacted"}, {"note", aCard, "card", redact, "redacted"},
		{"short summary", aCard, "card", block, "refused"}, {"long why", aCard, "card", block, "refused"}, {"short summary", aCard, "card", off, ""},
		{"short tag", "card 4539148803436467", "card", redact, "redacted"}, {"short session", "card 4539148803436467", "card", redact, "refused"},
		{"short summary", unsure, "card", redact, "warned"}, {"long summary", unsure, "card", block, "warned"}, {"long key", "order/4539148803436467", "card", block, ""},
		{"long summary", anID, "cn-id", redact, "redacted"}, {"long summary", anID, "cn-id", block, "refused"},
		{"short raw", anIBAN, "iban", redact, "redacted"}, {"long how", anIBAN, "iban", block, "refused"},
		{"long raw", aMail, "email", redact, "redacted"}, {"long summary", aMail, "email", redact, "warned"}, {"short raw", aMail, "email", redact, "warned"},
		{"note", aMail, "email", redact, "warned"}, {"short summary", aMail, "email", block, "refused"}, {"long raw", aMail, "email", off, ""},
		{"long owner", "maria.k@corp.internal-mail.org", "email", block, ""}, {"patch owner", "maria.k@corp.internal-mail.org", "email", redact, ""},
		{"long raw", aPhone, "phone", redact, "redacted"}, {"long summary", aPhone, "phone", redact, "warned"}, {"note", aPhone, "phone", block, "refused"},
	} {
		t.Run(fmt.Sprint(c.door, " ", c.kind, " ", c.mode), func(t *testing.T) {
			h := newHouse(t, nil)
			h.Service = h.WithGuard(configs.Guard{Cards: c.mode, IDs: c.mode, IBAN: c.mode, Email: c.mode, Phone: c.mode})
			d := doors()[c.door]
			w, err := d.write(h, c.text)
			if c.want == "refused" {
				h.blocked("the door", err, d.field)
				if e, _ := errors.AsType[*memd.Error](err); e == nil || fmt.Sprint(e.Rules) != "["+c.kind+"]" {
					t.Errorf("%+v", e)
				}
				return
			}
			h.must(err)
			stored := fmt.Sprint(must(h.Get(ctx, admin, w.ID)))
			mark := "[redacted:" + c.kind + "]"
			told := strings.Join(w.Warnings, "\n")
			switch c.want {
			case "redacted":
				if !strings.Contains(stored, mark) || !strings.HasPrefix(told, d.field+": "+mark) {
					t.Errorf("warned %q of %s", told, stored)
				}
				h.clean("the row", stored+told)
			case "warned":
				if !strings.Contains(stored, c.text) || !strings.Contains(told, "("+c.kind+")") || len(w.Warnings) != 1 {
					t.Errorf("warned %q of %s", told, stored)
				}
			default:
				if !strings.Contains(stored, c.text) || told != "" {
					t.Errorf("warned %q of %s", told, stored)
				}
			}
			again := must(h.Get(ctx, admin, w.ID))
			if found := h.Findings(&again); len(found) != 0 {
				t.Errorf("what was let in is found: %v", found)
			}
		})
	}
}

// Findings name what a write of a stored row would meet today.
func TestFindings(t *testing.T) {
	h := newHouse(t, nil)
	guarded := h.Service
	h.Service = h.WithGuard(configs.Guard{})
	w := h.keep("k", hidden["plain"], func(r *memd.RememberLongTerm) { r.RawContent = aCard + "\n" + aMail; r.Why = unsure })
	m := must(h.Get(ctx, admin, w.ID))
	if got := fmt.Sprint(guarded.Findings(&m)); got != "[github-pat card email]" {
		t.Errorf("found %s", got)
	}
	if got := h.Findings(&m); len(got) != 0 {
		t.Errorf("with the guards off: %v", got)
	}
}
