package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"memd"
)

// goneKeys are keys of namespace ?1 behind key ?2 that ended: that were forgotten,
// archived, deleted by hand, or expired by the time ?4. Some may have a live head none
// the less.
const goneKeys = `SELECT memory_key, fate FROM (
 SELECT memory_key, 'forgotten' fate FROM tombstone WHERE namespace = ?1 AND memory_key > ?2
 UNION SELECT memory_key, 'deleted' FROM head WHERE namespace = ?1 AND memory_key > ?2 AND id IS NULL
 UNION SELECT memory_key, 'archived' FROM archive WHERE namespace = ?1 AND memory_key > ?2
 UNION SELECT memory_key, 'expired' FROM long WHERE namespace = ?1 AND memory_key > ?2 AND expires_at <= ?4)
 ORDER BY memory_key LIMIT ?3`

// Gone returns the first keys of a namespace behind one, in their order, that ended and
// have no memory in force at the given time. more tells the key from which to go on, ""
// where there are none.
func (v *View) Gone(namespace, behind string, limit int, now memd.Time) (found []memd.Gone, more string, err error) {
	fates := map[string]memd.Fate{}
	err = v.each(func(i int, c *conn) error {
		read, last := 0, ""
		err := c.each(v.ctx, goneKeys, []any{namespace, behind, limit, now.String()}, func(rows *sql.Rows) error {
			var key, fate string
			err := rows.Scan(&key, &fate)
			fates[key] = worse(fates[key], memd.Fate(fate))
			read, last = read+1, key
			return err
		})
		if read == limit && (more == "" || last < more) {
			more = last
		}
		return fail("read the keys that ended", err)
	})
	if err != nil {
		return nil, "", err
	}
	for key, fate := range fates {
		if more != "" && key > more {
			continue
		}
		alive, err := v.inForce(namespace, key, now)
		if err != nil {
			return nil, "", err
		}
		if !alive {
			found = append(found, memd.Gone{MemoryKey: key, Fate: fate})
		}
	}
	slices.SortFunc(found, func(a, b memd.Gone) int { return strings.Compare(a.MemoryKey, b.MemoryKey) })
	return found, more, nil
}

// worse is the fate that says more: who forgets a key means every version of it, and
// a head without a row is what archiving leaves as well.
func worse(a, b memd.Fate) memd.Fate {
	rank := []memd.Fate{memd.FateExpired, memd.FateDeleted, memd.FateArchived, memd.FateForgotten}
	if slices.Index(rank, a) > slices.Index(rank, b) {
		return a
	}
	return cmp.Or(b, a)
}

func (v *View) inForce(namespace, key string, now memd.Time) (bool, error) {
	head, ok, err := v.Head(namespace, key)
	if err != nil || !ok {
		return false, err
	}
	m, ok, err := v.Row(head)
	return ok && (m.ExpiresAt.IsZero() || m.ExpiresAt.After(now.Time)), err
}
