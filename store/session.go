package store

import "memd"

// SessionOwner returns the identity of who opened a session, "" when nobody has.
func (tx *Tx) SessionOwner(session string) (string, error) {
	var owner string
	err := tx.conn.row(tx.ctx, `SELECT owner FROM session WHERE session_id = ?`, []any{session}, &owner)
	_, err = none(err)
	return owner, fail("read a session", err)
}

// Bounds of sessions without a note. The newest of them stay, as many as fit a share
// of the active database; which is looked at once in so many openings.
const (
	sessionSize  = 512 // bytes of a session, roughly
	openingsLook = 64
)

// emptySessionsMost is how many sessions without a note are kept.
func (s *Set) emptySessionsMost() int64 { return max(1, s.budgets.ActiveBytes/bulkShare/sessionSize) }

// Adopt puts what an earlier release kept under the bare name of a caller under
// its identity: sessions, and the writes that it may repeat. What is older than
// the caller was another's of that name, and stays nobody's.
func (tx *Tx) Adopt(name, id string, since memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `UPDATE session SET owner = ? WHERE owner = ? AND opened_at > ?`, id, name, since.String())
	if err == nil {
		_, err = tx.conn.exec(tx.ctx, `UPDATE OR IGNORE once SET caller = ? WHERE caller = ? AND at > ?`, id, name, since.String())
	}
	return fail("adopt a caller's sessions", err)
}

// OpenSession records who opened a session. Once in a while it lets the oldest that
// hold no note go, or a caller that names ever new ones would fill the disk with them.
func (tx *Tx) OpenSession(session, owner string, at memd.Time) error {
	if tx.w.unswept--; tx.w.unswept < 0 {
		tx.w.unswept = openingsLook
		if err := tx.dropEmptySessions(); err != nil { // before this one, which has no note yet
			return fail("make room for a session", err)
		}
	}
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO session (session_id, owner, opened_at) VALUES (?, ?, ?)`,
		session, owner, at.String())
	return fail("open a session", err)
}

func (tx *Tx) dropEmptySessions() error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM session WHERE session_id IN (SELECT session_id FROM session s
  WHERE NOT EXISTS (SELECT 1 FROM transient t WHERE t.session_id = s.session_id)
  ORDER BY opened_at DESC, session_id LIMIT -1 OFFSET ?)`, tx.w.set.emptySessionsMost())
	return err
}

// EndSession deletes a session and its transient rows.
func (tx *Tx) EndSession(session string) error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM transient WHERE session_id = ?`, session)
	if err == nil {
		_, err = tx.conn.exec(tx.ctx, `DELETE FROM session WHERE session_id = ?`, session)
	}
	return fail("end a session", err)
}

// EvictNote deletes a transient row whose time is over, and where there is
// none the oldest of the session that holds most rows; among equally full
// sessions the one whose oldest row is oldest.
func (tx *Tx) EvictNote(now memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `DELETE FROM transient WHERE rid = coalesce(
  (SELECT rid FROM transient WHERE expires_at <= ? ORDER BY expires_at, rid LIMIT 1),
  (SELECT min(rid) FROM transient GROUP BY session_id ORDER BY count(*) DESC, min(rid) LIMIT 1))`, now.String())
	return fail("make room for a note", err)
}
