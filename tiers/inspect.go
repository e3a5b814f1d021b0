package tiers

import (
	"errors"
	"fmt"
	"slices"

	"memd"
	"memd/configs"
	"memd/guard/derivable"
	"memd/store"
)

// field is a text of a memory that is about to be written.
type field struct {
	name string
	text *string
	// label marks a key, a tag or a name, fixed what a redaction would turn into
	// another one: there a guard refuses instead.
	label, fixed bool
}

// fieldsOf are the texts of a memory. What is taken out of them is taken out of m.
func fieldsOf(m *memd.Memory) []field {
	all := []field{
		{name: "summary", text: &m.Summary}, {name: "raw_content", text: &m.RawContent},
		{name: "why", text: &m.Why}, {name: "how_to_apply", text: &m.HowToApply},
		// The source of a long row is held against files and its head's.
		{"source", &m.Source, true, m.Tier == memd.Long},
		{"memory_key", &m.MemoryKey, true, true}, {"namespace", &m.Namespace, true, true},
		{"session_id", &m.SessionID, true, true}, {"agent", &m.Agent, true, true},
	}
	all = append(all, labelsOf(m)...)
	return slices.DeleteFunc(all, func(f field) bool { return *f.text == "" })
}

// labelsOf are the texts of a memory that a patch changes.
func labelsOf(m *memd.Memory) []field {
	all := []field{{"owner", &m.Owner, true, true}}
	for i := range m.Tags {
		all = append(all, field{name: "tags", text: &m.Tags[i], label: true})
	}
	for i := range m.Access {
		all = append(all, field{"access", &m.Access[i], true, true})
	}
	return all
}

// decision is one of a guard. It holds nothing of the text.
type decision struct {
	action, field, rule string
	fingerprint         string // of a secret, else ""
}

// detail is what the log says of a decision beside its field.
func (d decision) detail() string {
	if d.fingerprint == "" {
		return d.rule
	}
	return d.rule + " " + d.fingerprint
}

// Actions of decisions.
const (
	blocks  = store.Blocked
	redacts = "guard_redact"
	allows  = "guard_allow"
)

// inspected is what the guards say of a write that they let pass.
type inspected struct {
	warnings []string
	done     []decision
	changed  bool // something was taken out
	logged   bool
}

// denied is the refusal of a guard, and what of it is logged.
type denied struct {
	err  *memd.Error
	done []decision
}

func (d *denied) Error() string { return d.err.Error() }
func (d *denied) Unwrap() error { return d.err }

// inspect holds a memory that is about to be written to its tier against the
// guards: every way in passes here, or through inspectFields. It takes out of m what may be taken out, or
// returns why the write is refused. Nothing that it returns repeats any of the text.
// Both go to settle in the end.
func (s *Service) inspect(m *memd.Memory) (*inspected, error) {
	in, err := s.inspectFields(m, fieldsOf(m))
	if err != nil {
		return in, err
	}
	told, err := s.derivable(m.Tier, derivable.Texts{Summary: m.Summary, RawContent: m.RawContent, Why: m.Why, HowToApply: m.HowToApply})
	in.warnings = append(in.warnings, told...)
	return in, err
}

// inspectFields is inspect for some fields of m.
func (s *Service) inspectFields(m *memd.Memory, fields []field) (*inspected, error) {
	in := &inspected{}
	refused := s.takeSecrets(in, m, fields)
	refused = append(refused, s.takePersonal(in, m.Tier, fields)...)
	if len(refused) > 0 {
		return in, &denied{refusal(refused), refused}
	}
	return in, nil
}

// log writes to the log what was done to m, in its write.
func (in *inspected) log(tx *store.Tx, entry store.Entry) error {
	in.logged = true
	for i, d := range in.done {
		e := entry
		e.Action, e.Field, e.Detail = d.action, d.field, d.detail()
		if rest := len(in.done) - i; i == maxNoticed-1 && rest > 1 {
			e.Detail, e.Count = fmt.Sprintf("%s and %d more", e.Detail, rest-1), rest
			return tx.Audit(e)
		}
		if err := tx.Audit(e); err != nil {
			return err
		}
	}
	return nil
}

// settle ends a write that the guards looked at: it notes their refusal, and
// counts what they did once it is done. It returns the error for the caller.
func (s *Service) settle(c memd.Caller, in *inspected, err error) error {
	if d, ok := errors.AsType[*denied](err); ok {
		for _, one := range d.done[:min(len(d.done), maxNoticed)] {
			s.store.Refuse(store.Refusal{Caller: c.Name, Code: d.err.Code, Field: one.field, Finding: one.detail()})
		}
		s.counts.add(d.done)
		return d.err
	}
	if err == nil && in != nil && in.logged {
		s.counts.add(in.done)
	}
	return err
}

// derivable warns of texts that the code, git or a log can be asked for, or
// returns why they are refused.
func (s *Service) derivable(t memd.Tier, texts derivable.Texts) (warnings []string, err error) {
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
