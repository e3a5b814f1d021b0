package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/pressly/goose/v3"

	"memd"
	"memd/internal/regular"
	"memd/migrations"
)

// applicationID marks a memd database in its header: "memd" in ASCII.
const applicationID = 0x6d656d64

// makePrivate creates path when it is missing and takes its group's and
// others' rights away, whatever the umask, and those on its -wal and -shm.
// SQLite gives new ones the rights of the database file. What has one of their names
// and is no file is refused: a link would lead the change to somebody else's.
func makePrivate(path string) error {
	f, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		return memd.Errorf(memd.CodeStoreFailed, "%s cannot be written", path).
			WithHint("run memd as the user who owns the data directory")
	}
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(0o600), f.Close())
	for _, beside := range []string{path + "-wal", path + "-shm"} {
		info, failed := os.Lstat(beside)
		if failed == nil && !info.Mode().IsRegular() {
			return memd.Errorf(memd.CodeStoreFailed, "%s is no regular file", beside).
				WithHint("move it away; SQLite keeps a file of that name beside the database")
		}
		if failed == nil {
			failed = os.Chmod(beside, 0o600)
		}
		if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// identify looks at what is in the file before anything is written to it. A
// missing or empty file is a database to be made. A link is refused: a rollover
// would move it into history in place of the file.
func identify(ctx context.Context, path string) (unmade bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fail("look at the database "+path, err)
	case !info.Mode().IsRegular():
		return false, memd.Errorf(memd.CodeStoreFailed, "%s is no regular file", path).
			WithHint("choose another data directory with --dir")
	case info.Size() == 0 && !exists(path+"-wal"):
		return true, nil
	}
	playBack(ctx, path)
	c, err := connect(ctx, path, "ro", readerPragmas)
	if err != nil {
		return false, foreign(path, err)
	}
	defer c.close()
	return identifyBy(ctx, c, path)
}

// identifyBy is identify of a file that is open.
func identifyBy(ctx context.Context, c *conn, path string) (unmade bool, err error) {
	var id int64
	if err := c.row(ctx, `PRAGMA application_id`, nil, &id); err != nil {
		return false, foreign(path, err)
	}
	var tables int
	if err := c.row(ctx, `SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%'`, nil, &tables); err != nil {
		return false, foreign(path, err)
	}
	if tables == 0 && (id == 0 || id == applicationID) {
		return true, nil // killed before its first migration
	}
	version, err := schemaVersion(ctx, c)
	if err != nil {
		return false, foreign(path, err)
	}
	switch {
	case version == 0 || id != applicationID:
		return false, memd.Errorf(memd.CodeStoreFailed, "%s is a SQLite database of another program", path).
			WithHint("choose another data directory with --dir; the file was not touched")
	case version > migrations.Latest:
		return false, memd.Errorf(memd.CodeStoreFailed, "%s has schema %d, newer than this memd's %d", path, version, migrations.Latest).
			WithHint("start the memd release that wrote it; the file was not touched")
	}
	return false, nil
}

// playBack has SQLite undo the commit to a database of memd in whose middle a
// process died. Only a connection that may write does so, and until then none
// reads. Where it fails, the reading that follows names the reason. No
// connection of this process may be open on the database.
func playBack(ctx context.Context, path string) {
	if !exists(path+"-journal") || !marked(path) {
		return
	}
	c, err := connect(ctx, path, "rw", readerPragmas)
	if err != nil {
		return
	}
	defer c.close()
	_, _ = c.value(ctx, `PRAGMA schema_version`) // any reading does it
}

// marked reports whether the first page of a file is that of a memd database, or
// of one that has no table yet, as memd's is until its first commit has ended.
func marked(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const magic, at = "SQLite format 3\x00", 68 // sqlite.org/fileformat.html, 1.3
	const cells = 103                           // of the root of sqlite_schema, 1.6
	var page [cells + 2]byte
	_, err = io.ReadFull(f, page[:])
	if err != nil || string(page[:len(magic)]) != magic {
		return false
	}
	id := binary.BigEndian.Uint32(page[at:])
	return id == applicationID || id == 0 && binary.BigEndian.Uint16(page[cells:]) == 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// foreign words an error of looking into a file. Only SQLite's own verdict
// makes it foreign; a lock or a missing right may pass.
func foreign(path string, err error) error {
	if sqliteCode(err) == codeNotADB {
		return (&memd.Error{Code: memd.CodeStoreFailed, Message: path + " is not a SQLite database", Err: err}).
			WithHint("choose another data directory with --dir; the file was not touched")
	}
	return fail("open the database "+path, err)
}

// schemaVersion is the newest applied migration, 0 for none.
func schemaVersion(ctx context.Context, c *conn) (int64, error) {
	var known int
	if err := c.row(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'`, nil, &known); err != nil || known == 0 {
		return 0, err
	}
	var version int64
	err := c.row(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`, nil, &version)
	return version, err
}

// openWriter opens the writing connection and brings the schema up to date.
func openWriter(ctx context.Context, path string) (*conn, error) {
	// auto_vacuum is fixed when the first page is written, so it comes first.
	c, err := connect(ctx, path, "rwc", `PRAGMA auto_vacuum = INCREMENTAL;`+writerPragmas)
	if err != nil {
		return nil, err
	}
	version, err := schemaVersion(ctx, c)
	if err == nil && version < migrations.Latest {
		err = migrate(ctx, c, writerPragmas)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// migrate runs the migrations on the one connection of c's handle, which goose
// borrows and gives back; it then has pragmas set anew.
func migrate(ctx context.Context, c *conn, pragmas string) error {
	c.dropStatements()
	if err := c.c.Close(); err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, c.db, migrations.FS,
		goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	reached(ctx, "migrate/begin")
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	reached(ctx, "migrate/done")
	if c.c, err = c.db.Conn(ctx); err != nil {
		return err
	}
	_, err = c.c.ExecContext(ctx, commonPragmas+pragmas)
	return err
}

// recordMeta writes what the daemon runs with into the meta table, so that a
// person in the shell sees it. Values that stand already are left alone: a
// start that changes nothing writes nothing, and one to read leaves the budgets.
func (s *Set) recordMeta(ctx context.Context) error {
	want := map[string]string{
		"schema_version": strconv.Itoa(migrations.Latest),
		"embedder":       s.outbox.space.model,
		"embedder_dim":   strconv.Itoa(s.outbox.space.dim),
	}
	if !s.asItIs {
		for _, b := range s.budgets.Map() {
			want["budgets."+b.Key] = b.Value
		}
	}
	have := map[string]string{}
	var leased bool
	err := s.View(ctx, func(v *View) error {
		backend := "none"
		var version string
		if err := v.active().row(ctx, `SELECT vec_version()`, nil, &version); err == nil && !s.withoutIt {
			backend = "sqlite-vec " + version
		}
		want["vector_backend"] = backend
		s.vectors = backend != "none"
		want["vector_available"] = strconv.FormatBool(s.vectors)
		if err := v.active().row(ctx, `SELECT EXISTS (SELECT 1 FROM outbox WHERE leased_until IS NOT NULL)`, nil, &leased); err != nil {
			return err
		}
		return v.active().each(ctx, `SELECT key, value FROM meta`, nil, func(rows *sql.Rows) error {
			var key, value string
			err := rows.Scan(&key, &value)
			have[key] = value
			return err
		})
	})
	if err != nil {
		return fail("read meta", err)
	}
	if s.cursorKey, err = hex.DecodeString(have[cursorKeyName]); err != nil || len(s.cursorKey) != cursorKeyLen {
		s.cursorKey = make([]byte, cursorKeyLen)
		if _, err := rand.Read(s.cursorKey); err != nil {
			return fail("make the cursor key", err)
		}
	}
	want[cursorKeyName] = hex.EncodeToString(s.cursorKey)
	changed := map[string]string{}
	for key, value := range want {
		if old, ok := have[key]; !ok || old != value {
			changed[key] = value
		}
	}
	_, model := changed["embedder"]
	_, dim := changed["embedder_dim"]
	if err := s.findBefore(ctx, model || dim, have, changed); err != nil {
		return err
	}
	if len(changed) == 0 && !leased {
		return nil
	}
	return s.Update(ctx, func(tx *Tx) error {
		if err := tx.endLeases(model || dim); err != nil {
			return err
		}
		for key, value := range changed {
			if err := tx.SetMeta(key, value, s.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Where the key that seals cursors stands in meta: cursors outlive a restart.
const (
	cursorKeyName = "cursor_key"
	cursorKeyLen  = 32
)

// CursorKey is this store's secret for sealing cursors, 32 bytes. The caller
// must not change it.
func (s *Set) CursorKey() []byte { return s.cursorKey }

// SetMeta writes one value of the meta table.
func (tx *Tx) SetMeta(key, value string, at memd.Time) error {
	_, err := tx.conn.exec(tx.ctx, `INSERT INTO meta (key, value, updated_at) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, key, value, at.String())
	return fail("write meta", err)
}
