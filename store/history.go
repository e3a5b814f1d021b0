package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"memd"
	"memd/internal/atomicfile"
	"memd/migrations"
)

// States of a historical database in the catalogue. docs/format.md has what
// moves one on.
const (
	stateCopying  = "copying"  // the file is being made; its rows still live in the active database
	stateSealed   = "sealed"   // at rest
	stateRetiring = "retiring" // what is owed in it moves to the next
	stateRetired  = "retired"  // nothing is owed in it; the file may go
)

// openHistory makes ready what the catalogue names. The writer is at rest.
func (s *Set) openHistory(ctx context.Context) error {
	if err := s.dropLeft(ctx); err != nil {
		return err
	}
	listed, err := s.catalogue(ctx)
	if err != nil {
		return err
	}
	s.history = nil
	for _, p := range listed {
		reached(ctx, "recover/file")
		if err := p.makeReady(ctx, s.writer.conn, nil); err != nil {
			s.log.Error("historical database not available", "file", p.file, "error", err)
			p.unready.Store(true)
		}
		s.history = append(s.history, p)
	}
	if err := s.untangle(ctx); err != nil {
		return err
	}
	return s.mendHeads(ctx)
}

// dropLeft deletes the historical databases that a rollover or a retirement
// that failed left behind. The caller is the writer.
func (s *Set) dropLeft(ctx context.Context) error {
	listed, err := s.catalogue(ctx)
	for _, p := range listed {
		if err == nil && (p.state == stateCopying || p.state == stateRetired) {
			err = s.dropFile(ctx, p)
		}
	}
	return err
}

// mendHeads takes the row from each head whose row has left its historical
// database while the active one did not commit, as the deletion of a head's row
// does. The writer is at rest.
func (s *Set) mendHeads(ctx context.Context) error {
	for _, p := range s.history {
		if p.broken() != nil {
			continue
		}
		lost, err := s.lostHeads(ctx, p)
		if err != nil {
			s.log.Warn("heads not compared with their rows", "file", p.file, "error", err)
		}
		if len(lost) == 0 {
			continue
		}
		err = s.writer.plainly(ctx, func() error {
			for _, id := range lost {
				if _, err := s.writer.conn.exec(ctx, `UPDATE head SET id = NULL, file = NULL WHERE file = ? AND id = ?`, p.file, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fail("mend heads", err)
		}
	}
	return nil
}

// lostHeads are the ids that heads name in a historical database and that are
// no long rows there.
func (s *Set) lostHeads(ctx context.Context, p *part) (lost []string, err error) {
	c, err := p.own(ctx)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	err = c.each(ctx, `SELECT id FROM long`, nil, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		there[id] = true
		return err
	})
	if err != nil {
		return nil, p.failed(err)
	}
	return lost, s.writer.conn.each(ctx, `SELECT id FROM head WHERE file = ?`, []any{p.file}, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		if !there[id] {
			lost = append(lost, id)
		}
		return err
	})
}

// catalogue are the historical databases that the active one names, newest
// first.
func (s *Set) catalogue(ctx context.Context) (listed []*part, err error) {
	err = s.writer.conn.each(ctx, `SELECT file, state FROM history ORDER BY seq DESC`, nil, func(rows *sql.Rows) error {
		var file, state string
		err := rows.Scan(&file, &state)
		if err == nil && !historyForm.MatchString(HistoryDir+"/"+file) {
			err = memd.Errorf(memd.CodeStoreFailed, "the catalogue names a file that no memd makes").
				WithHint("look at the table history of %s", ActiveName)
		}
		listed = append(listed, newPart(s.dir, file, state))
		return err
	})
	return listed, fail("read the catalogue", err)
}

// dropFile deletes a historical database that is not whole yet, or in which
// nothing is owed any more: first its file, then its line in the catalogue.
func (s *Set) dropFile(ctx context.Context, p *part) error {
	for _, name := range []string{p.path, p.path + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail("delete "+p.file, err)
		}
	}
	if err := atomicfile.SyncDir(filepath.Dir(p.path)); err != nil {
		return fail("delete "+p.file, err)
	}
	reached(ctx, "retire/unlinked")
	return s.writer.plainly(ctx, func() error {
		for _, query := range []string{`DELETE FROM history WHERE file = ?`, `DELETE FROM gone WHERE file = ?`,
			// Owed heads have moved; a row that was deleted by hand has none.
			`UPDATE head SET id = NULL, file = NULL WHERE file = ?`} {
			if _, err := s.writer.conn.exec(ctx, query, p.file); err != nil {
				return fail("take "+p.file+" out of the catalogue", err)
			}
		}
		return nil
	})
}

// makeReady looks into a historical database and brings it up to this release.
// What is no database of memd is set aside for good, and not touched; any
// other error may pass. lock is as in shed.
func (p *part) makeReady(ctx context.Context, active *conn, lock sync.Locker) error {
	if err := inspect(ctx, p.path); err != nil {
		if lasting(err) {
			p.mu.Lock()
			p.fault = setAside(p.file, err)
			p.mu.Unlock()
		}
		return err
	}
	if err := makePrivate(p.path); err != nil {
		return fail("open "+p.file, err)
	}
	c, err := connect(ctx, p.path, "rw", historyPragmas) // which also rolls back what was cut short
	if err != nil {
		return p.failed(err)
	}
	version, err := schemaVersion(ctx, c)
	if err == nil && version < migrations.Latest {
		err = migrate(ctx, c, historyPragmas)
	}
	if err == nil {
		err = shed(ctx, c, lock)
	}
	if err == nil && exists(p.path+"-journal") {
		err = clearJournal(ctx, c)
	}
	if err == nil {
		err = recount(ctx, active, p, c)
	}
	return p.failed(errors.Join(err, c.close()))
}

// clearJournal removes a rollback journal in which nothing stands, as a process
// leaves it that died before its commit began. SQLite takes it over and deletes
// it with the next transaction that changes a page. It may hold deleted text.
func clearJournal(ctx context.Context, c *conn) error {
	_, err := c.exec(ctx, `UPDATE meta SET updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE key = ?`, shedKey)
	if code := sqliteCode(err); code == codeBusy || code == codeLocked { // another program's
		return nil
	}
	return err
}

// shedKey notes in a historical database that shed was done.
const shedKey = "sealed"

// shed rids a database that has become historical of what lives on in the
// active one. It commits under lock: no View may be at work then. It is nil where
// there is none, or the caller holds it.
func shed(ctx context.Context, c *conn, lock sync.Locker) error {
	var done bool
	if err := c.row(ctx, `SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)`, []any{shedKey}, &done); done || err != nil {
		return err
	}
	if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := func() error {
		for _, table := range []string{"transient", "session", "once", "outbox", "access_log", "pitfall_hit", "gone", "history"} {
			if _, err := c.exec(ctx, `DELETE FROM `+table); err != nil {
				return err
			}
		}
		// The log is one, in the active database; which forgotten memories had no
		// access tags stands beside their tombstones.
		if _, err := c.exec(ctx, `DELETE FROM audit WHERE action <> 'forget'`); err != nil {
			return err
		}
		if _, err := c.exec(ctx, `INSERT INTO meta (key, value, updated_at) VALUES (?, '1', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`, shedKey); err != nil {
			return err
		}
		// Terms of rows that were deleted before may linger in its index.
		if err := markDue(ctx, c); err != nil {
			return err
		}
		if lock != nil {
			lock.Lock()
			defer lock.Unlock()
		}
		_, err := c.exec(ctx, "COMMIT")
		return err
	}()
	if err != nil {
		_, rollback := c.exec(ctx, "ROLLBACK")
		_ = rollback // SQLite may have rolled back by itself
		return fmt.Errorf("delete what lives on elsewhere: %w", err)
	}
	return nil
}
