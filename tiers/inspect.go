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

// inspected is what the guards say of a write.
type inspected struct {
	told    []told
	done    []decision
	changed bool    // something was taken out
	refused error   // why it is not written, nil where it is
	wrong   []wrong // for which it is refused
	logged  bool
}

// told is a warning, and whether it speaks of a mark in a field.
type told struct {
	field, text string
	redacted    bool
}

// wrong is a text for which a write is refused. It stays within the write.
type wrong struct{ field, text string }

// denied is the refusal of a guard, and what of it is logged.
type denied struct {
	err  *memd.Error
	done []decision
}

func (d *denied) Error() string { return d.err.Error() }
func (d *denied) Unwrap() error { return d.err }

// inspect holds a memory that is about to be written to its tier against the
// guards: every way in passes here, or through inspectFields, before its transaction,
// for the writer waits for no guard. It takes out of m what may be taken out. Nothing
// that it returns repeats any of the text but for what is wrong with it. Within the
// write the refusal is the answer, unless what is refused stands already; in the end
// both go to settle.
func (s *Service) inspect(m *memd.Memory) *inspected {
	in := s.inspectFields(m, fieldsOf(m))
	if in.refused == nil {
		in.refused = s.derivable(in, m.Tier, derivable.Texts{Summary: m.Summary, RawContent: m.RawContent, Why: m.Why, HowToApply: m.HowToApply})
	}
	return in
}

// inspectFields is inspect for some fields of m.
func (s *Service) inspectFields(m *memd.Memory, fields []field) *inspected {
	if s.onLook != nil {
		s.onLook()
	}
	in := &inspected{}
	before := make([]string, len(fields))
	for i, f := range fields {
		before[i] = *f.text
	}
	refused := s.takeSecrets(in, m, fields)
	refused = append(refused, s.takePersonal(in, m.Tier, fields)...)
	if len(refused) > 0 {
		in.refused = &denied{refusal(refused), refused}
		return in
	}
	for i, f := range fields {
		if *f.text != before[i] {
			s.fit(in, m, f, before[i])
		}
	}
	return in
}

// touched reports whether the guards leave something else of a write than was sent.
func (in *inspected) touched() bool { return in.changed || in.refused != nil }

// heldBy reports whether a row, whose content is what was sent, holds all that the
// write is refused for: then nothing of that is written anew.
func (in *inspected) heldBy(row *memd.Memory) bool {
	return !slices.ContainsFunc(in.wrong, func(w wrong) bool {
		switch w.field {
		case "summary", "raw_content", "why", "how_to_apply":
			return false
		case "tags":
			return !slices.Contains(row.Tags, w.text)
		case "access":
			return !slices.Contains(row.Access, w.text)
		case "source":
			return row.Source != w.text
		case "namespace":
			return row.Namespace != w.text
		case "memory_key":
			return row.MemoryKey != w.text
		case "owner":
			return row.Owner != w.text
		}
		return true
	})
}

// standing is what is said where the content that was sent stands already, from before
// the guards would have taken it out or refused it: nothing of it is written.
func (in *inspected) standing() *inspected {
	out := &inspected{changed: in.changed}
	var old []decision
	for _, d := range in.done {
		if isContent(d.field) && d.action == redacts {
			old = append(old, d)
		} else {
			out.done = append(out.done, d)
		}
	}
	if d, ok := errors.AsType[*denied](in.refused); ok {
		old = append(old, d.done...)
	}
	for _, t := range in.told {
		if !t.redacted || !isContent(t.field) {
			out.told = append(out.told, t)
		}
	}
	if len(old) > 0 {
		out.warn("", "the memory stands since before this was looked for: %s; forget it, and write it anew without", places(old))
	}
	return out
}

func isContent(field string) bool {
	return slices.Contains([]string{"summary", "raw_content", "why", "how_to_apply"}, field)
}

// maxWarnings bounds the warnings of one write.
const maxWarnings = 20

// warn adds a warning, once.
func (in *inspected) warn(field, format string, args ...any) {
	in.tell(told{field, fmt.Sprintf(format, args...), false})
}

// redacted is warn for a mark in a field.
func (in *inspected) redacted(field, format string, args ...any) {
	in.tell(told{field, fmt.Sprintf(format, args...), true})
}

func (in *inspected) tell(t told) {
	if len(in.told) < maxWarnings && !slices.Contains(in.told, t) {
		in.told = append(in.told, t)
	}
}

func (in *inspected) warnings() (all []string) {
	for _, t := range in.told {
		all = append(all, t.text)
	}
	return all
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

// derivable warns of texts that the code, git or a log can be asked for, or returns
// why they are refused.
func (s *Service) derivable(in *inspected, t memd.Tier, texts derivable.Texts) error {
	if s.guard.Derivable == configs.GuardOff {
		return nil
	}
	for _, f := range derivable.Look(texts) {
		if t == memd.Long && s.guard.Derivable == configs.GuardBlock {
			return memd.FieldErrorf(memd.CodeNotDurableFact, f.Field, "%s holds %s (%s), which is no durable fact", f.Field, f.Rule.Said(), f.Rule).
				WithHint("remember what it taught, in words, and name the file or commit as the source; guard.derivable: warn lets it pass")
		}
		in.warn(f.Field, "%s holds %s (%s), which the code, git or a log can be asked for: what it taught, in words, lasts longer",
			f.Field, f.Rule.Said(), f.Rule)
	}
	return nil
}
