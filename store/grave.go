package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"memd"
)

// ForgotOpen is the detail of the audit entry of a forget, where the memory had
// no access tags: a tombstone says nothing of them.
const ForgotOpen = "open"

// Grave tells of a memory that was forgotten.
type Grave struct {
	ID, Namespace, MemoryKey string
	At                       memd.Time
	Open                     bool // whether it is known that it had no access tags
}

// Graves returns what was forgotten under an id, or under a key of some
// namespaces, the latest first.
func (v *View) Graves(id string, namespaces []string, key string) ([]Grave, error) {
	found := map[string]Grave{}
	err := v.each(func(i int, c *conn) error {
		return fail("read what was forgotten", c.each(v.ctx, `SELECT t.id, t.namespace, t.memory_key, t.forgotten_at,
 EXISTS (SELECT 1 FROM audit a WHERE a.memory_id = t.id AND a.action = 'forget' AND a.detail = ?4)
 FROM tombstone t
 WHERE t.id = ?1 OR t.memory_key = ?2 AND t.namespace IN (SELECT value FROM json_each(?3))`,
			[]any{id, orNull(key), jsonList(namespaces), ForgotOpen}, func(rows *sql.Rows) error {
				var g Grave
				if err := rows.Scan(&g.ID, &g.Namespace, nullText{&g.MemoryKey}, nullTime{&g.At}, &g.Open); err != nil {
					return err
				}
				g.Open = g.Open || found[g.ID].Open // the tombstone is handed on, the entry is not
				found[g.ID] = g
				return nil
			}))
	})
	graves := make([]Grave, 0, len(found))
	for _, g := range found {
		graves = append(graves, g)
	}
	slices.SortFunc(graves, func(a, b Grave) int {
		return cmp.Or(b.At.Compare(a.At.Time), strings.Compare(b.ID, a.ID))
	})
	return graves, err
}

// LastSeen returns the last entry of the audit log that names a memory, without its
// key and detail; ok is false where none does.
func (v *View) LastSeen(id string) (last Entry, ok bool, err error) {
	err = v.each(func(i int, c *conn) error {
		return fail("read the audit log", c.each(v.ctx, `SELECT at, caller, action, namespace FROM audit WHERE memory_id = ? ORDER BY at DESC, seq DESC LIMIT 1`,
			[]any{id}, func(rows *sql.Rows) error {
				e := Entry{ID: id}
				err := rows.Scan(nullTime{&e.At}, &e.Caller, &e.Action, nullText{&e.Namespace})
				if !ok || e.At.After(last.At.Time) {
					last, ok = e, true
				}
				return err
			}))
	})
	return last, ok, err
}

// NamespacesOf returns the namespaces that a key was ever written in and not
// forgotten, in their order.
func (v *View) NamespacesOf(key string) ([]string, error) {
	var found []string
	err := v.active().each(v.ctx, `SELECT namespace FROM head WHERE memory_key = ? ORDER BY namespace`, []any{key}, func(rows *sql.Rows) error {
		var ns string
		err := rows.Scan(&ns)
		found = append(found, ns)
		return err
	})
	return found, fail("read the namespaces of a key", err)
}
