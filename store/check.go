package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"memd"
	"memd/migrations"
)

// Finding is one fault that a check found. It names rows by id, never by
// their body.
type Finding struct {
	Check  string `json:"check"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Check looks for faults in the databases. quick leaves out what reads every
// page. Faults are findings; an error means that the check itself failed.
func (s *Set) Check(ctx context.Context, quick bool) ([]Finding, error) {
	var found []Finding
	add := func(check, fix, format string, args ...any) {
		found = append(found, Finding{Check: check, Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
	if err := s.checkFiles(ctx); err != nil {
		if memd.CodeOf(err) != memd.CodeStoreFailed {
			return nil, err
		}
		add("files", hintOf(err), "%s", messageOf(err))
		return found, nil
	}
	checks := []func(context.Context, *conn, report) error{checkSchema}
	if !quick {
		checks = append(checks, checkPages, checkInvariants)
	}
	err := s.View(ctx, func(v *View) error {
		return v.each(func(i int, c *conn) error {
			for _, check := range checks {
				if err := check(ctx, c, add); sqliteCode(err) == codeCorrupt {
					add("integrity", damaged, "a check met damaged pages: %s", messageOf(err))
				} else if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil || quick {
		return found, err
	}
	err = s.checkIndex(ctx, add)
	return found, err
}

// checkFiles refuses to go on over files that were replaced or removed.
func (s *Set) checkFiles(ctx context.Context) error {
	return s.View(ctx, func(*View) error { return s.writer.files.check() })
}

// damaged is what to do about a file that SQLite cannot read whole.
const damaged = "stop memd and run `memd restore` with the newest backup below backups/; without one, keep a copy of the data directory and try `sqlite3 agent_memory.db .recover`"

func messageOf(err error) string {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e.Message
	}
	return "unreadable"
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e.Hint
	}
	return ""
}

type report func(check, fix, format string, args ...any)

func checkSchema(ctx context.Context, c *conn, add report) error {
	version, err := schemaVersion(ctx, c)
	if err != nil {
		return fail("read the schema version", err)
	}
	if version != migrations.Latest {
		add("schema", "start memd once: it migrates", "the database has schema %d, this memd %d", version, migrations.Latest)
	}
	var vacuum int
	if err := c.row(ctx, `PRAGMA auto_vacuum`, nil, &vacuum); err != nil {
		return fail("read auto_vacuum", err)
	}
	if vacuum != 2 {
		add("auto_vacuum", mendable,
			"auto_vacuum is %d, so deleted rows give no space back", vacuum)
	}
	return nil
}

func checkPages(ctx context.Context, c *conn, add report) error {
	// FTS5 checks an index by the structure that this connection remembers,
	// which the writer may have changed since (SQLite 3.54). Opening a cursor
	// makes it read the structure anew.
	for _, t := range indexed {
		if _, err := none(c.row(ctx, on(t, `SELECT rowid FROM {t}_fts LIMIT 1`), nil, new(int64))); err != nil {
			return fail("read the keyword index", err)
		}
	}
	return fail("check integrity", c.each(ctx, `PRAGMA integrity_check(20)`, nil, func(rows *sql.Rows) error {
		var line string
		err := rows.Scan(&line)
		switch {
		case err != nil || line == "ok":
		case strings.Contains(line, "FTS5 table main."): // made of the rows, and so can be made anew
			add("index", mendable, "%s", line)
		default:
			add("integrity", damaged, "%s", line)
		}
		return err
	}))
}

// invariants are queries that return a row, with a name for it, for each
// breach.
var invariants = []struct{ check, query string }{
	{"one_place", `SELECT id FROM (SELECT id FROM transient UNION ALL SELECT id FROM short
 UNION ALL SELECT id FROM long UNION ALL SELECT id FROM archive) GROUP BY id HAVING count(*) > 1 LIMIT 20`},
	{"head_target", `SELECT h.namespace || ' ' || h.memory_key FROM head h
 WHERE h.id IS NOT NULL AND h.file IS NULL
 AND NOT EXISTS (SELECT 1 FROM long l WHERE l.id = h.id AND l.version = h.version
   AND l.namespace = h.namespace AND l.memory_key = h.memory_key) LIMIT 20`},
	{"headless_key", `SELECT l.id FROM long l
 WHERE NOT EXISTS (SELECT 1 FROM head h WHERE h.namespace = l.namespace AND h.memory_key = l.memory_key
   AND h.version >= l.version) LIMIT 20`},
	{"orphan_vector", `SELECT memory_id FROM embedding e
 WHERE NOT EXISTS (SELECT 1 FROM short WHERE id = e.memory_id) AND NOT EXISTS (SELECT 1 FROM long WHERE id = e.memory_id)
 AND NOT EXISTS (SELECT 1 FROM archive WHERE id = e.memory_id) LIMIT 20`},
	{"orphan_outbox", `SELECT memory_id FROM outbox o
 WHERE NOT EXISTS (SELECT 1 FROM short WHERE id = o.memory_id) AND NOT EXISTS (SELECT 1 FROM long WHERE id = o.memory_id)
 AND NOT EXISTS (SELECT 1 FROM archive WHERE id = o.memory_id) LIMIT 20`},
	{"orphan_reindex", `SELECT 'short ' || rid FROM short_reindex WHERE rid NOT IN (SELECT rid FROM short)
 UNION ALL SELECT 'long ' || rid FROM long_reindex WHERE rid NOT IN (SELECT rid FROM long)
 UNION ALL SELECT 'archive ' || rid FROM archive_reindex WHERE rid NOT IN (SELECT rid FROM archive) LIMIT 20`},
	{"tally", `SELECT t.tier FROM tally t JOIN (
 SELECT 'transient' AS tier, count(*) AS rows, coalesce(sum(length(summary)), 0) AS chars FROM transient
 UNION ALL SELECT 'short', count(*), coalesce(sum(length(summary)), 0) FROM short
 UNION ALL SELECT 'long', count(*), coalesce(sum(length(summary)), 0) FROM long
 UNION ALL SELECT 'archive', count(*), coalesce(sum(length(summary)), 0) FROM archive) c USING (tier)
 WHERE c.rows <> t.rows OR c.chars <> t.chars`},
	{"meta_rows", `SELECT 'meta has ' || count(*) || ' rows' FROM meta HAVING count(*) > 200`},
	{"times", `SELECT id FROM memory WHERE updated_at NOT GLOB
 '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]Z' LIMIT 20`},
}

func checkInvariants(ctx context.Context, c *conn, add report) error {
	for _, inv := range invariants {
		err := c.each(ctx, inv.query, nil, func(rows *sql.Rows) error {
			var what string
			err := rows.Scan(&what)
			if err == nil {
				add(inv.check, fixOf(inv.check), "breached by %s", what)
			}
			return err
		})
		if err != nil {
			return fail("check "+inv.check, err)
		}
	}
	return nil
}

// checkIndex runs FTS5's own comparison of index and content, which needs the
// writer although it changes nothing.
func (s *Set) checkIndex(ctx context.Context, add report) error {
	for _, t := range indexed {
		err := s.Update(ctx, func(tx *Tx) error {
			_, err := tx.conn.exec(tx.ctx, on(t, `INSERT INTO {t}_fts ({t}_fts, rank) VALUES ('integrity-check', 1)`))
			if sqliteCode(err) == codeCorrupt {
				return errIndex
			}
			return fail("check the keyword index", err)
		})
		if err == errIndex {
			add("index", mendable,
				"the keyword index of tier %s does not match its rows", t)
		} else if err != nil {
			return err
		}
	}
	return nil
}

var errIndex = memd.Errorf(memd.CodeStoreFailed, "index out of step")

// Probe writes one value and reads it back: whether the store takes writes.
func (s *Set) Probe(ctx context.Context) error {
	stamp := strconv.FormatInt(s.now().UnixNano(), 36)
	if err := s.Update(ctx, func(tx *Tx) error { return tx.SetMeta("write_probe", stamp, s.Now()) }); err != nil {
		return err
	}
	return s.View(ctx, func(v *View) error {
		got, err := v.Meta("write_probe")
		if err == nil && got != stamp {
			err = memd.Errorf(memd.CodeStoreFailed, "the probe read back another value")
		}
		return err
	})
}
