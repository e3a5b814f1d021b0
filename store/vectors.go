package store

import (
	"context"
)

// vector is one as it is stored.
type vector struct {
	space space
	int8  []byte
	bits  []byte
}

// vectorIn reads a row's vector in one database.
func vectorIn(ctx context.Context, c *conn, id string) (v vector, ok bool, err error) {
	ok, err = none(c.row(ctx, `SELECT model, dim, vec, bits FROM embedding WHERE memory_id = ?`, []any{id},
		&v.space.model, &v.space.dim, &v.int8, &v.bits))
	return v, ok, err
}

// putVector stores a row's vector in the database of c, in which the write's
// transaction is open.
func (tx *Tx) putVector(c *conn, id string, v vector) error {
	if c == tx.conn {
		tx.w.set.signs.add(tx.w.set.active, sign{id, v.space, v.bits})
	}
	_, err := c.exec(tx.ctx, `INSERT OR REPLACE INTO embedding (memory_id, model, dim, vec, bits) VALUES (?, ?, ?, ?, ?)`,
		id, v.space.model, v.space.dim, v.int8, v.bits)
	return err
}
