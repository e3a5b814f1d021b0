package store

import "memd"

// Seen is what a groom saw of a head.
type Seen struct {
	ID, File       string
	Namespace, Key string
	Source         string
	Status         memd.SourceStatus
	VerifiedAt     memd.Time
	SourceHash     string
}

// same reports whether the head still is the row that was seen, verified as it
// was then.
func (tx *Tx) same(s Seen) (bool, error) {
	h, ok, err := tx.Head(s.Namespace, s.Key)
	return ok && h.ID == s.ID && h.SourceHash == s.SourceHash, err
}

// asSeen is the condition that a row is as it was seen, of ?1 to ?4.
const asSeen = ` WHERE id = ?1 AND source = ?2 AND source_status = ?3 AND verified_at = ?4`

// MarkStale marks a head stale or takes the mark off, if it is as it was seen;
// its other columns stay. See At.
func (tx *Tx) MarkStale(s Seen, reason memd.StaleReason) (bool, error) {
	return tx.mark(s, `UPDATE long SET stale = ?5, stale_reason = ?6`+asSeen+` AND (stale, stale_reason) IS NOT (?5, ?6)`,
		reason != "", orNull(string(reason)))
}

// MarkSource notes what became of a head's source, and when it was last
// verified and by whom, if the head is as it was seen. See At.
func (tx *Tx) MarkSource(s Seen, status memd.SourceStatus, at memd.Time, by string) (bool, error) {
	return tx.mark(s, `UPDATE long SET source_status = ?5, verified_at = ?6, verified_by = coalesce(?7, verified_by)`+asSeen,
		string(status), at.String(), orNull(by))
}

func (tx *Tx) mark(s Seen, query string, args ...any) (bool, error) {
	if ok, err := tx.same(s); !ok || err != nil {
		return false, err
	}
	c, err := tx.home(s.ID)
	if err != nil {
		return false, err
	}
	n, err := c.exec(tx.ctx, query, append([]any{s.ID, s.Source, string(s.Status), s.VerifiedAt.String()}, args...)...)
	return n > 0, fail("mark a head", err)
}
