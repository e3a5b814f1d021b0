package store

import (
	"context"
	"database/sql"
	"maps"

	"memd"
)

// deadVectors are the rows of one tier with a vector that may serve nobody.
type deadVectors struct {
	Rule
	superseded bool // only where the row is no current version
	foreign    bool // the vector is of another model: only where no renewal comes to replace it
}

const hasVector = `EXISTS (SELECT 1 FROM embedding e WHERE e.memory_id = {t}.id)`

// deadVectors of rows that were not imported after the given time: of superseded
// versions, of rows that have expired and are kept, and of another model once a
// renewal is over.
func (s *Set) deadVectors(imported, now memd.Time) (dead []deadVectors) {
	args := func(more ...any) []any { return append([]any{nil, nil, imported.String()}, more...) }
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		kept := `?3 IS NULL AND ?4 IS NULL AND ` + notImported + ` AND {t}.memory_key IS NOT NULL AND ` + hasVector
		dead = append(dead, deadVectors{Rule: Rule{t, kept, now, args()}, superseded: true},
			deadVectors{Rule: Rule{t, kept + ` AND {t}.expires_at <= ?6`, now, args(now.String())}})
	}
	if s.outbox.set && (s.outbox.before.model == "" || s.outbox.renewal.done.Load()) {
		for _, t := range indexed {
			dead = append(dead, deadVectors{foreign: true, Rule: Rule{t, `?3 IS NULL AND ?4 IS NULL AND ` + notImported + ` AND
 EXISTS (SELECT 1 FROM embedding e WHERE e.memory_id = {t}.id AND (e.model <> ?6 OR e.dim <> ?7))`, now,
				args(s.outbox.space.model, s.outbox.space.dim)}})
		}
	}
	return dead
}

// keys reads heads.
type keys interface {
	Head(namespace, key string) (Head, bool, error)
}

// current reports whether a row with a key is the one that recall may find.
func (c Candidate) current(k keys) (bool, error) {
	h, known, err := k.Head(c.Namespace, c.Key)
	if !known || err != nil {
		return err == nil && c.Tier == memd.Archive, err
	}
	return h.has(&memd.Memory{ID: c.ID, Tier: c.Tier, Version: c.Version}, c.File), nil
}

// looked are the databases that Fill is through with.
func (f *filling) looked() map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.done)
}

// DeadVectors returns the rows with a vector that serves nobody.
func (s *Set) DeadVectors(ctx context.Context, imported, now memd.Time) (all []Candidate, err error) {
	looked := s.outbox.fill.looked() // before the View, within which Fill waits for it
	err = s.View(ctx, func(v *View) error {
		waits, err := v.waits()
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, d := range s.deadVectors(imported, now) {
			found, err := v.Matching(d.Rule)
			if err != nil {
				return err
			}
			for _, c := range found {
				dead := !d.foreign || looked[c.File] && !waits[c.ID]
				if d.superseded {
					is, err := c.current(v)
					if err != nil {
						return err
					}
					dead = !is
				}
				if dead && !seen[c.ID] {
					seen[c.ID] = true
					all = append(all, c)
				}
			}
		}
		return nil
	})
	return all, err
}

// waits are the memories in the outbox that are not parked.
func (v *View) waits() (map[string]bool, error) {
	ids, err := v.ids(v.active(), `SELECT memory_id FROM outbox WHERE attempts < ?`, parkedAfter)
	waits := make(map[string]bool, len(ids))
	for _, id := range ids {
		waits[id] = true
	}
	return waits, err
}

// DropDeadVector deletes the vector of a row if it still serves nobody. See At.
func (tx *Tx) DropDeadVector(c Candidate, imported, now memd.Time) (bool, error) {
	for _, d := range tx.w.set.deadVectors(imported, now) {
		if d.tier != c.Tier {
			continue
		}
		_, dead, err := tx.Matches(d.Rule, c.ID)
		if err == nil && dead && d.superseded {
			dead, err = c.current(tx)
			dead = !dead
		}
		if err == nil && dead && d.foreign {
			var waits bool
			err = tx.conn.row(tx.ctx, `SELECT EXISTS (SELECT 1 FROM outbox WHERE memory_id = ? AND attempts < ?)`, []any{c.ID, parkedAfter}, &waits)
			dead = !waits
		}
		if err != nil {
			return false, fail("look at a vector again", err)
		}
		if dead {
			return tx.dropVector(c.ID)
		}
	}
	return false, nil
}

// EachVector calls fn with the id of every row of tier t that has a vector.
func (v *View) EachVector(t memd.Tier, fn func(id string)) error {
	return v.each(func(i int, c *conn) error {
		err := c.each(v.ctx, on(t, `SELECT {t}.id FROM {t} WHERE `+hasVector), nil, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			fn(id)
			return err
		})
		return fail("count vectors", err)
	})
}
