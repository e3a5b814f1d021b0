package tiers

import (
	"context"

	"memd"
	"memd/guard/sources"
	"memd/store"
)

// WithSources returns a Service that looks at the files that long rows rest on
// when they are written and verified, and at pages when they are verified.
func (s *Service) WithSources(c *sources.Checker) *Service {
	looking := *s
	looking.sources = c
	return &looking
}

// sight is what was found of a source before a write that rests on it. Nothing is
// looked at within a write: the writer waits for no other disk.
type sight struct {
	namespace, source string
	found             sources.Found
	at                memd.Time
}

func (s *Service) look(namespace, source string) sight {
	if s.sources == nil || source == "" {
		return sight{}
	}
	return sight{namespace, source, s.sources.File(namespace, source), s.store.Now()}
}

// lookAndFetch is look, and fetches a URL where that is allowed.
func (s *Service) lookAndFetch(ctx context.Context, namespace, source string) sight {
	if s.sources == nil || source == "" {
		return sight{}
	}
	return sight{namespace, source, s.sources.Look(ctx, namespace, source), s.store.Now()}
}

// toLookAt is the row that a write rests on, the zero one where the caller may not
// write it: nothing is looked at then, and what is wrong the write says.
func (s *Service) toLookAt(ctx context.Context, c memd.Caller, id string) (m memd.Memory, err error) {
	if s.sources == nil {
		return m, nil
	}
	if m, err = s.peek(ctx, c, id); m.Tier == memd.Transient {
		return memd.Memory{}, err
	}
	return m, err
}

// peek is toLookAt for a write that the guards look at. Whose session a note is of the
// write says.
func (s *Service) peek(ctx context.Context, c memd.Caller, id string) (m memd.Memory, err error) {
	if need(c, memd.RoleWrite) != nil {
		return m, nil
	}
	err = s.store.View(ctx, func(v *store.View) error {
		row, ok, err := v.Get(id)
		if ok && maySee(c, &row, s.store.Now()) {
			m = row
		}
		return err
	})
	return m, err
}

// mark writes into a row that is being verified what was found of its source, and
// returns the hash that is to be kept for it. Was it stale till now, a source that
// is missing leaves it so; a row that was fresh groom marks. Where nobody could
// look, a source that was found missing or changed is still held to be.
func (l sight) mark(m *memd.Memory, stale bool) (hash string, warnings []string) {
	found := l.found
	if m.Namespace != l.namespace || m.Source != l.source { // another write came between
		found = sources.Found{}
	}
	switch {
	case found.Status == memd.SourceOK:
		m.SourceStatus, m.Stale, m.StaleReason = memd.SourceOK, false, ""
		if d := l.at.Sub(m.VerifiedAt.Time); d.Abs() <= clockSkew { // read at the verification itself
			hash = found.Hash
		}
	case found.Status == memd.SourceMissing:
		m.SourceStatus = memd.SourceMissing
		if stale {
			m.Stale, m.StaleReason = true, memd.StaleSourceMissing
		}
		warnings = []string{"the source is missing: " + found.Why}
	case found.Reach == sources.Barred, found.Reach == sources.There:
		m.SourceStatus, m.Stale, m.StaleReason = memd.SourceUnchecked, false, ""
	default:
		if m.SourceStatus == memd.SourceOK {
			m.SourceStatus = memd.SourceUnchecked
		}
		clearStale(m)
	}
	return hash, warnings
}

// clearStale takes the stale mark off a row that was just verified, unless its
// source is known not to bear it out.
func clearStale(m *memd.Memory) {
	if m.SourceStatus != memd.SourceMissing && m.SourceStatus != memd.SourceChanged {
		m.Stale, m.StaleReason = false, ""
	}
}

// isStale reports whether a row is stale as it is shown at now.
func (s *Service) isStale(m memd.Memory, now memd.Time) bool {
	Present(&m, s.budgets, now)
	return m.Stale
}
