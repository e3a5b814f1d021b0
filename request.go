package memd

// The requests below are the bodies of the calls of the same name. Pointers
// and Opt tell an absent field from a zero one.

// Remember asks for a short-term row.
type Remember struct {
	Summary    string   `json:"summary"`
	RawContent string   `json:"raw_content,omitempty"`
	Kind       Kind     `json:"kind,omitempty"`       // default event
	Importance *int     `json:"importance,omitempty"` // default 5
	Tags       []string `json:"tags,omitempty"`
	Source     string   `json:"source,omitempty"`
	Namespace  string   `json:"namespace,omitempty"` // default "default"
	SessionID  string   `json:"session_id,omitempty"`
	Agent      string   `json:"agent,omitempty"`
	Access     []string `json:"access,omitempty"`
	ExpiresAt  Time     `json:"expires_at,omitzero"`
}

// RememberLongTerm asks for a long-term row: a new key, a new version of a
// key, or a refresh of the head when nothing changed. Content fields are
// stated whole; kind, importance, tags, owner and access left out keep what
// the head has.
type RememberLongTerm struct {
	MemoryKey   string   `json:"memory_key"`
	Summary     string   `json:"summary"`
	Source      string   `json:"source"`
	RawContent  string   `json:"raw_content,omitempty"`
	Why         string   `json:"why,omitempty"`
	HowToApply  string   `json:"how_to_apply,omitempty"`
	Kind        Kind     `json:"kind,omitempty"`       // default fact
	Importance  *int     `json:"importance,omitempty"` // default 5
	Tags        []string `json:"tags,omitempty"`
	VerifiedAt  Time     `json:"verified_at,omitzero"` // default now
	CreatedAt   Time     `json:"created_at,omitzero"`  // of the version that is written, default now
	Owner       string   `json:"owner,omitempty"`
	Access      []string `json:"access,omitempty"`
	Namespace   string   `json:"namespace,omitempty"`
	BaseVersion *int     `json:"base_version,omitempty"` // 0: the key must not exist
}

// Note asks for a transient row of a session.
type Note struct {
	Summary string `json:"summary"`
	TTL     string `json:"ttl,omitempty"` // Go duration such as "90s" or "24h"
}

// Patch changes the metadata of a row in place. Null clears a field.
type Patch struct {
	Importance Opt[int]      `json:"importance,omitzero"`
	Tags       Opt[[]string] `json:"tags,omitzero"`
	Owner      Opt[string]   `json:"owner,omitzero"`
	Access     Opt[[]string] `json:"access,omitzero"`
	ExpiresAt  Opt[Time]     `json:"expires_at,omitzero"`
	ResolvedAt Opt[Time]     `json:"resolved_at,omitzero"`
}

// Promote moves a short or archived row to the long tier, or an archived one
// back to short (To: "short").
type Promote struct {
	To         Tier     `json:"to,omitempty"` // default long
	MemoryKey  string   `json:"memory_key,omitempty"`
	Source     string   `json:"source,omitempty"`
	Kind       Kind     `json:"kind,omitempty"`
	Why        string   `json:"why,omitempty"`
	HowToApply string   `json:"how_to_apply,omitempty"`
	Importance *int     `json:"importance,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	VerifiedAt Time     `json:"verified_at,omitzero"`
	Owner      string   `json:"owner,omitempty"`
}

// Verify says that a long row was checked against its source.
type Verify struct {
	VerifiedAt Time `json:"verified_at,omitzero"` // default now
	// SourceStatus may be SourceMissing: whoever asks has looked, and the source
	// does not say it any more. The row is then marked stale and not verified.
	SourceStatus SourceStatus `json:"source_status,omitempty"`
}

// List selects rows; zero fields do not filter.
type List struct {
	Tier      Tier
	Namespace string // "" is "default"; "*" is every namespace, for admin
	Kind      Kind
	Tag       string
	MemoryKey string
	Stale     *bool
	Q         string   // case-insensitive part of the summary
	SessionID string   // of transient rows only those of this session
	Access    []string // restricted rows show only where these cover their tags
	Limit     int      // 1..200
	Cursor    string

	IncludeRaw bool // whole rows
}

// Gone is a memory_key of a namespace under which no long-term memory is in force
// any more, and what became of the last one.
type Gone struct {
	MemoryKey   string `json:"memory_key"`
	Fate        Fate   `json:"fate"`
	ForgottenAt Time   `json:"forgotten_at,omitzero"` // of a forgotten one, the last time
}

// Fate is how a long-term memory ended.
type Fate string

// Fates.
const (
	FateForgotten Fate = "forgotten"
	FateArchived  Fate = "archived" // it was resolved
	FateDeleted   Fate = "deleted"  // by hand, in the file
	FateExpired   Fate = "expired"
)

// GonePage is one page of such keys, in their order.
type GonePage struct {
	Gone       []Gone `json:"gone"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Fates are the page's keys, and how the memory of each ended.
func (p GonePage) Fates() map[string]Fate {
	fates := make(map[string]Fate, len(p.Gone))
	for _, g := range p.Gone {
		fates[g.MemoryKey] = g.Fate
	}
	return fates
}

// Page is one page of a list, newest first.
type Page struct {
	Memories   []Memory `json:"memories"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// Written is the answer to a write: the memory as it now stands, and what the
// write found.
type Written struct {
	Memory
	Deduplicated bool     `json:"deduplicated,omitempty"`
	Unchanged    bool     `json:"unchanged,omitempty"`
	DuplicateOf  string   `json:"duplicate_of,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
	Created      bool     `json:"-"` // answered as 201
}
