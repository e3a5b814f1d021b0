package tiers

import (
	"memd"
	"memd/configs"
	"memd/guard/personal"
)

// saidOf words kinds of personal data.
func saidOf(kind personal.Kind) string {
	switch kind {
	case personal.Card:
		return "the number of a payment card"
	case personal.ID:
		return "a resident identity number"
	case personal.IBAN:
		return "an account number"
	case personal.Email:
		return "an e-mail address"
	case personal.Phone:
		return "a telephone number"
	}
	return "personal data"
}

// personalMode is what is done with a kind.
func (s *Service) personalMode(kind personal.Kind) string {
	switch kind {
	case personal.Card:
		return s.guard.Cards
	case personal.ID:
		return s.guard.IDs
	case personal.IBAN:
		return s.guard.IBAN
	case personal.Email:
		return s.guard.Email
	case personal.Phone:
		return s.guard.Phone
	}
	return configs.GuardOff
}

// onPersonal is what is done with a finding in a field of a tier: block, redact,
// warn or off. What is not sure is no ground for more than a warning; a name may be
// an address, and may have any digits.
func (s *Service) onPersonal(found personal.Finding, t memd.Tier, f field) string {
	mode := s.personalMode(found.Kind)
	contact := found.Kind == personal.Email || found.Kind == personal.Phone
	switch {
	case mode != configs.GuardBlock && mode != configs.GuardRedact:
		return configs.GuardOff
	case f.fixed && (contact || !found.Sure):
		return configs.GuardOff
	case !found.Sure:
		return configs.GuardWarn
	case mode == configs.GuardBlock || f.fixed:
		return configs.GuardBlock
	case contact && (t != memd.Long || f.name != "raw_content"):
		return configs.GuardWarn
	}
	return configs.GuardRedact
}

// takePersonal takes personal data out of fields that are about to be written to
// tier t, and returns that for which the write is refused.
func (s *Service) takePersonal(in *inspected, t memd.Tier, fields []field) (refused []decision) {
	if !s.anyPersonal() {
		return nil
	}
	for _, f := range fields {
		var out []personal.Finding
		for _, found := range personal.Scan(*f.text) {
			kind := string(found.Kind)
			switch s.onPersonal(found, t, f) {
			case configs.GuardBlock:
				refused = append(refused, decision{blocks, f.name, kind, ""})
				in.wrong = append(in.wrong, wrong{f.name, *f.text})
			case configs.GuardRedact:
				out = append(out, found)
				in.done = append(in.done, decision{redacts, f.name, kind, ""})
				in.redacted(f.name, "%s: [redacted:%s] stands for %s", f.name, kind, saidOf(found.Kind))
			case configs.GuardWarn:
				verb := "holds"
				if !found.Sure {
					verb = "may hold"
				}
				in.warn(f.name, "%s %s %s (%s)", f.name, verb, saidOf(found.Kind), kind)
			}
		}
		if len(out) > 0 {
			in.replace(f, personal.Redact(*f.text, out))
		}
	}
	return refused
}

// anyPersonal reports whether any kind is looked for.
func (s *Service) anyPersonal() bool {
	for _, kind := range []personal.Kind{personal.Card, personal.ID, personal.IBAN, personal.Email, personal.Phone} {
		if mode := s.personalMode(kind); mode == configs.GuardBlock || mode == configs.GuardRedact {
			return true
		}
	}
	return false
}

// Findings are the rules by which the guards would refuse or redact m if it were
// written to its tier today: it may be older than they are, or edited by hand.
func (s *Service) Findings(m *memd.Memory) (rules []string) {
	fields := fieldsOf(m)
	if mode := s.secretsMode(m); mode == configs.GuardBlock || mode == configs.GuardRedact {
		found, _ := s.scan(m, fields)
		for _, of := range found {
			for _, one := range of {
				rules = append(rules, one.Rule)
			}
		}
	}
	if !s.anyPersonal() {
		return rules
	}
	for _, f := range fields {
		for _, found := range personal.Scan(*f.text) {
			if on := s.onPersonal(found, m.Tier, f); on == configs.GuardBlock || on == configs.GuardRedact {
				rules = append(rules, string(found.Kind))
			}
		}
	}
	return rules
}
