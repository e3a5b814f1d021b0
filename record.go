package memd

import "log/slog"

// RecordType says what a Record is.
type RecordType string

// Types of records.
const (
	MemoryRecord    RecordType = "memory"    // a row of any tier
	KeyRecord       RecordType = "key"       // a key whose current version stands nowhere: its counter alone
	TombstoneRecord RecordType = "tombstone" // what was forgotten, without a body
)

// RecordTypes returns every type of record.
func RecordTypes() []RecordType { return []RecordType{MemoryRecord, KeyRecord, TombstoneRecord} }

// Record is what leaves a store, and enters another one, whole: a memory with all that
// restores it, and beside it what a store knows of keys and of what was forgotten.
// docs/format.md says which fields a type has.
type Record struct {
	Type      RecordType `json:"type"`
	ID        string     `json:"id,omitempty"`   // absent: a new one is given, unless the same content stands
	Tier      Tier       `json:"tier,omitempty"` // of a memory alone
	Namespace string     `json:"namespace,omitempty"`
	Kind      Kind       `json:"kind,omitempty"`
	MemoryKey string     `json:"memory_key,omitempty"`
	Version   int        `json:"version,omitempty"` // of a key's row; of a key the highest ever given out

	// Of the current version of a key, and the versions that stand before it; of
	// another row of a key which version is current, "" where none is.
	IsHead       bool     `json:"is_head,omitempty"`
	Supersedes   []string `json:"supersedes,omitempty"`
	SupersededBy string   `json:"superseded_by,omitempty"`

	Summary    string `json:"summary,omitempty"`
	RawContent string `json:"raw_content,omitempty"`
	Why        string `json:"why,omitempty"`
	HowToApply string `json:"how_to_apply,omitempty"`

	Importance int      `json:"importance,omitempty"` // absent: 5
	Tags       []string `json:"tags,omitempty"`

	Source       string       `json:"source,omitempty"`
	SourceStatus SourceStatus `json:"source_status,omitempty"` // absent: as nobody had looked
	SourceHash   string       `json:"source_hash,omitempty"`   // of what the source of a head cites, as it was when it was verified
	VerifiedAt   Time         `json:"verified_at,omitzero"`
	VerifiedBy   string       `json:"verified_by,omitempty"`
	Stale        bool         `json:"stale,omitempty"`
	StaleReason  StaleReason  `json:"stale_reason,omitempty"`

	Owner        string   `json:"owner,omitempty"`
	Access       []string `json:"access,omitempty"`
	SessionID    string   `json:"session_id,omitempty"`
	SessionOwner string   `json:"session_owner,omitempty"` // of a transient memory: the identity that opened its session
	Agent        string   `json:"agent,omitempty"`

	CreatedAt      Time   `json:"created_at,omitzero"` // absent: now
	UpdatedAt      Time   `json:"updated_at,omitzero"` // absent: as WrittenAt
	WrittenAt      Time   `json:"written_at,omitzero"` // when the content was last written; absent: as CreatedAt
	LastAccessedAt Time   `json:"last_accessed_at,omitzero"`
	AccessCount    int    `json:"access_count,omitempty"`
	ExpiresAt      Time   `json:"expires_at,omitzero"`
	ResolvedAt     Time   `json:"resolved_at,omitzero"`
	Hits           []Time `json:"hits,omitempty"` // when a pitfall occurred

	ContentHash string `json:"content_hash,omitempty"` // of a memory made anew from its text when it is taken in
	ForgottenAt Time   `json:"forgotten_at,omitzero"`  // of a tombstone
}

// Bounds of the lists of a Record; of longer ones it has the newest.
const (
	MaxSupersedes = 1000
	MaxHits       = 10000
)

// LogValue keeps bodies out of logs.
func (r Record) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", string(r.Type)), slog.String("id", r.ID), slog.String("namespace", r.Namespace))
}

// RecordOf is the record of a memory, without what the memory does not say of itself.
func RecordOf(m *Memory) Record {
	return Record{
		Type: MemoryRecord, ID: m.ID, Tier: m.Tier, Namespace: m.Namespace, Kind: m.Kind, MemoryKey: m.MemoryKey, Version: m.Version,
		Summary: m.Summary, RawContent: m.RawContent, Why: m.Why, HowToApply: m.HowToApply, Importance: m.Importance, Tags: m.Tags,
		Source: m.Source, SourceStatus: m.SourceStatus, VerifiedAt: m.VerifiedAt, VerifiedBy: m.VerifiedBy,
		Stale: m.Stale, StaleReason: m.StaleReason, Owner: m.Owner, Access: m.Access, SessionID: m.SessionID, Agent: m.Agent,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, WrittenAt: m.WrittenAt, LastAccessedAt: m.LastAccessedAt,
		AccessCount: m.AccessCount, ExpiresAt: m.ExpiresAt, ResolvedAt: m.ResolvedAt, ContentHash: m.ContentHash,
	}
}

// Memory is the memory that a record states.
func (r *Record) Memory() Memory {
	return Memory{
		ID: r.ID, Tier: r.Tier, Namespace: r.Namespace, Kind: r.Kind, MemoryKey: r.MemoryKey, Version: r.Version,
		Summary: r.Summary, RawContent: r.RawContent, Why: r.Why, HowToApply: r.HowToApply, Importance: r.Importance, Tags: r.Tags,
		Source: r.Source, SourceStatus: r.SourceStatus, VerifiedAt: r.VerifiedAt, VerifiedBy: r.VerifiedBy,
		Stale: r.Stale, StaleReason: r.StaleReason, Owner: r.Owner, Access: r.Access, SessionID: r.SessionID, Agent: r.Agent,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, WrittenAt: r.WrittenAt, LastAccessedAt: r.LastAccessedAt,
		AccessCount: r.AccessCount, ExpiresAt: r.ExpiresAt, ResolvedAt: r.ResolvedAt, ContentHash: r.ContentHash,
	}
}

// Outcome is what became of a record that was to be taken in.
type Outcome string

// Outcomes. Those from Refused on are for a person to look at.
const (
	Created    Outcome = "created"    // it stands now
	Unchanged  Outcome = "unchanged"  // it stood already, here perhaps newer
	Forgotten  Outcome = "forgotten"  // a tombstone: what it names was here, and is forgotten
	Tombstoned Outcome = "tombstoned" // it was forgotten here, and is left out
	Expired    Outcome = "expired"    // its time is over, and it is left out
	Refused    Outcome = "refused"    // a rule or a guard said no
	Conflict   Outcome = "conflict"   // the store says something else under the same id or key, and keeps it
)

// Outcomes returns every outcome.
func Outcomes() []Outcome {
	return []Outcome{Created, Unchanged, Forgotten, Tombstoned, Expired, Refused, Conflict}
}

// Failed reports whether a record was not taken in though it should have been.
func (o Outcome) Failed() bool { return o == Refused || o == Conflict }

// Imported is what became of one record. It repeats nothing of a body.
type Imported struct {
	Outcome     Outcome  `json:"outcome"`
	ID          string   `json:"id,omitempty"`           // of the row that stands
	DuplicateOf string   `json:"duplicate_of,omitempty"` // the row of another id that says the same
	Code        Code     `json:"code,omitempty"`
	Field       string   `json:"field,omitempty"`
	Reason      string   `json:"reason,omitempty"` // of what failed or was left out
	Hint        string   `json:"hint,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
}

// MaxRecords bounds the records of one import call.
const MaxRecords = 500

// Room is how many more rows the budget of each tier takes, of the long tier how many
// more keys. One that is beyond its budget already has less than none.
type Room map[Tier]int
