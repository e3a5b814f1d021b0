package tiers

import (
	"fmt"

	"memd"
	"memd/configs"
	"memd/guard/derivable"
)

// WithGuard returns a Service that holds what is written against g.
func (s *Service) WithGuard(g configs.Guard) *Service {
	guarded := *s
	guarded.guard = g
	return &guarded
}

// inspect holds the texts that are about to be written to tier t against the
// guards: every way in passes here. It returns what to tell the caller beside the
// answer, or why the write is refused; neither repeats any of the text.
func (s *Service) inspect(t memd.Tier, texts derivable.Texts) (warnings []string, err error) {
	if s.guard.Derivable == configs.GuardOff {
		return nil, nil
	}
	for _, f := range derivable.Look(texts) {
		if t == memd.Long && s.guard.Derivable == configs.GuardBlock {
			return nil, memd.FieldErrorf(memd.CodeNotDurableFact, f.Field, "%s holds %s (%s), which is no durable fact", f.Field, f.Rule.Said(), f.Rule).
				WithHint("remember what it taught, in words, and name the file or commit as the source; guard.derivable: warn lets it pass")
		}
		warnings = append(warnings, fmt.Sprintf("%s holds %s (%s), which the code, git or a log can be asked for: what it taught, in words, lasts longer",
			f.Field, f.Rule.Said(), f.Rule))
	}
	return warnings, nil
}
