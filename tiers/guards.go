package tiers

import (
	"errors"

	"memd"
	"memd/configs"
	"memd/guard/fence"
)

// Guard is what a check at the door says of a memory as it stands.
type Guard struct {
	Name  string
	Wrong string // why it would refuse it, without a text of it; "" where it lets it pass
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
	return []Guard{
		{"missing_source", said(missing)},
		{"source_grammar", said(grammar)},
		{"memory_key", said(badKey)},
		{"kind", said(badKind)},
		{"reasons", said(noReasons)},
		{"labels", said(errors.Join(badTags, name("owner", m.Owner)))},
		{"access", said(badAccess)},
		{"fence_echo", said(echoes)},
		{"budgets", said(errors.Join(summary(m.Summary, limit), rules.raw(m.RawContent)))},
	}
}

// said is what an error says to a caller.
func said(err error) string {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e.Message
	}
	return ""
}
