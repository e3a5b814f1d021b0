package store

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"memd"
)

// OldVersions returns the versions in the long tier that have at least keep newer
// ones of their key there, but for those that have left, and are no heads: what pruning may delete, of each key the oldest first.
func (v *View) OldVersions(keep int, left func(id string) bool, now memd.Time) ([]Candidate, error) {
	rows := map[headKey]int{}
	err := v.each(func(i int, c *conn) error {
		return c.each(v.ctx, `SELECT namespace, memory_key, count(*) FROM long GROUP BY namespace, memory_key`, nil, func(found *sql.Rows) error {
			var key headKey
			var n int
			err := found.Scan(&key.namespace, &key.key, &n)
			rows[key] += n
			return err
		})
	})
	if err != nil {
		return nil, fail("count versions", err)
	}
	maps.DeleteFunc(rows, func(_ headKey, n int) bool { return n <= keep })
	if len(rows) == 0 {
		return nil, nil
	}
	found, err := v.Matching(Any(memd.Long, now))
	if err != nil {
		return nil, err
	}
	versions := map[headKey][]Candidate{}
	for _, c := range found {
		if key := (headKey{c.Namespace, c.Key}); rows[key] > 0 && !left(c.ID) {
			versions[key] = append(versions[key], c)
		}
	}
	var all []Candidate
	for key, of := range versions {
		h, _, err := v.Head(key.namespace, key.key)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(of, func(a, b Candidate) int { return b.Version - a.Version })
		for _, old := range of[min(keep, len(of)):] {
			if old.ID != h.ID {
				all = append(all, old)
			}
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Key, b.Key), a.Version-b.Version)
	})
	return all, nil
}

// IsOldVersion reports whether a row is still one that OldVersions returns. See At.
func (tx *Tx) IsOldVersion(old Candidate, keep int) (bool, error) {
	if h, _, err := tx.Head(old.Namespace, old.Key); err != nil || h.ID == old.ID {
		return false, err
	}
	if _, ok, err := tx.Matches(Any(memd.Long, tx.w.set.Now()), old.ID); !ok || err != nil {
		return false, err
	}
	newer := 0
	err := tx.each(func(p *part, c *conn) error {
		if newer >= keep {
			return nil
		}
		var ids []string
		err := c.each(tx.ctx, `SELECT id FROM long WHERE namespace = ? AND memory_key = ? AND version > ?`,
			[]any{old.Namespace, old.Key, old.Version}, func(rows *sql.Rows) error {
				var id string
				err := rows.Scan(&id)
				ids = append(ids, id)
				return err
			})
		for _, id := range ids {
			ok, err := tx.found(p, id)
			if err != nil {
				return err
			}
			if ok {
				newer++
			}
		}
		return fail("count versions", err)
	})
	return newer >= keep, err
}
