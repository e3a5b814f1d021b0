package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"memd/internal/atomicfile"
)

// copyOut makes a copy of the active database the historical one p and then
// empties the active one: the way for a database that another program has
// open, whose file can get no other name. It takes longer, and the write-ahead
// log grows by what is emptied.
//
// The catalogue names the copy before it is made, and counts it only with the
// commit that empties: rows are never in both.
func (s *Set) copyOut(ctx context.Context, p *part) error {
	w := s.writer
	err := w.plainly(ctx, func() error {
		_, err := w.conn.exec(ctx, `INSERT INTO history (file, seq, state, sealed_at, bytes, short, long, archive, vectors, vector_bytes)
 SELECT ?, 1 + coalesce(max(seq), 0), 'copying', ?, 0, 0, 0, 0, 0, 0 FROM history`, p.file, s.Now().String())
		return fail("mark a rollover", err)
	})
	if err != nil {
		return err
	}
	reached(ctx, "rollover/marked")
	// One transaction holds everybody's writes off from before the copy until the
	// rows are out: what a shell wrote between would be lost.
	held := false
	err = w.plainly(ctx, func() error {
		if err := s.copyAs(ctx, p); err != nil {
			return err
		}
		reached(ctx, "rollover/copied")
		if err := s.empty(ctx, p); err != nil {
			return err
		}
		s.views.Lock() // for the commit alone
		held = true
		return nil
	})
	if err == nil {
		s.history = append([]*part{p}, s.history...)
		s.signs.renew(s.active)
	}
	if held {
		s.views.Unlock()
	}
	if err != nil {
		return errors.Join(err, removeDatabase(filepath.Join(s.dir, ActiveName)+copySuffix), p.close(), s.dropFile(ctx, p))
	}
	// The next rows take the place of those; what is left of it the light groom
	// gives back.
	reached(ctx, "rollover/emptied")
	return nil
}

// copyAs makes the copy and puts it under its name.
func (s *Set) copyAs(ctx context.Context, p *part) error {
	path := filepath.Join(s.dir, ActiveName) + copySuffix
	if err := removeDatabase(path); err != nil {
		return fail("remove what an earlier rollover left", err)
	}
	if err := makePrivate(path); err != nil {
		return fail("create a historical database", err)
	}
	if err := s.copyActive(ctx, path); err != nil {
		return fail("copy the active database", err)
	}
	c, err := connect(ctx, path, "rw", historyPragmas+`PRAGMA synchronous = OFF;`)
	if err != nil {
		return fail("open a historical database", err)
	}
	if err := errors.Join(shed(ctx, c, nil), c.close()); err != nil {
		return fail("thin a historical database out", err)
	}
	if err := syncFile(path); err != nil {
		return fail("write a historical database", err)
	}
	if err := os.Rename(path, p.path); err != nil {
		return fail("name a historical database", err)
	}
	return fail("write the history folder", errors.Join(atomicfile.SyncDir(filepath.Dir(p.path)), atomicfile.SyncDir(s.dir)))
}

// copyActive copies the active database as it was when the writer's transaction
// began.
func (s *Set) copyActive(ctx context.Context, path string) error {
	c, err := connect(ctx, filepath.Join(s.dir, ActiveName), "ro", "")
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, `VACUUM INTO ?`, path)
	return errors.Join(err, c.close())
}

// empty takes out of the active database, within the writer's transaction, all
// rows that p now holds, and counts p in the catalogue.
func (s *Set) empty(ctx context.Context, p *part) error {
	c := s.writer.conn
	triggers, err := deleteTriggers(ctx, c)
	if err != nil {
		return fail("read the schema", err)
	}
	own, err := p.own(ctx)
	if err != nil {
		return err
	}
	queries := []string{}
	for _, t := range triggers { // they would take each row out of the index by itself
		queries = append(queries, `DROP TRIGGER `+t.name)
	}
	for _, t := range indexed {
		queries = append(queries, on(t, `INSERT INTO {t}_fts ({t}_fts) VALUES ('delete-all')`), on(t, `DELETE FROM {t}`),
			on(t, `DELETE FROM {t}_reindex`), on(t, `UPDATE tally SET rows = 0, chars = 0 WHERE tier = '{t}'`))
	}
	queries = append(queries, `DELETE FROM embedding`,
		// A gap says that more was moved than is told here.
		`INSERT INTO moved (seq, tier, rid) SELECT coalesce(max(seq), 0) + 2 * `+movedKept+`, 'short', 0 FROM moved`)
	for _, t := range triggers {
		queries = append(queries, t.sql)
	}
	if _, err := c.exec(ctx, `UPDATE head SET file = ? WHERE id IS NOT NULL AND file IS NULL`, p.file); err != nil {
		return fail("hand on the heads", err)
	}
	for _, query := range queries {
		if _, err := c.exec(ctx, query); err != nil {
			return fail("empty the active database", err)
		}
	}
	if _, err := c.exec(ctx, `INSERT INTO audit (at, caller, action, detail) VALUES (?, ?, 'rollover', ?)`, s.Now().String(), p.by, p.file); err != nil {
		return fail("write an audit entry", err)
	}
	if err := errors.Join(s.trimLog(ctx, c), s.trimBulk(ctx, c)); err != nil {
		return fail("trim what stays", err)
	}
	if _, err := c.exec(ctx, `UPDATE history SET state = 'sealed' WHERE file = ?`, p.file); err != nil {
		return fail("enter a historical database in the catalogue", err)
	}
	if err := recount(ctx, c, p, own); err != nil {
		return err
	}
	used, _, err := pageBytes(ctx, c)
	if err == nil {
		_, err = c.exec(ctx, `INSERT OR REPLACE INTO meta (key, value, updated_at) VALUES (?, ?, ?)`, baseKey, strconv.FormatInt(used, 10), s.Now().String())
	}
	return fail("note what stays", err)
}

// trimBulk leaves in the active database as much of what is kept in bulk as an
// exchange hands on: else it would be full of that before a row comes.
func (s *Set) trimBulk(ctx context.Context, c *conn) error {
	share := s.budgets.ActiveBytes / bulkShare
	for _, trim := range []struct {
		query string
		args  []any
	}{
		{`DELETE FROM tombstone WHERE id NOT IN (SELECT id FROM tombstone ORDER BY forgotten_at DESC LIMIT ?)`, []any{share / tombstoneSize}},
		{`DELETE FROM once WHERE rowid IN (` + fairOnce + `)`, []any{min(maxOnce, share/onceSize), -1}},
		{`DELETE FROM access_log WHERE (memory_id, session, day) NOT IN
 (SELECT memory_id, session, day FROM access_log ORDER BY at DESC LIMIT ?)`, []any{share / accessSize}},
		{`DELETE FROM pitfall_hit WHERE seq NOT IN (SELECT seq FROM pitfall_hit ORDER BY seq DESC LIMIT ?)`, []any{share / hitSize}},
		{`DELETE FROM outbox WHERE memory_id NOT IN (SELECT memory_id FROM outbox ORDER BY queued_at DESC LIMIT ?)`, []any{share / outboxSize}},
	} {
		if _, err := c.exec(ctx, trim.query, trim.args...); err != nil {
			return err
		}
	}
	return nil
}

// trigger is one of the schema's.
type trigger struct{ name, sql string }

// deleteTriggers are those that follow the deletion of a row with an index.
func deleteTriggers(ctx context.Context, c *conn) (found []trigger, err error) {
	err = c.each(ctx, `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`, nil, func(rows *sql.Rows) error {
		var t trigger
		err := rows.Scan(&t.name, &t.sql)
		if strings.HasSuffix(t.name, "_delete") && t.name != "transient_delete" {
			found = append(found, t)
		}
		return err
	})
	return found, err
}
