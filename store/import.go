package store

import (
	"database/sql"
	"encoding/json"

	"memd"
)

// Standing returns the whole rows with the given ids, from whichever tiers and
// databases hold them. Where a database cannot be read, that is an error: nobody can
// tell which are missing.
func (tx *Tx) Standing(ids []string) (map[string]memd.Memory, error) {
	rows, wanted := map[string]memd.Memory{}, jsonList(ids)
	err := tx.each(func(p *part, c *conn) error {
		for _, t := range p.tiers() {
			var here []memd.Memory
			err := c.each(tx.ctx, on(t, `SELECT `+fullColumns+` FROM json_each(?) w CROSS JOIN {t} ON {t}.id = w.value`),
				[]any{wanted}, collect(t, true, &here))
			if err != nil {
				return fail("look for rows", err)
			}
			for _, m := range here {
				ok, err := tx.found(p, m.ID)
				if err != nil {
					return err
				}
				if ok {
					rows[m.ID] = m
				}
			}
		}
		return nil
	})
	if err == nil {
		err = tx.w.absent()
	}
	return rows, err
}

// Tombstone is one memory that was forgotten.
type Tombstone struct {
	ID, Namespace, MemoryKey, ContentHash string
	ForgottenAt                           memd.Time
}

const tombstoneColumns = `t.id, t.namespace, t.memory_key, t.content_hash, t.forgotten_at`

func (g *Tombstone) targets() []any {
	return []any{&g.ID, &g.Namespace, nullText{&g.MemoryKey}, &g.ContentHash, nullTime{&g.ForgottenAt}}
}

// Tombstones returns what was forgotten under the given ids, and what said the same as
// rows of the given contents within their namespaces. A row's content is its
// content_hash.
func (tx *Tx) Tombstones(ids []string, rows []memd.Memory) ([]Tombstone, error) {
	contents := make([][2]string, len(rows))
	for i, m := range rows {
		contents[i] = [2]string{m.Namespace, m.ContentHash}
	}
	pairs, err := json.Marshal(contents)
	if err != nil {
		return nil, err
	}
	var found []Tombstone
	collect := func(rows *sql.Rows) error {
		var g Tombstone
		err := rows.Scan(g.targets()...)
		found = append(found, g)
		return err
	}
	err = tx.each(func(_ *part, c *conn) error {
		err := c.each(tx.ctx, `SELECT `+tombstoneColumns+` FROM json_each(?) w CROSS JOIN tombstone t ON t.id = w.value`,
			[]any{jsonList(ids)}, collect)
		if err == nil {
			err = c.each(tx.ctx, `SELECT `+tombstoneColumns+` FROM json_each(?) w CROSS JOIN tombstone t
 ON t.namespace = w.value ->> 0 AND t.content_hash = w.value ->> 1`, []any{string(pairs)}, collect)
		}
		return fail("look for what was forgotten", err)
	})
	return found, err
}

// Entomb remembers that a memory was forgotten that does not stand here.
func (tx *Tx) Entomb(g Tombstone) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO tombstone (id, namespace, memory_key, content_hash, forgotten_at)
VALUES (?, ?, ?, ?, ?)`, g.ID, g.Namespace, orNull(g.MemoryKey), g.ContentHash, g.ForgottenAt.String())
	return fail("write a tombstone", err)
}

// VersionsOf returns the versions of a key that stand in the long tier and the archive,
// by their ids.
func (tx *Tx) VersionsOf(namespace, key string) (map[string]int, error) {
	versions := map[string]int{}
	err := tx.each(func(p *part, c *conn) error {
		var ids []string
		here := map[string]int{}
		err := c.each(tx.ctx, `SELECT id, version FROM long WHERE namespace = ?1 AND memory_key = ?2
UNION ALL SELECT id, version FROM archive WHERE namespace = ?1 AND memory_key = ?2`, []any{namespace, key},
			func(rows *sql.Rows) error {
				var id string
				var version int
				err := rows.Scan(&id, number{&version})
				ids = append(ids, id)
				here[id] = version
				return err
			})
		for _, id := range ids {
			var ok bool
			if err == nil {
				ok, err = tx.found(p, id)
			}
			if ok {
				versions[id] = here[id]
			}
		}
		return fail("read the versions of a key", err)
	})
	return versions, err
}

// Archived returns the archived rows of a namespace with the given content.
func (tx *Tx) Archived(namespace, hash string) (all []memd.Memory, err error) {
	err = tx.each(func(p *part, c *conn) error {
		var here []memd.Memory
		err := c.each(tx.ctx, on(memd.Archive, findContent), []any{namespace, hash, hash}, collect(memd.Archive, true, &here))
		for _, m := range here {
			var ok bool
			if err == nil {
				ok, err = tx.found(p, m.ID)
			}
			if ok {
				all = append(all, m)
			}
		}
		return fail("look for equal content", err)
	})
	return all, err
}
