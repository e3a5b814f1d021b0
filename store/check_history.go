package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memd"
)

// What to do about files below history/.
const (
	moveAway  = "memd reads what its catalogue names alone and never deletes anything else: move it away, or `memd restore` the backup that it belongs to"
	startOnce = "start memd once: it goes on where it was cut short"
	waitFor   = "see what holds or hides the file: it is served again as soon as it can be read"
)

// bringBack is what to do about a historical database that cannot be served. A
// repair does not give its rows up: the file may come back.
func bringBack(file string) string {
	return fmt.Sprintf("put the whole file back, or stop memd and run `memd restore`. To give its rows up for good: stop memd, move away what lies there, "+
		"run `sqlite3 %s \"DELETE FROM history WHERE file = '%s'\"`, then memd doctor --repair", ActiveName, file)
}

// catalogued is one line of the catalogue.
type catalogued struct {
	file, state string
	use
}

// readCatalogue reads the catalogue, newest first.
func readCatalogue(ctx context.Context, active *conn) (all []catalogued, err error) {
	err = active.each(ctx, `SELECT file, state, bytes, short, long, archive, vectors, vector_bytes FROM history ORDER BY seq DESC`, nil,
		func(rows *sql.Rows) error {
			var l catalogued
			err := rows.Scan(&l.file, &l.state, &l.bytes, &l.short, &l.long, &l.archive, &l.vectors, &l.vectorBytes)
			all = append(all, l)
			return err
		})
	return all, fail("read the catalogue", err)
}

// checkStrays names what lies in history/ and is not in the catalogue.
func (s *Set) checkStrays(ctx context.Context, found *findings) error {
	// The folder first: a database is in the catalogue before it lies there.
	entries, err := os.ReadDir(filepath.Join(s.dir, HistoryDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail("look into the history folder", err)
	}
	known := map[string]bool{}
	err = s.View(ctx, func(v *View) error {
		all, err := readCatalogue(ctx, v.active())
		for _, l := range all {
			known[l.file], known[l.file+"-journal"] = true, true
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if known[e.Name()] {
			continue
		}
		path := historyPath(s.dir, e.Name())
		what := "it is a database of memd"
		if err := glance(ctx, path); errors.Is(err, fs.ErrNotExist) { // retired meanwhile
			continue
		} else if err != nil {
			what = whyNot(path, err)
		}
		found.in(newPart(s.dir, e.Name(), ""))("stray_file", moveAway, "is not in the catalogue: %s", what)
	}
	return nil
}

// glance is inspect of a file that nobody has open, without any trace.
func glance(ctx context.Context, path string) error {
	if _, err := readHeader(path); err != nil {
		return err
	}
	c, err := connect(ctx, path, untouched, historyReaderPragmas)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = identifyBy(ctx, c, path)
	return err
}

// whyNot says why the file at path cannot be read.
func whyNot(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is missing"
	case sqliteCode(err) == codeNotADB:
		return "it is not a SQLite database"
	case damage(err):
		return "it is damaged"
	}
	for cause := err; cause != nil; { // the innermost message
		e, ok := errors.AsType[*memd.Error](cause)
		if !ok {
			break
		}
		err, cause = e, e.Err
	}
	return strings.Replace(messageOf(err), path, "it", 1)
}

// checkCatalogue compares the catalogue with what was opened, and names the
// steps that were cut short.
func (s *Set) checkCatalogue(v *View, found *findings) error {
	lines, err := readCatalogue(v.ctx, v.active())
	if err != nil {
		return err
	}
	for _, l := range lines {
		p := newPart(s.dir, l.file, l.state)
		add := found.in(p)
		if s.cutShort(l.state) {
			add("rollover", startOnce, "is %s, and nobody goes on with that", l.state)
		}
		if l.state == stateCopying || l.state == stateRetired {
			continue
		}
		if why, fix := v.served(p); why != "" {
			add("history_file", fix, "%d rows unavailable: %s", l.short+l.long+l.archive, why)
		}
	}
	return nil
}

// served says why a historical database is not, "" if it is, and what to do.
func (v *View) served(p *part) (why, fix string) {
	_, err := os.Lstat(p.path)
	i := slices.IndexFunc(v.parts, func(opened *part) bool { return opened.file == p.file })
	switch {
	case err != nil:
		return whyNot(p.path, err), bringBack(p.file)
	case i < 0:
		return "it was not opened", startOnce
	case v.conn(i) != nil:
		return "", ""
	case v.parts[i].broken() != nil:
		return whyNot(p.path, v.missed[i]), bringBack(p.file)
	}
	return whyNot(p.path, v.missed[i]), waitFor
}

// cutShort reports whether a state is one that a database leaves again, and
// nobody is about to.
func (s *Set) cutShort(state string) bool {
	switch state {
	case stateCopying, stateRetired:
		if !s.busy.TryLock() {
			return false
		}
		s.busy.Unlock()
		return true
	case stateRetiring:
		if !s.upkeep.begun.Load() || !s.making.TryLock() {
			return false
		}
		s.making.Unlock()
		return true
	}
	return false
}

// checkCounts compares the catalogue with what a historical database holds. What
// was deleted by hand is counted by the light groom, and no fault until then.
func checkCounts(ctx context.Context, active *conn, p *part, c *conn, add report) error {
	lines, err := readCatalogue(ctx, active)
	if err != nil {
		return err
	}
	got, err := countUse(ctx, c)
	if err != nil || !slices.ContainsFunc(lines, func(l catalogued) bool { return l.file == p.file && l.use != got }) {
		return err
	}
	due, err := settleDue(ctx, c)
	if err == nil && !due {
		add("catalogue", mendable, "the catalogue counts otherwise than the file")
	}
	return err
}

// settleDue reports whether the light groom will count a historical database
// anew: rows were deleted from it, or edited by hand.
func settleDue(ctx context.Context, c *conn) (due bool, err error) {
	err = c.row(ctx, `SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)
 OR (SELECT sum(rows) FROM tally) <> coalesce((SELECT cast(value AS INTEGER) FROM meta WHERE key = ?), -1)
 OR EXISTS (SELECT 1 FROM short_reindex) OR EXISTS (SELECT 1 FROM long_reindex) OR EXISTS (SELECT 1 FROM archive_reindex)`,
		[]any{dueKey, settledKey}, &due)
	return due, fail("look for what is to be settled", err)
}
