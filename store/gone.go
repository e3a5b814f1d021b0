package store

import (
	"database/sql"
	"slices"
	"strings"

	"memd"
)

// goneKeys are keys of namespace ?1 behind key ?2 that ended, each with its place in
// fates: that were forgotten, archived, deleted by hand, or expired by the time ?4; of
// forgotten ones the last time, of archived ones the newest version. Some may have a live
// head none the less.
const goneKeys = `SELECT memory_key, max(fate), max(version), max(at) FROM (
 SELECT memory_key, 3 fate, 0 version, forgotten_at at FROM tombstone WHERE namespace = ?1 AND memory_key > ?2
 UNION ALL SELECT memory_key, 2, coalesce(version, 0), '' FROM archive WHERE namespace = ?1 AND memory_key > ?2
 UNION ALL SELECT memory_key, 1, 0, '' FROM head WHERE namespace = ?1 AND memory_key > ?2 AND id IS NULL
 UNION ALL SELECT memory_key, 0, 0, '' FROM long WHERE namespace = ?1 AND memory_key > ?2 AND expires_at <= ?4)
 GROUP BY memory_key ORDER BY memory_key LIMIT ?3`

// fates are what may become of a key, the one last that says most: who forgets a key means
// every version of it, and a head without a row is what archiving leaves as well.
var fates = [...]memd.Fate{memd.FateExpired, memd.FateDeleted, memd.FateArchived, memd.FateForgotten}

// ended is what is known of a key of which something ended.
type ended struct {
	fate      int    // its place in fates
	archived  int    // the newest version in the archive, 0 for none
	forgotten string // when it was, the last time, "" for never
}

// Gone returns the first keys of a namespace behind one, in their order, that ended and
// have no memory in force at the given time. more tells the key from which to go on, ""
// where there are none.
func (v *View) Gone(namespace, behind string, limit int, now memd.Time) (found []memd.Gone, more string, err error) {
	keys := map[string]ended{}
	err = v.each(func(i int, c *conn) error {
		read, last := 0, ""
		err := c.each(v.ctx, goneKeys, []any{namespace, behind, limit, now.String()}, func(rows *sql.Rows) error {
			var key string
			var e ended
			err := rows.Scan(&key, &e.fate, &e.archived, &e.forgotten)
			before := keys[key]
			keys[key] = ended{max(before.fate, e.fate), max(before.archived, e.archived), max(before.forgotten, e.forgotten)}
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
		if fate == "" {
			continue
		}
		g := memd.Gone{MemoryKey: key, Fate: fate}
		if fate == memd.FateForgotten {
			if g.ForgottenAt, err = memd.ParseTime(e.forgotten); err != nil {
				return nil, "", fail("read the keys that ended", err)
			}
		}
		found = append(found, g)
	}
	slices.SortFunc(found, func(a, b memd.Gone) int { return strings.Compare(a.MemoryKey, b.MemoryKey) })
	return found, more, nil
}

// fate is how the last version of a key ended, "" where it is in force. That an older one
// was forgotten, or the key before it was written anew, says nothing of it.
func (v *View) fate(namespace, key string, e ended, now memd.Time) (memd.Fate, error) {
	head, ok, err := v.Head(namespace, key)
	if err != nil || !ok {
		return fates[e.fate], err
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
	return fates[e.fate], nil
}
