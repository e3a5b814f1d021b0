package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"memd"
	"memd/internal/atomicfile"
)

// rename makes the active database the historical one p by two renames, after
// the next one was made whole beside it. Readers stand aside from before the
// write-ahead log is given up until the next database is open.
func (s *Set) rename(ctx context.Context, p *part) error {
	path := filepath.Join(s.dir, ActiveName)
	if err := s.makeNext(ctx, path+nextSuffix, p); err != nil {
		return errors.Join(err, removeDatabase(path+nextSuffix))
	}
	reached(ctx, "rollover/prepared")
	if err := s.exchange(ctx, path, p); err != nil {
		return err
	}
	// Done by the next light groom, should it fail now: nothing reads what it sheds.
	err := p.makeReady(ctx, s.writer.conn, still{s})
	if p.unready.Store(err != nil); err != nil {
		s.log.Warn("historical database not ready yet", "file", p.file, "error", err)
	}
	reached(ctx, "rollover/shed")
	return nil
}

// exchange puts the next database in the place of the active one, which gets the
// name of p, while readers stand aside.
func (s *Set) exchange(ctx context.Context, path string, p *part) error {
	s.views.Lock()
	defer s.views.Unlock()
	if err := s.leaveLog(ctx, path); err != nil {
		if s.active == nil {
			s.lost = err
		}
		return errors.Join(err, removeDatabase(path+nextSuffix))
	}
	reached(ctx, "rollover/unlogged")
	err := s.swap(ctx, path, p)
	if errors.Is(err, errOpenElsewhere) && s.active != nil {
		return errors.Join(err, removeDatabase(path+nextSuffix))
	}
	if err != nil {
		// What stands now is what a start would meet.
		s.lost = err
		return err
	}
	return nil
}

// leaveLog folds the write-ahead log into the active database and closes every
// connection to it but the writer's, so that one file holds all of it, to which
// nobody writes. Where another program has it open it stays as it was.
func (s *Set) leaveLog(ctx context.Context, path string) error {
	err := s.active.closeReaders()
	c := s.writer.conn
	if err == nil {
		err = unlog(ctx, c)
	}
	if err == nil {
		if err = keepOthersOut(ctx, c, path); err == nil {
			s.active = nil
			return nil
		}
		err = errors.Join(err, c.close())
		s.writer.conn, s.active = nil, nil
		return errors.Join(err, s.openActive(ctx, path))
	}
	if _, reset := c.value(ctx, `PRAGMA busy_timeout = 5000`); reset != nil {
		err = errors.Join(err, reset)
	}
	readers, failed := openActive(ctx, path)
	if failed != nil { // no writing without reading
		failed = errors.Join(failed, c.close())
		s.writer.conn = nil
	}
	s.active = readers
	return errors.Join(err, failed)
}

// unlog takes a database out of WAL mode. It waits for others only briefly.
func unlog(ctx context.Context, c *conn) error {
	if _, err := c.value(ctx, `PRAGMA busy_timeout = 50`); err != nil {
		return err
	}
	busy, err := c.value(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if err == nil && busy != "0" {
		return errOpenElsewhere
	}
	mode := ""
	if err == nil {
		mode, err = c.value(ctx, `PRAGMA journal_mode = DELETE`)
	}
	if code := sqliteCode(err); code == codeBusy || code == codeLocked || err == nil && !strings.EqualFold(mode, "delete") {
		return errOpenElsewhere
	}
	return err
}

// keepOthersOut puts a database without a write-ahead log on disk and, until c
// is closed, keeps other programs from writing to it: under its old name their
// journal would be taken for that of the database that comes in its place.
func keepOthersOut(ctx context.Context, c *conn, path string) error {
	if err := syncFile(path); err != nil {
		return err
	}
	if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		if sqliteCode(err) == codeBusy {
			err = errOpenElsewhere
		}
		return err
	}
	for _, beside := range []string{"-wal", "-shm", "-journal"} {
		if exists(path + beside) {
			return errOpenElsewhere
		}
	}
	return nil
}

// swap puts the active database under its new name and the next one in its
// place, and opens both.
func (s *Set) swap(ctx context.Context, path string, p *part) error {
	if err := s.takeAway(path, p.path); err != nil {
		if s.active == nil && exists(path) {
			err = errors.Join(err, s.openActive(ctx, path))
		}
		return err
	}
	if err := s.moveOver(ctx, path, p); err != nil {
		return err
	}
	if err := s.openActive(ctx, path); err != nil {
		return err
	}
	s.history = append([]*part{p}, s.history...)
	return nil
}

// takeAway gives the active database its new name, and its old one back where
// another program has it open. That shows only now, when nobody can come to open
// it any more, and not by any lock: a shell that has not read yet holds none, and
// would take the write-ahead log of the next database for that of its own.
func (s *Set) takeAway(path, to string) error {
	c := s.writer.conn
	s.writer.conn = nil
	if err := os.Rename(path, to); err != nil {
		return errors.Join(err, c.close())
	}
	err := c.close()
	if err == nil {
		var alone bool
		if alone, err = s.alone(to); err != nil {
			err = errors.Join(errUntold, err)
		} else if !alone {
			err = errOpenElsewhere
		}
	}
	if err != nil {
		err = errors.Join(err, os.Rename(to, path))
	}
	return err
}

// errUntold is why the active database is not exchanged where it cannot be
// told who has it open.
var errUntold = fmt.Errorf("%w, or that cannot be told", errOpenElsewhere)

// moveOver puts the next database in the place of the active one.
func (s *Set) moveOver(ctx context.Context, path string, p *part) error {
	if err := errors.Join(atomicfile.SyncDir(filepath.Dir(p.path)), atomicfile.SyncDir(s.dir)); err != nil {
		return err
	}
	reached(ctx, "rollover/moved")
	if err := os.Rename(path+nextSuffix, path); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(s.dir); err != nil {
		return err
	}
	reached(ctx, "rollover/placed")
	return nil
}

// makeNext makes the next active database whole at path: an empty one, with
// what the present one hands on when it becomes the historical file.
func (s *Set) makeNext(ctx context.Context, path string, sealed *part) error {
	if err := removeDatabase(path); err != nil {
		return fail("remove what an earlier rollover left", err)
	}
	if err := makePrivate(path); err != nil {
		return fail("create the next database", err)
	}
	// Nothing of it counts before it is whole and on disk.
	const pragmas = `PRAGMA cache_size = -1024; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;`
	c, err := connect(ctx, path, "rwc", pragmas)
	if err != nil {
		return fail("create the next database", err)
	}
	if err := errors.Join(migrate(ctx, c, pragmas), c.close()); err != nil {
		return fail("create the next database", err)
	}
	if err := s.handOn(ctx, path, sealed); err != nil {
		return fail("hand on to the next database", err)
	}
	return fail("write the next database", errors.Join(syncFile(path), atomicfile.SyncDir(s.dir)))
}

// Of what is handed on in bulk, bounded shares of the budget, the newest
// first. Owed are heads, live transient rows and the catalogue; tombstones
// stay in their files as well and are read across them.
const (
	bulkShare     = 16  // each at most the budget over this
	tombstoneSize = 256 // bytes of a row, roughly
	onceSize      = 384
	accessSize    = 192
	outboxSize    = 128
	hitSize       = 96
)

// handOn copies into the database at path what the active one hands on.
func (s *Set) handOn(ctx context.Context, path string, sealed *part) (err error) {
	c, file := s.writer.conn, sealed.file
	if _, err := c.exec(ctx, `ATTACH ? AS next`, path); err != nil {
		return err
	}
	defer func() {
		c.dropStatements() // one that is left would hold the file
		_, detach := c.exec(ctx, `DETACH next`)
		err = errors.Join(err, detach)
	}()
	for _, pragma := range []string{`PRAGMA next.journal_mode = MEMORY`, `PRAGMA next.synchronous = OFF`} {
		if _, err := c.value(ctx, pragma); err != nil {
			return err
		}
	}
	u, err := countUse(ctx, c)
	if err != nil {
		return err
	}
	share := s.budgets.ActiveBytes / bulkShare
	now := s.Now().String()
	return s.writer.plainly(ctx, func() error {
		for _, step := range []struct {
			query string
			args  []any
		}{
			{`INSERT OR REPLACE INTO next.meta SELECT * FROM main.meta WHERE key <> ?`, []any{baseKey}},
			{`INSERT INTO next.history SELECT * FROM main.history`, nil},
			{`INSERT INTO next.history (file, seq, state, sealed_at, bytes, short, long, archive, vectors, vector_bytes)
 SELECT ?, 1 + coalesce(max(seq), 0), 'sealed', ?, ?, ?, ?, ?, ?, ? FROM main.history`,
				[]any{file, now, u.bytes, u.short, u.long, u.archive, u.vectors, u.vectorBytes}},
			{`INSERT INTO next.head (namespace, memory_key, version, id, file, source_hash)
 SELECT namespace, memory_key, version, id, CASE WHEN id IS NOT NULL THEN coalesce(file, ?) END, source_hash FROM main.head`, []any{file}},
			{`INSERT INTO next.gone SELECT * FROM main.gone`, nil},
			{`INSERT INTO next.session SELECT * FROM main.session`, nil},
			{`INSERT INTO next.transient SELECT * FROM main.transient WHERE expires_at IS NULL OR expires_at > ?`, []any{now}},
			{`INSERT INTO next.tombstone SELECT * FROM main.tombstone ORDER BY forgotten_at DESC LIMIT ?`, []any{share / tombstoneSize}},
			{`INSERT INTO next.once SELECT * FROM main.once WHERE rowid IN (` + fairOnce + `)`, []any{0, min(maxOnce, share/onceSize)}},
			{`INSERT INTO next.access_log SELECT * FROM main.access_log ORDER BY at DESC LIMIT ?`, []any{share / accessSize}},
			{`INSERT INTO next.pitfall_hit SELECT * FROM main.pitfall_hit ORDER BY seq DESC LIMIT ?`, []any{share / hitSize}},
			{`INSERT INTO next.outbox SELECT * FROM main.outbox ORDER BY queued_at DESC LIMIT ?`, []any{share / outboxSize}},
			{`INSERT INTO next.audit SELECT * FROM main.audit ORDER BY seq DESC LIMIT ?`, []any{s.loggedMost() - 1}},
			{`INSERT INTO next.audit (seq, at, caller, action, detail) SELECT 1 + coalesce(max(seq), 0), ?, ?, 'rollover', ? FROM main.audit`,
				[]any{now, sealed.by, file}},
		} {
			if _, err := c.exec(ctx, step.query, step.args...); err != nil {
				return err
			}
		}
		pages, err := c.value(ctx, `PRAGMA next.page_count`)
		if err == nil {
			_, err = c.exec(ctx, `INSERT INTO next.meta (key, value, updated_at)
 SELECT ?, cast(? AS INTEGER) * page_size, ? FROM pragma_page_size`, baseKey, pages, now)
		}
		return err
	})
}

// removeDatabase removes a database that is not in use yet.
func removeDatabase(path string) (err error) {
	for _, name := range []string{path, path + "-journal", path + "-wal", path + "-shm"} {
		if failed := os.Remove(name); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// reopen opens the databases again after an exchange that failed midway.
func (s *Set) reopen(ctx context.Context) error {
	s.views.Lock()
	defer s.views.Unlock()
	path := filepath.Join(s.dir, ActiveName)
	err := s.closeFiles()
	s.history, s.active, s.writer.conn = nil, nil, nil
	if err == nil {
		err = resumeRollover(ctx, s.dir)
	}
	if err == nil && !exists(path) { // nothing is ever made anew here
		err = memd.Errorf(memd.CodeStoreFailed, "%s is missing", path)
	}
	if err == nil {
		err = s.openFiles(ctx, path)
	}
	if err != nil {
		err = errors.Join(err, s.closeFiles())
		s.history, s.active, s.writer.conn, s.lost = nil, nil, nil, err
	}
	return err
}

// resumeRollover carries through a rollover that was cut short, and removes
// what is left of one that did not come so far.
func resumeRollover(ctx context.Context, dir string) error {
	path := filepath.Join(dir, ActiveName)
	next := path + nextSuffix
	err := errors.Join(removeDatabase(path+copySuffix), removeDatabase(path+compactSuffix))
	if err != nil {
		return fail("remove what a rollover left", err)
	}
	switch active := exists(path); {
	case active:
		return fail("remove what a rollover left", removeDatabase(next))
	case !exists(next):
		return refuseWithout(dir)
	}
	file, err := newestSealed(ctx, next)
	if err != nil {
		return fail("look into "+next, err)
	}
	if !exists(historyPath(dir, file)) {
		return memd.Errorf(memd.CodeStoreFailed, "%s and the historical database %s are both missing", path, file).
			WithHint("bring them back from a backup with `memd restore`")
	}
	reached(ctx, "recover/place")
	return fail("go on with a rollover", errors.Join(os.Rename(next, path), atomicfile.SyncDir(dir)))
}

// newestSealed names the historical database that the database at path came
// after.
func newestSealed(ctx context.Context, path string) (file string, err error) {
	c, err := connect(ctx, path, "ro", readerPragmas)
	if err != nil {
		return "", err
	}
	err = c.row(ctx, `SELECT file FROM history ORDER BY seq DESC LIMIT 1`, nil, &file)
	return file, errors.Join(err, c.close())
}

// refuseWithout refuses to make an active database anew beside historical ones:
// it would know nothing of them.
func refuseWithout(dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, HistoryDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail("look into the history folder", err)
	}
	path, state := filepath.Join(dir, ActiveName), "missing"
	if exists(path) {
		state = "empty"
	}
	for _, e := range entries {
		if historyForm.MatchString(HistoryDir + "/" + e.Name()) {
			return memd.Errorf(memd.CodeStoreFailed, "%s is %s, and %s holds databases that it knew", path, state, HistoryDir).
				WithHint("bring it back from a backup with `memd restore`, or move %s away to begin anew", filepath.Join(dir, HistoryDir))
		}
	}
	return nil
}
