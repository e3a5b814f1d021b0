package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"

	"memd"
	"memd/migrations"
)

// verifyCopy looks into the copy of a backup's file: is it a database of memd
// that this release can read, sound, with the rows that the manifest names?
func verifyCopy(ctx context.Context, path string, want BackupFile) error {
	bad := func(err error) error {
		if ctx.Err() != nil {
			return err
		}
		refusal := badBackup("%s of the backup cannot be read as a database", want.Name)
		refusal.Err = err
		return refusal
	}
	c, err := connect(ctx, path, "ro", readerPragmas)
	if err != nil {
		return bad(err)
	}
	defer c.close()
	var id int64
	if err := c.row(ctx, `PRAGMA application_id`, nil, &id); err != nil {
		return bad(err)
	}
	version, err := schemaVersion(ctx, c)
	switch {
	case err != nil:
		return bad(err)
	case id != applicationID || version == 0:
		return badBackup("%s of the backup is a database of another program", want.Name)
	case version > migrations.Latest:
		return badBackup("%s of the backup has schema %d, newer than this memd's %d", want.Name, version, migrations.Latest)
	}
	var verdict string
	if err := c.row(ctx, `PRAGMA integrity_check(1)`, nil, &verdict); err != nil {
		return bad(err)
	}
	if verdict != "ok" {
		return badBackup("%s of the backup is damaged: %s", want.Name, verdict)
	}
	rows, err := countRows(ctx, c)
	if err != nil {
		return bad(err)
	}
	if rows != want.Rows {
		return badBackup("%s of the backup holds other rows than its manifest says", want.Name)
	}
	return nil
}

// grave is one row of tombstone.
type grave struct{ id, namespace, key, hash, at any }

// gravesOf reads what was forgotten in the database at path. Where it is too
// damaged to tell, a warning says so; what may pass is an error. A missing
// database has forgotten nothing.
func gravesOf(ctx context.Context, path string) (graves []grave, warning string, err error) {
	if !exists(path) {
		return nil, "", nil
	}
	playBack(ctx, path)
	c, err := connect(ctx, path, "ro", readerPragmas)
	if err == nil {
		graves, err = readGraves(ctx, c)
		err = errors.Join(err, c.close())
	}
	switch sqliteCode(err) {
	case codeNotADB, codeCorrupt, codeSQL:
		return nil, "the database in place is too damaged to tell what was forgotten since the backup; " +
			"what it holds may come back", nil
	}
	return graves, "", fail("read what was forgotten", err)
}

func readGraves(ctx context.Context, c *conn) (graves []grave, err error) {
	err = c.each(ctx, `SELECT id, namespace, memory_key, content_hash, forgotten_at FROM tombstone`, nil, func(rows *sql.Rows) error {
		var g grave
		err := rows.Scan(&g.id, &g.namespace, &g.key, &g.hash, &g.at)
		graves = append(graves, g)
		return err
	})
	return graves, err
}

// bury deletes from the staged databases what was forgotten, by the store in
// place or by the backup's own active database: a backup's other databases may
// have been copied before it. Ids are never used again, so that no time needs
// to be compared. It returns the number of rows deleted.
func (r *restore) bury(ctx context.Context, graves []grave) (int, error) {
	forgotten := 0
	for i, f := range r.manifest.Files { // the active one first
		n, all, err := buryIn(ctx, r.staged(f.Name), graves, i == 0)
		if err != nil {
			return 0, fail("prepare "+f.Name, err)
		}
		if i == 0 {
			graves = all
		}
		forgotten += n
		for _, log := range []string{"-wal", "-shm", "-journal"} {
			if exists(r.staged(f.Name) + log) {
				return 0, memd.Errorf(memd.CodeStoreFailed, "%s was not closed whole", filepath.Base(f.Name))
			}
		}
	}
	return forgotten, nil
}

// buryIn brings one closed database up to date, deletes the rows of graves
// from it, body and index, and closes it again. It returns how many rows those
// were, and the graves of both.
func buryIn(ctx context.Context, path string, graves []grave, active bool) (n int, all []grave, err error) {
	c, err := openWriter(ctx, path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, nil, err
	}
	for _, g := range graves {
		for _, t := range memd.AllTiers() {
			gone, err := c.exec(ctx, on(t, `DELETE FROM {t} WHERE id = ?`), g.id)
			if err != nil {
				return 0, nil, err
			}
			n += int(gone)
		}
		if !active {
			continue
		}
		if _, err := c.exec(ctx, `INSERT OR IGNORE INTO tombstone (id, namespace, memory_key, content_hash, forgotten_at)
VALUES (?, ?, ?, ?, ?)`, g.id, g.namespace, g.key, g.hash, g.at); err != nil {
			return 0, nil, err
		}
	}
	if _, err := c.exec(ctx, "COMMIT"); err != nil {
		return 0, nil, err
	}
	if active {
		if all, err = readGraves(ctx, c); err != nil {
			return 0, nil, err
		}
	}
	if n > 0 {
		if _, err := settle(ctx, c, true); err != nil {
			return 0, nil, err
		}
	}
	if !active { // as historical databases are kept
		err = c.each(ctx, `PRAGMA journal_mode = DELETE`, nil, func(*sql.Rows) error { return nil })
	}
	return n, all, err
}
