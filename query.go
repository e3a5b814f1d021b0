package memd

import "log/slog"

// Query asks for the memories that bear on a text.
type Query struct {
	Query          string   `json:"query"`
	Namespaces     []string `json:"namespaces,omitempty"` // default ["default"]; the first named wins a key
	Access         []string `json:"access,omitempty"`
	Limit          *int     `json:"limit,omitempty"` // default 10, 1..100
	Cursor         string   `json:"cursor,omitempty"`
	Tiers          []Tier   `json:"tiers,omitempty"`
	Kinds          []Kind   `json:"kinds,omitempty"`
	Tags           []string `json:"tags,omitempty"` // a row must carry all
	SessionID      string   `json:"session_id,omitempty"`
	IncludeArchive bool     `json:"include_archive,omitempty"`
	IncludeRaw     bool     `json:"include_raw,omitempty"`
	MaxChars       *int     `json:"max_chars,omitempty"` // code points of what is returned; absent: no limit
	Touch          *bool    `json:"touch,omitempty"`     // default true: count the access
	Explain        bool     `json:"explain,omitempty"`
	Tools          []string `json:"tools,omitempty"` // in use, whose manuals a selector need not pick
}

// LogValue keeps the query's text out of logs.
func (q Query) LogValue() slog.Value { return slog.IntValue(len(q.Query)) }

// Match names a reason why a row is among the results.
type Match string

// Reasons.
const (
	MatchKeyword   Match = "keyword"
	MatchMetadata  Match = "metadata"
	MatchVector    Match = "vector"
	MatchNeighbour Match = "neighbour"
)

// DegradedSelector names the selector among what an answer does without.
const DegradedSelector = "selector"

// Hit is one result: the memory, its score, and why it is there.
type Hit struct {
	Memory
	Score     float64    `json:"score"`
	Matched   []Match    `json:"matched"`
	Shortened bool       `json:"shortened,omitempty"` // the summary was cut to max_chars
	Breakdown *Breakdown `json:"breakdown,omitempty"`
}

// Breakdown splits a score into its terms; they sum to it. A list sorted by
// the sum of its breakdowns (highest first), then updated_at (newest first),
// then id is in the order of recall.
type Breakdown struct {
	Authority  float64 `json:"authority"`  // the tier's band, or short's for a long row under the floor
	Stale      float64 `json:"stale"`      // negative for a stale row
	Keyword    float64 `json:"keyword"`    // weight of the query terms the text holds
	Metadata   float64 `json:"metadata"`   // weight of those its key, tags, kind, source or owner hold
	Vector     float64 `json:"vector"`     //
	Neighbour  float64 `json:"neighbour"`  // lent by rows of its session that match
	Importance float64 `json:"importance"` // the tilts: at most a fifth of relevance together
	Recency    float64 `json:"recency"`    //
	Access     float64 `json:"access"`     //
	Source     float64 `json:"source"`     //
	Selected   float64 `json:"selected"`   // what moves a row that the selector picked to the front of its tier
}

// Sum adds the terms in their fixed order.
func (b Breakdown) Sum() float64 {
	return b.Authority + b.Stale + b.Keyword + b.Metadata + b.Vector + b.Neighbour +
		b.Importance + b.Recency + b.Access + b.Source + b.Selected
}

// EmptyReason says why a recall found nothing.
type EmptyReason string

// Reasons for an empty result.
const (
	EmptyNoMatch     EmptyReason = "no_match"
	EmptyAllFiltered EmptyReason = "all_filtered"
	EmptyLegFailed   EmptyReason = "leg_failed"
)

// Answer is what a recall found, best first.
type Answer struct {
	Results     []Hit          `json:"results"`
	NextCursor  string         `json:"next_cursor,omitempty"`
	EmptyReason EmptyReason    `json:"empty_reason,omitempty"`
	Filtered    map[string]int `json:"filtered,omitempty"` // with explain: matching rows removed, by filter
	Degraded    []string       `json:"degraded"`
	TookMS      float64        `json:"took_ms"`
}

// ContextRequest asks for the memories a session should start from.
type ContextRequest struct {
	SessionID  string   `json:"session_id,omitempty"`
	Query      string   `json:"query,omitempty"`
	MaxChars   *int     `json:"max_chars,omitempty"` // code points, default 8000
	Namespaces []string `json:"namespaces,omitempty"`
	Access     []string `json:"access,omitempty"`
	Tools      []string `json:"tools,omitempty"` // as in Query
}

// LogValue keeps the query's text out of logs.
func (r ContextRequest) LogValue() slog.Value { return slog.IntValue(len(r.Query)) }

// LeftOutReason says why a row is not, or not whole, in a context.
type LeftOutReason string

// Reasons for leaving a row out.
const (
	LeftBudget     LeftOutReason = "budget"
	LeftShortened  LeftOutReason = "shortened"
	LeftSuperseded LeftOutReason = "superseded"
	LeftOverridden LeftOutReason = "overridden"
	LeftStale      LeftOutReason = "stale"
	LeftBelowFloor LeftOutReason = "below_floor"
	LeftDuplicate  LeftOutReason = "duplicate"
)

// Ref names a row without its body.
type Ref struct {
	ID        string        `json:"id"`
	MemoryKey string        `json:"memory_key,omitempty"`
	Reason    LeftOutReason `json:"reason,omitempty"`
}

// Context is a text for a prompt: memories fenced as data, within a budget.
type Context struct {
	Text      string `json:"text"`
	UsedChars int    `json:"used_chars"` // code points of Text
	Included  []Ref  `json:"included"`
	LeftOut   []Ref  `json:"left_out"`

	// What failed: a leg, the selector, and databases that could not be read,
	// with their rows. Absent where nothing did.
	Degraded []string `json:"degraded,omitempty"`
}
