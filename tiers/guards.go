package tiers

import (
	"errors"
	"slices"
	"strings"

	"memd"
	"memd/configs"
	"memd/guard/derivable"
	"memd/guard/fence"
)

// Guard is what a check at the door says of a memory as it stands.
type Guard struct {
	Name  string
	Wrong string // why it would refuse it, without a text of it; "" where it lets it pass
	Else  string // what it would do short of that, without a text of it; "" for nothing
}

// Guards is the function of that name, and what the guards of texts would do by the
// configuration.
func (s *Service) Guards(m *memd.Memory) []Guard {
	row := *m
	row.Tags, row.Access = slices.Clone(m.Tags), slices.Clone(m.Access) // what they take out they take out of this one
	fields := fieldsOf(&row)
	ofSecrets, ofPersonal := &inspected{}, &inspected{}
	all := append(Guards(m, s.budgets),
		ofTexts("secret_detected", s.takeSecrets(ofSecrets, &row, fields), ofSecrets),
		ofTexts("personal_data", s.takePersonal(ofPersonal, row.Tier, fields), ofPersonal))
	if m.Tier == memd.Transient { // a note need not be durable
		return all
	}
	ofFacts := &inspected{}
	err := s.derivable(ofFacts, m.Tier, derivable.Texts{Summary: m.Summary, RawContent: m.RawContent, Why: m.Why, HowToApply: m.HowToApply})
	facts := Guard{Name: string(memd.CodeNotDurableFact), Wrong: said(err)}
	if told := ofFacts.warnings(); len(told) > 0 {
		facts.Else = "would warn: " + strings.Join(told, "; ")
	}
	return append(all, facts)
}

// ofTexts is what a guard of texts decided.
func ofTexts(name string, refused []decision, in *inspected) Guard {
	g := Guard{Name: name, Wrong: named(refused)}
	if out := named(slices.DeleteFunc(in.done, func(d decision) bool { return d.action != redacts })); out != "" {
		g.Else = "would take out " + out
	}
	return g
}

// named are the rules of decisions, each with its field, once.
func named(done []decision) string {
	var all []string
	for _, d := range done {
		if one := d.rule + " in " + d.field; !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return strings.Join(all, ", ")
}

// Guards holds a stored row against the checks that a write of it would meet
// today: it may be older than they are, or edited by hand.
func Guards(m *memd.Memory, b configs.Budgets) []Guard {
	long := m.Tier == memd.Long
	var missing, grammar error
	switch {
	case long && !visible(m.Source):
		missing = noSource("it is missing")
	default:
		grammar = source(m.Source, m.Kind)
	}
	limit := b.ShortChars
	switch {
	case m.Tier == memd.Transient:
		limit = b.TransientChars
	case m.MemoryKey != "":
		limit = b.LongChars
	}
	_, badTags := tags("tags", m.Tags)
	_, badAccess := tags("access", m.Access)
	_, badKind := kind(m.Kind, memd.Fact, m.Tier)
	var noReasons, badKey, echoes error
	if long {
		noReasons, badKey = reasons(m.Kind, m.Why, m.HowToApply), memoryKey(m.MemoryKey)
	}
	if fence.Made(m.Summary, m.RawContent, m.Why, m.HowToApply) {
		echoes = memd.Errorf(memd.CodeInvalidRequest, "it holds a context that memd made, which is not stored again")
	}
	rules := &Service{budgets: b}
	var badNamespace error
	if !memd.ValidNamespace(m.Namespace) {
		badNamespace = memd.Errorf(memd.CodeInvalidRequest, "it is no namespace")
	}
	labels := errors.Join(badTags, name("owner", m.Owner), name("agent", m.Agent), name("session_id", m.SessionID))
	var all []Guard
	for _, g := range []struct {
		name string
		err  error
	}{
		{"missing_source", missing}, {"source_grammar", grammar}, {"memory_key", badKey}, {"kind", badKind},
		{"namespace", badNamespace}, {"reasons", noReasons}, {"labels", labels},
		{"access", badAccess}, {"fence_echo", echoes},
		{"budgets", errors.Join(summary(m.Summary, limit), rules.raw(m.RawContent))},
	} {
		all = append(all, Guard{Name: g.name, Wrong: said(g.err)})
	}
	return all
}

// said is what an error says to a caller.
func said(err error) string {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e.Message
	}
	return ""
}
