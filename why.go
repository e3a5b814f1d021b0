package memd

import "log/slog"

// WhyRequest asks why a memory comes back for a query, or does not. Exactly one
// of MemoryKey and ID names it. Without a query what depends on one (questions 4
// and 5) is not asked.
type WhyRequest struct {
	Query      string   `json:"query,omitempty"`
	MemoryKey  string   `json:"memory_key,omitempty"`
	ID         string   `json:"id,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"` // default ["default"], as in Query
	Access     []string `json:"access,omitempty"`
	SessionID  string   `json:"session_id,omitempty"` // whose notes may appear
}

// LogValue keeps the query's text out of logs.
func (r WhyRequest) LogValue() slog.Value { return slog.IntValue(len(r.Query)) }

// WhyReason is the one reason why a memory is among the results of a recall or
// is not.
type WhyReason string

// Reasons, in the order in which they are looked for. A memory that the caller
// may not know of has the reason of one that was never written.
const (
	WhyNeverWritten  WhyReason = "never_written"   // nothing of the name that the caller may know of
	WhyForgotten     WhyReason = "forgotten"       // by its id or key, on a day
	WhyDeletedByHand WhyReason = "deleted_by_hand" // the key goes on, the row was deleted in the shell
	WhyGone          WhyReason = "gone"            // it was written, ran out or made room, and no tombstone tells of it
	WhyUnavailable   WhyReason = "unavailable"     // it may stand in a database that cannot be read
	WhySuperseded    WhyReason = "superseded"      // a later version was written
	WhyNamespace     WhyReason = "namespace"       // it stands in one that the request does not name
	WhyExpired       WhyReason = "expired"         // its time has come
	WhyAccess        WhyReason = "access"          // it has tags that the request does not name
	WhyTierClosed    WhyReason = "tier_closed"     // the archive, or a session that the request does not name
	WhyOverridden    WhyReason = "overridden"      // a namespace named earlier has the key
	WhyNotAsked      WhyReason = "not_asked"       // nothing bars it, and there is no query
	WhyNoMatch       WhyReason = "no_match"        // the query finds nothing in it
	WhyDuplicate     WhyReason = "duplicate"       // equal content stands higher
	WhyStale         WhyReason = "stale"           // fresh, it would be on the first page
	WhyBelowFloor    WhyReason = "below_floor"     // over the match floor, it would be
	WhyOutranked     WhyReason = "outranked"       // others fill the first page
	WhyReturned      WhyReason = "returned"        // it is on the first page
)

// WhyQuestion is one question of the memory chain. Answer begins with yes, no or
// unknown; neither it nor the evidence holds a text of a memory.
type WhyQuestion struct {
	N        int      `json:"n"` // 1 to 7
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Evidence []string `json:"evidence"`
}

// WhyAnswer is what the memory chain says of one memory.
type WhyAnswer struct {
	ID        string        `json:"id,omitempty"`
	MemoryKey string        `json:"memory_key,omitempty"`
	Namespace string        `json:"namespace,omitempty"`
	Returned  bool          `json:"returned"`       // on the first page of a recall with its defaults
	Rank      int           `json:"rank,omitempty"` // its place in the whole order, from 1
	Reason    WhyReason     `json:"reason"`
	Detail    string        `json:"detail"`
	Questions []WhyQuestion `json:"questions"`
}
