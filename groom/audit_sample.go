package groom

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"memd"
)

// Sampled is a long row with the answers to the four questions that each must be
// able to answer: its key, where it comes from, when it was last verified, and
// what would override or delete it.
type Sampled struct {
	ID           string            `json:"id"`
	Namespace    string            `json:"namespace"`
	MemoryKey    string            `json:"memory_key"`
	Source       string            `json:"source"`
	SourceStatus memd.SourceStatus `json:"source_status"`
	VerifiedAt   memd.Time         `json:"verified_at,omitzero"`
	VerifiedBy   string            `json:"verified_by,omitempty"`
	Ends         string            `json:"ends"` // what overrides or deletes it
}

// sample takes n heads that the caller may see, by a hash of their ids and the
// day, so that a day's sample can be taken again.
func (e *evidence) sample(n int) []Sampled {
	day := e.now.String()[:len("2006-01-02")]
	type drawn struct {
		lot string
		head
	}
	var lots []drawn
	for _, h := range e.heads {
		if e.caller.Holds(h.Access) {
			lot := sha256.Sum256([]byte(h.ID + day))
			lots = append(lots, drawn{string(lot[:]), h})
		}
	}
	slices.SortFunc(lots, func(a, b drawn) int { return cmp.Compare(a.lot, b.lot) })
	taken := []Sampled{}
	for _, d := range lots[:min(n, len(lots))] {
		source := d.Source
		if len(e.opts.Scan(&memd.Memory{Tier: memd.Long, Namespace: d.Namespace, Source: source})) > 0 {
			source = "(holds a secret)"
		}
		taken = append(taken, Sampled{
			ID: d.ID, Namespace: d.Namespace, MemoryKey: d.MemoryKey, Source: source, SourceStatus: d.SourceStatus,
			VerifiedAt: d.VerifiedAt, VerifiedBy: d.VerifiedBy, Ends: ends(d.head),
		})
	}
	return taken
}

// ends says what overrides or deletes a head.
func ends(h head) string {
	ways := []string{
		"a newer version under its key, or a row of that key in a namespace named earlier in a recall, overrides it",
		"memd forget deletes it",
	}
	if !h.ExpiresAt.IsZero() {
		ways = append(ways, "it expires at "+h.ExpiresAt.String())
	}
	if h.Kind == memd.Pitfall {
		ways = append(ways, "once resolved it goes to the archive")
	}
	return strings.Join(append(ways, "groom never deletes it"), "; ")
}
