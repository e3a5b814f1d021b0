package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
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
type grave struct {
	id                       string
	namespace, key, hash, at any
}

// gravesOf reads what was forgotten in the databases of dir, historical ones
// too: few tombstones are handed on when the active one rolls over. Where one is
// too damaged to tell, a warning says so; what may pass is an error. A missing
// database has forgotten nothing.
func gravesOf(ctx context.Context, dir string) (graves []grave, warnings []string, err error) {
	names := []string{ActiveName}
	entries, err := os.ReadDir(filepath.Join(dir, HistoryDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fail("look into the history folder", err)
	}
	for _, e := range entries { // whatever the catalogue says, which may be what is damaged
		if name := HistoryDir + "/" + e.Name(); historyForm.MatchString(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fail("read what was forgotten in "+name, err)
		}
		var here []grave
		if info.Mode().IsRegular() {
			here, err = gravesIn(ctx, path)
		}
		switch code := sqliteCode(err); {
		case !info.Mode().IsRegular(), code == codeNotADB, code == codeCorrupt, code == codeSQL:
			warnings = append(warnings, name+" in place is too damaged to tell what was forgotten since the backup; what it holds may come back")
		case err != nil:
			return nil, nil, fail("read what was forgotten in "+name, err)
		default:
			graves = append(graves, here...)
		}
	}
	return graves, warnings, nil
}

// gravesIn reads what was forgotten in one database.
func gravesIn(ctx context.Context, path string) (graves []grave, err error) {
	playBack(ctx, path)
	c, err := connect(ctx, path, "ro", readerPragmas)
	if err == nil {
		graves, err = readGraves(ctx, c, -1)
		err = errors.Join(err, c.close())
	}
	return graves, err
}

// readGraves reads the tombstones of a database, at most so many; -1 for all.
func readGraves(ctx context.Context, c *conn, most int) (graves []grave, err error) {
	err = c.each(ctx, `SELECT id, namespace, memory_key, content_hash, forgotten_at FROM tombstone ORDER BY id LIMIT ?`, []any{most}, func(rows *sql.Rows) error {
		var g grave
		err := rows.Scan(&g.id, &g.namespace, &g.key, &g.hash, &g.at)
		graves = append(graves, g)
		return err
	})
	return graves, err
}

// bury deletes from the staged databases what was forgotten, by the store in
// place or by the backup itself. Ids are never used again, so that no time needs
// to be compared. It returns the number of rows deleted.
func (r *restore) bury(ctx context.Context, graves []grave) (int, error) {
	known := map[string]bool{}
	ids := []string{}
	for _, f := range r.manifest.Files {
		own, err := gravesIn(ctx, r.staged(f.Name))
		if err != nil {
			return 0, fail("read what was forgotten in "+f.Name, err)
		}
		for _, g := range own {
			known[g.id] = true
			ids = append(ids, g.id)
		}
	}
	fresh := []grave{}
	for _, g := range graves {
		if !known[g.id] {
			known[g.id] = true
			fresh, ids = append(fresh, g), append(ids, g.id)
		}
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	forgotten := 0
	for _, f := range r.manifest.Files {
		reached(ctx, "restore/bury")
		n, err := buryIn(ctx, r.staged(f.Name), f.Name == ActiveName, string(list), fresh)
		if err != nil {
			return 0, fail("prepare "+f.Name, err)
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

// buryIn brings one closed database up to date, deletes the rows of a JSON list
// of ids from it, body and index, and closes it again. The active one gets the
// tombstones that the backup has not, and its heads let go of what was deleted
// wherever that stood. It returns how many rows those were.
func buryIn(ctx context.Context, path string, active bool, ids string, fresh []grave) (n int, err error) {
	open := openHistorical
	if active {
		open = openWriter
	}
	c, err := open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	for _, t := range memd.AllTiers() {
		gone, err := c.exec(ctx, on(t, `DELETE FROM {t} WHERE id IN (SELECT value FROM json_each(?))`), ids)
		if err != nil {
			return 0, err
		}
		n += int(gone)
	}
	if active {
		if err := noteForgotten(ctx, c, ids, fresh); err != nil {
			return 0, err
		}
	} else if n > 0 {
		if err := errors.Join(optimize(ctx, c), noteSettled(ctx, c)); err != nil {
			return 0, err
		}
	}
	if _, err := c.exec(ctx, "COMMIT"); err != nil {
		return 0, err
	}
	switch {
	case n == 0:
	case active:
		_, err = settle(ctx, c, true)
	default:
		_, err = vacuum(ctx, c)
	}
	return n, err
}

// noteForgotten has an active database know of what was deleted from it and
// from the historical ones.
func noteForgotten(ctx context.Context, c *conn, ids string, fresh []grave) error {
	for _, query := range []string{
		`UPDATE head SET id = NULL, file = NULL WHERE id IN (SELECT value FROM json_each(?))`,
		`DELETE FROM outbox WHERE memory_id IN (SELECT value FROM json_each(?))`,
	} {
		if _, err := c.exec(ctx, query, ids); err != nil {
			return err
		}
	}
	for _, g := range fresh {
		if _, err := c.exec(ctx, `INSERT OR IGNORE INTO tombstone (id, namespace, memory_key, content_hash, forgotten_at)
VALUES (?, ?, ?, ?, ?)`, g.id, g.namespace, g.key, g.hash, g.at); err != nil {
			return err
		}
	}
	return nil
}

// openHistorical opens a closed historical database for a change and brings its
// schema up to date.
func openHistorical(ctx context.Context, path string) (*conn, error) {
	c, err := connect(ctx, path, "rw", historyPragmas)
	if err != nil {
		return nil, err
	}
	version, err := schemaVersion(ctx, c)
	if err == nil && version < migrations.Latest {
		err = migrate(ctx, c, historyPragmas)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
