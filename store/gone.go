package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"memd"
)

// goneKeys are keys of namespace ?1 behind key ?2 that ended: that were forgotten,
// archived, deleted by hand, or expired by the time ?4; of archived ones the newest
// version. Some may have a live head none the less.
const goneKeys = `SELECT memory_key, fate, version FROM (
 SELECT memory_key, 'forgotten' fate, 0 version FROM tombstone WHERE namespace = ?1 AND memory_key > ?2
 UNION SELECT memory_key, 'deleted', 0 FROM head WHERE namespace = ?1 AND memory_key > ?2 AND id IS NULL
 UNION SELECT memory_key, 'archived', coalesce(max(version), 0) FROM archive WHERE namespace = ?1 AND memory_key > ?2 GROUP BY memory_key
 UNION SELECT memory_key, 'expired', 0 FROM long WHERE namespace = ?1 AND memory_key > ?2 AND expires_at <= ?4)
 ORDER BY memory_key LIMIT ?3`

// ended is what is known of a key of which something ended.
type ended struct {
	fate     memd.Fate
	archived int // the newest version in the archive, 0 for none
}

// Gone returns the first keys of a namespace behind one, in their order, that ended and
// have no memory in force at the given time. more tells the key from which to go on, ""
// where there are none.
func (v *View) Gone(namespace, behind string, limit int, now memd.Time) (found []memd.Gone, more string, err error) {
	keys := map[string]ended{}
	err = v.each(func(i int, c *conn) error {
		read, last := 0, ""
		err := c.each(v.ctx, goneKeys, []any{namespace, behind, limit, now.String()}, func(rows *sql.Rows) error {
			var key, fate string
			var version int
			err := rows.Scan(&key, &fate, &version)
			keys[key] = ended{worse(keys[key].fate, memd.Fate(fate)), max(keys[key].archived, version)}
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
	for key, e := range keys {
		if more != "" && key > more {
			continue
		}
		fate, err := v.fate(namespace, key, e, now)
		if err != nil {
			return nil, "", err
		}
		if fate != "" {
			found = append(found, memd.Gone{MemoryKey: key, Fate: fate})
		}
	}
	slices.SortFunc(found, func(a, b memd.Gone) int { return strings.Compare(a.MemoryKey, b.MemoryKey) })
	return found, more, nil
}

// worse is the fate that says more, where the last version of a key tells none: who
// forgets a key means every version of it, and a head without a row is what archiving
// leaves as well.
func worse(a, b memd.Fate) memd.Fate {
	rank := []memd.Fate{memd.FateExpired, memd.FateDeleted, memd.FateArchived, memd.FateForgotten}
	if slices.Index(rank, a) > slices.Index(rank, b) {
		return a
	}
	return cmp.Or(b, a)
}

// fate is how the last version of a key ended, "" where it is in force. That an older one
// was forgotten, or the key before it was written anew, says nothing of it.
func (v *View) fate(namespace, key string, e ended, now memd.Time) (memd.Fate, error) {
	head, ok, err := v.Head(namespace, key)
	if err != nil || !ok {
		return e.fate, err
	}
	m, stands, err := v.Row(head)
	switch {
	case err != nil:
		return "", err
	case stands && (m.ExpiresAt.IsZero() || m.ExpiresAt.After(now.Time)):
		return "", nil
	case stands:
		return memd.FateExpired, nil
	case e.archived > 0 && e.archived == head.Version:
		return memd.FateArchived, nil
	}
	return e.fate, nil
}
