package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memd"
	"memd/migrations"
)

// Finding is one fault that a check found. It names rows by id, never by
// their body, and the database where it is not the active one.
type Finding struct {
	Check  string `json:"check"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`

	part string // the historical database at fault, "" for the active one or several
}

// report takes a finding.
type report func(check, fix, format string, args ...any)

// findings are those of a check under way.
type findings []Finding

// in is the report of what is found in a database.
func (f *findings) in(p *part) report {
	return func(check, fix, format string, args ...any) {
		found := Finding{Check: check, Detail: fmt.Sprintf(format, args...), Fix: fix, part: p.file}
		if p.file != "" {
			found.Detail = p.name() + ": " + found.Detail
			if fix == damaged {
				found.Fix = strings.Replace(damaged, ActiveName, p.name(), 1)
			}
		}
		*f = append(*f, found)
	}
}

// names reports whether a finding of a check in a database is among these.
func (f findings) names(check, file string) bool {
	return slices.ContainsFunc(f, func(found Finding) bool { return found.Check == check && found.part == file })
}

// Check looks for faults in the databases, and for what else lies in their
// folder. quick leaves out what reads every page. Faults are findings; an error
// means that the check itself failed. Nothing is changed.
func (s *Set) Check(ctx context.Context, quick bool) ([]Finding, error) {
	var found findings
	if err := s.checkFiles(ctx); err != nil {
		if memd.CodeOf(err) != memd.CodeStoreFailed {
			return nil, err
		}
		return []Finding{{Check: "files", Detail: messageOf(err), Fix: hintOf(err)}}, nil
	}
	if err := s.checkStrays(ctx, &found); err != nil {
		return nil, err
	}
	var read []string
	err := s.View(ctx, func(v *View) error {
		if err := s.checkCatalogue(v, &found); err != nil {
			return err
		}
		checks := []func(context.Context, *conn, report) error{checkSchema}
		if !quick {
			checks = append(checks, checkPages, checkInvariants)
		}
		if err := v.check(&found, checks); err != nil || quick {
			return err
		}
		for i, p := range v.parts {
			if v.conn(i) != nil {
				read = append(read, p.file)
			}
		}
		return v.checkAcross(&found)
	})
	if err != nil || quick {
		return found, err
	}
	err = s.checkAtRest(ctx, read, &found)
	return found, err
}

// check runs checks of one database on each that can be read.
func (v *View) check(found *findings, checks []func(context.Context, *conn, report) error) error {
	return v.each(func(i int, c *conn) error {
		p := v.parts[i]
		add := found.in(p)
		modes := func(ctx context.Context, c *conn, add report) error { return checkModes(ctx, c, p, add) }
		for _, check := range append([]func(context.Context, *conn, report) error{modes}, checks...) {
			switch err := check(v.ctx, c, add); {
			case indexFault(err):
				add("index", mendable, "the keyword index cannot be read")
			case damage(err):
				add("integrity", damaged, "a check met damaged pages: %s", messageOf(err))
			case err != nil:
				return err
			}
		}
		return nil
	})
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

// checkModes looks at how a database is journalled.
func checkModes(ctx context.Context, c *conn, p *part, add report) error {
	mode, err := c.value(ctx, `PRAGMA journal_mode`)
	if err != nil {
		return fail("read the journal mode", err)
	}
	want := "delete"
	if p.file == "" {
		want = "wal"
	}
	if !strings.EqualFold(mode, want) {
		add("journal_mode", mendable, "the journal mode is %s, not %s", mode, want)
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
		case strings.Contains(line, "FTS5 table main."), strings.HasPrefix(line, "fts5: "): // made of the rows, and so can be made anew
			add("index", mendable, "%s", line)
		default:
			add("integrity", damaged, "%s", line)
		}
		return err
	}))
}

// invariants are queries that return a row, with a name for it, for each breach
// within one database.
var invariants = []struct{ check, query string }{
	{"orphan_vector", `SELECT memory_id FROM embedding WHERE` + noMemory + ` LIMIT 20`},
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

// checkAtRest checks databases while the writer is at rest: FTS5's own comparison
// of index and content, which needs the right to write although it changes
// nothing, and the counts of the catalogue, which follow a change of a file.
func (s *Set) checkAtRest(ctx context.Context, files []string, found *findings) error {
	for _, file := range files {
		err := s.writer.alone(ctx, func() error {
			if err := s.writer.ready(ctx); err != nil {
				return err
			}
			if file == "" {
				return checkIndex(ctx, s.writer.conn, found.in(s.active))
			}
			p := s.writer.part(file)
			if p == nil { // retired meanwhile
				return nil
			}
			c, err := p.own(ctx)
			if err != nil {
				if found.names("journal_mode", file) { // which cannot be set while it is read
					return nil
				}
				return err
			}
			if err := checkIndex(ctx, c, found.in(p)); err != nil {
				return err
			}
			return checkCounts(ctx, s.writer.conn, p, c, found.in(p))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func checkIndex(ctx context.Context, c *conn, add report) error {
	for _, t := range indexed {
		_, err := c.exec(ctx, on(t, `INSERT INTO {t}_fts ({t}_fts, rank) VALUES ('integrity-check', 1)`))
		if sqliteCode(err) == codeCorrupt {
			add("index", mendable, "the keyword index of tier %s does not match its rows", t)
		} else if err != nil {
			return fail("check the keyword index", err)
		}
	}
	return nil
}

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
