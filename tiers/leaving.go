package tiers

import (
	"memd"
	"memd/configs"
	"memd/guard/personal"
)

// Leaving is a text as it may be sent to another machine: a stored one may be older
// than the guards or edited by hand, and a query passed none of them. What any tier
// blocks or redacts is taken out; which row the text is of, nobody knows here, so that
// an allowed source lets nothing pass.
func (s *Service) Leaving(text string) string {
	if rules := s.guard.Secrets; isOn(rules.Long) || isOn(rules.Short) || isOn(rules.Team) {
		text, _ = s.scanner.Clean(text)
	}
	if !s.anyPersonal() {
		return text
	}
	var out []personal.Finding
	for _, found := range personal.Scan(text) {
		if isOn(s.onPersonal(found, memd.Short, field{name: "summary"})) {
			out = append(out, found)
		}
	}
	return personal.Redact(text, out)
}

// isOn reports whether a guard's mode keeps what it finds from being written.
func isOn(mode string) bool { return mode == configs.GuardBlock || mode == configs.GuardRedact }
