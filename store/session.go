package store

import "memd"

// SessionOwner returns the caller that opened a session, "" when nobody has.
func (tx *Tx) SessionOwner(session string) (string, error) {
	var owner string
	err := tx.conn.row(tx.ctx, `SELECT owner FROM session WHERE session_id = ?`, []any{session}, &owner)
	_, err = none(err)
	return owner, fail("read a session", err)
}

// OpenSession records who opened a session.
func (tx *Tx) OpenSession(session, owner string, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO session (session_id, owner, opened_at) VALUES (?, ?, ?)`,
		session, owner, at.String())
	return fail("open a session", err)
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
