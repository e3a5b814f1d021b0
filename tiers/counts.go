package tiers

import (
	"maps"
	"sync"
)

// GuardCounts are the findings of the guards since the process began: those for
// which a write was refused and those taken out of one, by rule, and those that an
// allow-list let pass.
type GuardCounts struct {
	Blocked, Redacted map[string]int64
	Allowed           int64
}

// counts gathers GuardCounts for every copy of a Service.
type counts struct {
	mu  sync.Mutex
	sum GuardCounts
}

func newCounts() *counts {
	return &counts{sum: GuardCounts{Blocked: map[string]int64{}, Redacted: map[string]int64{}}}
}

func (c *counts) add(done []decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range done {
		switch d.action {
		case blocks:
			c.sum.Blocked[d.rule]++
		case redacts:
			c.sum.Redacted[d.rule]++
		case allows:
			c.sum.Allowed++
		}
	}
}

// GuardCounts returns what the guards found until now.
func (s *Service) GuardCounts() GuardCounts {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	sum := s.counts.sum
	sum.Blocked, sum.Redacted = maps.Clone(sum.Blocked), maps.Clone(sum.Redacted)
	return sum
}
