package store

import "memd"

// Once is a write that was answered under an idempotency key.
type Once struct {
	Caller  string // by its identity
	Key     string
	Print   string // of the request
	ID      string // of the memory that was answered
	Outcome string // what the answer said beside the memory; no body
	At      memd.Time
}

// Bounds of the idempotency keys kept. What goes first is the oldest of the caller that
// has most: nobody makes a repeat of another's a second write by using many. It is
// looked at once in so many keys.
const (
	maxOnce  = 10000
	onceLook = 64
)

// fairOnce orders the keys of table once by what is kept longest: of each caller the
// newest, then of each the next. ?1 is how many come before what it yields, ?2 how many
// it yields.
const fairOnce = `SELECT rowid FROM
 (SELECT rowid, at, row_number() OVER (PARTITION BY caller ORDER BY at DESC, rowid DESC) AS nth FROM main.once)
 ORDER BY nth, at DESC, rowid DESC LIMIT ?2 OFFSET ?1`

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
		if tx.w.uncounted--; tx.w.uncounted < 0 {
			tx.w.uncounted = onceLook
			err = tx.trimOnce()
		}
	}
	return fail("keep an idempotency key", err)
}

func (tx *Tx) trimOnce() error {
	var kept int
	err := tx.conn.row(tx.ctx, `SELECT count(*) FROM once`, nil, &kept)
	if err == nil && kept > maxOnce {
		_, err = tx.conn.exec(tx.ctx, `DELETE FROM once WHERE rowid IN (`+fairOnce+`)`, maxOnce, -1)
	}
	return err
}
