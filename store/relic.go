package store

import (
	"context"
	"database/sql"

	"memd"
)

// Relic is something that memd keeps beside memories, and only for a while.
type Relic struct {
	table, where string
	arg          string
}

// OldOnce are the idempotency keys used before the given time.
func OldOnce(before memd.Time) Relic { return Relic{`once`, `at <= ?`, before.String()} }

// EmptySessions are those opened before the given time that hold no note any more.
func EmptySessions(before memd.Time) Relic {
	return Relic{`session`, `opened_at < ? AND NOT EXISTS (SELECT 1 FROM transient t WHERE t.session_id = session.session_id)`, before.String()}
}

// FoldedBefore are the folded accesses of days before day (YYYY-MM-DD).
func FoldedBefore(day string) Relic { return Relic{`access_log`, `folded = 1 AND day < ?`, day} }

// OldHits are the hits of pitfalls before the given time.
func OldHits(before memd.Time) Relic { return Relic{`pitfall_hit`, `at < ?`, before.String()} }

// hitsOf are the hits of pitfalls in a list of ids.
func hitsOf(ids []string) Relic {
	return Relic{`pitfall_hit`, `memory_id IN (SELECT value FROM json_each(?))`, jsonList(ids)}
}

// accessesOf are the accesses of memories in a list of ids.
func accessesOf(ids []string) Relic {
	return Relic{`access_log`, `memory_id IN (SELECT value FROM json_each(?))`, jsonList(ids)}
}

// oldImports are the marks of rows imported before the given time.
func oldImports(before memd.Time) Relic { return Relic{`imported`, `at <= ?`, before.String()} }

// has reports whether a database holds any.
func (r Relic) has(ctx context.Context, c *conn) (has bool, err error) {
	err = c.row(ctx, `SELECT EXISTS (SELECT 1 FROM `+r.table+` WHERE `+r.where+`)`, []any{r.arg}, &has)
	return has, fail("look for what has had its time", err)
}

func (r Relic) drop(ctx context.Context, c *conn) error {
	_, err := c.exec(ctx, `DELETE FROM `+r.table+` WHERE `+r.where, r.arg)
	return fail("delete what has had its time", err)
}

// DropRelics deletes relics of the active database. It writes only where there
// are any.
func (s *Set) DropRelics(ctx context.Context, relics ...Relic) error {
	var there []Relic
	err := s.View(ctx, func(v *View) error {
		for _, r := range relics {
			has, err := r.has(ctx, v.active())
			if err != nil {
				return err
			}
			if has {
				there = append(there, r)
			}
		}
		return nil
	})
	if err != nil || len(there) == 0 {
		return err
	}
	return s.Update(ctx, func(tx *Tx) error {
		for _, r := range there {
			if err := r.drop(tx.ctx, tx.conn); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropImports deletes, in every database, the marks of rows that were imported
// before the given time. A database that another program holds keeps them until
// the next time.
func (s *Set) DropImports(ctx context.Context, before memd.Time) error {
	old := oldImports(before)
	var files []string
	err := s.View(ctx, func(v *View) error {
		return v.each(func(i int, c *conn) error {
			if !v.ready(i) {
				return nil
			}
			has, err := old.has(ctx, c)
			if has {
				files = append(files, v.parts[i].file)
			}
			return err
		})
	})
	for _, file := range files {
		if err == nil {
			err = s.Update(ctx, func(tx *Tx) error {
				c := tx.conn
				if p := tx.w.part(file); p != nil {
					if c, err = tx.change(p); err != nil {
						return err
					}
				} else if file != "" { // gone meanwhile
					return nil
				}
				return old.drop(tx.ctx, c)
			})
			if file != "" && memd.CodeOf(err) == memd.CodeStoreBusy {
				err = nil
			}
		}
	}
	return err
}

// DropOrphans deletes accesses and hits of memories that are gone.
func (s *Set) DropOrphans(ctx context.Context) error {
	var gone []string
	err := s.View(ctx, func(v *View) error {
		ids, err := v.ids(v.active(), `SELECT memory_id FROM access_log WHERE folded = 0 UNION SELECT memory_id FROM pitfall_hit`)
		if err == nil {
			_, gone, err = v.Places(ids)
		}
		return err
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return s.DropRelics(ctx, accessesOf(gone), hitsOf(gone))
}

func (v *View) ids(c *conn, query string, args ...any) ([]string, error) {
	var ids []string
	err := c.each(v.ctx, query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, fail("plan a groom", err)
}
