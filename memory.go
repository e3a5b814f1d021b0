package memd

import (
	"fmt"
	"log/slog"
)

// Tier names the table a memory lives in.
type Tier string

// The four tiers a model can see. The fifth table, meta, is no tier.
const (
	Transient Tier = "transient" // one session's notes, gone with it or with their TTL
	Short     Tier = "short"     // recent events and tasks
	Long      Tier = "long"      // keyed, sourced, verified knowledge
	Archive   Tier = "archive"   // cold rows, recalled only when asked for
)

// tiers stands in order of authority.
var tiers = [...]Tier{Long, Short, Transient, Archive}

// AllTiers returns the tiers in order of authority, highest first.
func AllTiers() []Tier { return append([]Tier(nil), tiers[:]...) }

// Valid reports whether t is one of the four tiers.
func (t Tier) Valid() bool {
	for _, known := range tiers {
		if t == known {
			return true
		}
	}
	return false
}

// Kind says what sort of thing a memory states.
type Kind string

// Kinds. Those up to Reference fit both the long and the short tier; Event,
// Task and Summary fit the short tier alone.
const (
	Rule       Kind = "rule"
	Practice   Kind = "practice"
	Pitfall    Kind = "pitfall"
	Preference Kind = "preference"
	Fact       Kind = "fact"
	Decision   Kind = "decision"
	User       Kind = "user"
	Feedback   Kind = "feedback"
	Project    Kind = "project"
	Reference  Kind = "reference"
	Event      Kind = "event"
	Task       Kind = "task"
	Summary    Kind = "summary"
)

var kinds = [...]Kind{
	Rule, Practice, Pitfall, Preference, Fact, Decision, User, Feedback, Project, Reference,
	Event, Task, Summary,
}

// AllKinds returns every kind, the durable ones first.
func AllKinds() []Kind { return append([]Kind(nil), kinds[:]...) }

// Valid reports whether k is a known kind.
func (k Kind) Valid() bool {
	for _, known := range kinds {
		if k == known {
			return true
		}
	}
	return false
}

// Durable reports whether k may stand in the long tier.
func (k Kind) Durable() bool {
	return k.Valid() && k != Event && k != Task && k != Summary
}

// Personal reports whether k states what a person wants or said, so that the
// person (source "user") or a session ("session:<id>") may be its source and
// the longer freshness window applies.
func (k Kind) Personal() bool { return k == Preference || k == User || k == Feedback }

// Reasoned reports whether a long row of kind k must say why it holds and how
// to apply it.
func (k Kind) Reasoned() bool { return k == Feedback || k == Project }

// Pinned reports whether a context includes a live, fresh long row of kind k
// whether or not the query matches it.
func (k Kind) Pinned() bool { return k == Rule || k == Preference || k == User || k == Feedback }

// SourceStatus says what is known of the artefact a memory rests on.
type SourceStatus string

// States of a source.
const (
	SourceOK        SourceStatus = "ok"        // found, and as it was when last verified
	SourceMissing   SourceStatus = "missing"   // the file, section or line is gone
	SourceChanged   SourceStatus = "changed"   // found, with another content
	SourceUnchecked SourceStatus = "unchecked" // nobody looked, or nobody could
	SourceNone      SourceStatus = "none"      // the memory names no source
)

// StaleReason says why a memory should be checked before it is believed.
type StaleReason string

// Reasons for staleness.
const (
	StaleAge           StaleReason = "age"
	StaleSourceMissing StaleReason = "source_missing"
	StaleSourceChanged StaleReason = "source_changed"
)

// Memory is one remembered thing, as callers see it. Times are UTC; a zero
// time is absent. Tags and Access are never nil on the wire.
type Memory struct {
	ID         string `json:"id,omitempty"` // UUIDv7; none where a write stored nothing
	Tier       Tier   `json:"tier"`
	Namespace  string `json:"namespace"`
	Kind       Kind   `json:"kind"`
	MemoryKey  string `json:"memory_key,omitempty"`
	Version    int    `json:"version,omitempty"` // 1 for the first row under a key
	Summary    string `json:"summary"`
	RawContent string `json:"raw_content,omitempty"` // only where a call promises it
	Why        string `json:"why,omitempty"`
	HowToApply string `json:"how_to_apply,omitempty"`

	Importance int      `json:"importance"` // 1..10
	Tags       []string `json:"tags"`

	Source       string       `json:"source,omitempty"`
	SourceStatus SourceStatus `json:"source_status"`
	VerifiedAt   Time         `json:"verified_at,omitzero"`
	VerifiedBy   string       `json:"verified_by,omitempty"`
	Stale        bool         `json:"stale"`
	StaleReason  StaleReason  `json:"stale_reason,omitempty"`

	Owner     string   `json:"owner,omitempty"`
	Access    []string `json:"access"`
	SessionID string   `json:"session_id,omitempty"`
	Agent     string   `json:"agent,omitempty"`

	CreatedAt      Time `json:"created_at"`
	UpdatedAt      Time `json:"updated_at"`
	LastAccessedAt Time `json:"last_accessed_at,omitzero"`
	AccessCount    int  `json:"access_count"`
	ExpiresAt      Time `json:"expires_at,omitzero"`
	ResolvedAt     Time `json:"resolved_at,omitzero"`

	ContentHash string `json:"content_hash,omitempty"` // "sha256:<hex>", see tiers.ContentHash
	Age         string `json:"age"`                    // see AgeText

	// WrittenAt is when the content was last written. Unlike UpdatedAt it does
	// not move on a patch, an archive or a promotion; age counts from it.
	WrittenAt Time `json:"-"`
}

// LogValue keeps bodies out of logs: only the identity of a memory is shown.
func (m Memory) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", m.ID), slog.String("tier", string(m.Tier)),
		slog.String("namespace", m.Namespace))
}

// AgeDays is the age of m at now in whole days: since VerifiedAt for a long
// row, since WrittenAt for the others. It is never negative.
func (m Memory) AgeDays(now Time) int {
	from := m.WrittenAt
	if m.Tier == Long && !m.VerifiedAt.IsZero() {
		from = m.VerifiedAt
	}
	if days := int(now.Sub(from.Time).Hours() / 24); days > 0 {
		return days
	}
	return 0
}

// AgeText words an age in days for a reader: "" on the day itself.
func AgeText(days int) string {
	switch {
	case days <= 0:
		return ""
	case days == 1:
		return "saved yesterday"
	default:
		return fmt.Sprintf("This memory is %d days old", days)
	}
}
