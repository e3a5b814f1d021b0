package store

import "memd"

// Once is a write that was answered under an idempotency key.
type Once struct {
	Caller  string
	Key     string
	Print   string // of the request
	ID      string // of the memory that was answered
	Outcome string // what the answer said beside the memory; no body
	At      memd.Time
}

// maxOnce bounds the idempotency keys kept; the oldest go first.
const maxOnce = 10000

// Once returns what a caller's key was used for after the given time.
func (tx *Tx) Once(caller, key string, after memd.Time) (Once, bool, error) {
	o := Once{Caller: caller, Key: key}
	err := tx.conn.row(tx.ctx, `SELECT print, memory_id, outcome, at FROM once WHERE caller = ? AND key = ? AND at > ?`,
		[]any{caller, key, after.String()}, &o.Print, &o.ID, &o.Outcome, nullTime{&o.At})
	ok, err := none(err)
	return o, ok, fail("look up an idempotency key", err)
}

// KeepOnce keeps a key that was used now.
func (tx *Tx) KeepOnce(o Once) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO once (caller, key, print, memory_id, outcome, at)
VALUES (?, ?, ?, ?, ?, ?)`, o.Caller, o.Key, o.Print, o.ID, o.Outcome, o.At.String())
	if err == nil {
		_, err = tx.conn.exec(tx.ctx, `DELETE FROM once WHERE at < (SELECT at FROM once ORDER BY at DESC LIMIT 1 OFFSET ?)`, maxOnce-1)
	}
	return fail("keep an idempotency key", err)
}
