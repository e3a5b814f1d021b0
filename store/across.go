package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"sync"

	"memd"
)

// A write that concerns historical databases is not one transaction: each
// database commits by itself, and the process may die between two commits. So
// what changes in a historical database commits first, as nothing points at the
// change before the active database commits; and what leaves one is named in
// gone, commits with the active database, and is deleted after. Readers stand
// aside for all of it. docs/format.md has the states.

// each calls fn with every database that can be read, the active one first,
// then the historical ones, newest first.
func (tx *Tx) each(fn func(p *part, c *conn) error) error {
	if err := fn(tx.w.set.active, tx.conn); err != nil {
		return err
	}
	return tx.eachOld(fn)
}

// eachOld is each for the historical databases alone.
func (tx *Tx) eachOld(fn func(p *part, c *conn) error) error {
	for _, p := range tx.w.history() {
		if p.broken() != nil {
			continue
		}
		c, err := p.own(tx.ctx)
		if err == nil {
			err = fn(p, c)
		}
		if err = p.failed(err); err != nil && p.broken() == nil {
			return err
		}
	}
	return nil
}

// found remembers that a row was read in a database, and reports whether it has
// not left that.
func (tx *Tx) found(p *part, id string) (bool, error) {
	if p.file == "" {
		return true, nil
	}
	ok, err := stands(tx.ctx, tx.conn, tx.w.set.ghosts, id, p.file)
	if ok {
		tx.at[id] = p
	}
	return ok, err
}

// stands reports whether a row has not left a historical database.
func stands(ctx context.Context, active *conn, ghosts map[ghost]memd.Tier, id, file string) (bool, error) {
	if _, dead := ghosts[ghost{id, file}]; dead {
		return false, nil
	}
	var left bool
	err := active.row(ctx, `SELECT EXISTS (SELECT 1 FROM gone WHERE memory_id = ? AND file = ?)`, []any{id, file}, &left)
	return !left, fail("look for what has left a historical database", err)
}

// home is the connection that changes a row where it stands.
func (tx *Tx) home(id string) (*conn, error) {
	if p := tx.at[id]; p != nil {
		return tx.change(p)
	}
	return tx.conn, nil
}

// change is the connection that changes a historical database, in a
// transaction that ends with the write's group.
func (tx *Tx) change(p *part) (*conn, error) {
	c, err := p.own(tx.ctx)
	if err != nil {
		return nil, err
	}
	if !p.begun {
		if _, err := c.exec(tx.ctx, "BEGIN IMMEDIATE"); err != nil {
			return nil, fail("change "+p.file, p.failed(err))
		}
		p.begun = true
		tx.w.begun = append(tx.w.begun, p)
	}
	if tx.guarded && !slices.Contains(tx.marked, p) {
		if _, err := c.exec(tx.ctx, "SAVEPOINT job"); err != nil {
			return nil, fail("change "+p.file, err)
		}
		tx.marked = append(tx.marked, p)
	}
	tx.changed = true
	return c, nil
}

// leave takes a row of tier t out of a historical database, once the active
// one has committed. Its ghosts leave with it: a start that finds but one of
// them would take it for the row.
func (tx *Tx) leave(p *part, t memd.Tier, id string) error {
	left := map[string]memd.Tier{p.file: t}
	for g, tier := range tx.w.set.ghosts {
		if g.id == id && !slices.ContainsFunc(tx.w.copied, func(c copied) bool { return c.id == id && c.part.file == g.file }) {
			left[g.file] = tier
		}
	}
	delete(tx.at, id)
	tx.w.leaving = true
	for file, t := range left {
		_, err := tx.conn.exec(tx.ctx, `INSERT OR REPLACE INTO gone (memory_id, file, tier) VALUES (?, ?, ?)`, id, file, string(t))
		if err != nil {
			return fail("take a row out of "+file, err)
		}
	}
	return nil
}

// history are the historical databases, newest first.
func (w *writer) history() []*part { return w.set.history }

// part is the historical database of a name, nil where the catalogue has none.
func (w *writer) part(file string) *part {
	for _, p := range w.set.history {
		if p.file == file {
			return p
		}
	}
	return nil
}

// absent is the answer to a search for a row that no database has: an error
// where one cannot be read.
func (w *writer) absent() error {
	for _, p := range w.set.history {
		if err := p.broken(); err != nil {
			return err
		}
	}
	return nil
}

// begunFiles names the historical databases that this group has changed.
func (w *writer) begunFiles() []string {
	files := make([]string, len(w.begun))
	for i, p := range w.begun {
		files[i] = p.file
	}
	return files
}

// across reports whether a group concerns more than the active database.
func (w *writer) across() bool { return len(w.begun) > 0 || w.leaving }

// commitAcross commits a group that does: the historical databases, then the
// active one, then what has left the former.
func (w *writer) commitAcross(ctx context.Context) error {
	for _, p := range w.begun {
		if err := recount(ctx, w.conn, p, p.rw); err != nil {
			return err
		}
	}
	still{w.set}.Lock()
	defer still{w.set}.Unlock()
	for len(w.begun) > 0 {
		p := w.begun[0]
		reached(ctx, "across/change")
		if _, err := p.rw.exec(ctx, "COMMIT"); err != nil {
			return fail("commit to "+p.file, p.failed(err))
		}
		p.begun = false
		p.gen.Add(1)
		w.begun = w.begun[1:]
		w.haunt(p)
	}
	for _, a := range w.added {
		a.part.hashes.add(a.hash)
	}
	w.added = nil
	reached(ctx, "across/commit")
	if w.leaving {
		w.set.owing.Store(true)
	}
	if _, err := w.conn.exec(ctx, "COMMIT"); err != nil {
		w.torn = true
		return err
	}
	for _, c := range w.copied {
		delete(w.set.ghosts, ghost{c.id, c.part.file})
	}
	w.copied = nil
	if w.leaving {
		w.leaving = false
		reached(ctx, "across/leave")
		if err := w.settleGone(ctx); err != nil {
			// It is dead to every reading, and tried again by the light groom.
			w.log.Warn("rows that left a historical database still stand in its file", "error", err)
		}
		reached(ctx, "across/left")
	}
	return nil
}

// still is the lock under which historical databases change: no View is at work
// then, nor is one of them being copied, which would hold the commit up for
// longer than the writer waits.
type still struct{ set *Set }

func (s still) Lock() {
	s.set.copying.Lock()
	s.set.views.Lock()
}

func (s still) Unlock() {
	s.set.views.Unlock()
	s.set.copying.Unlock()
}

// abandon ends the transactions of a group on historical databases.
func (w *writer) abandon(ctx context.Context) {
	for _, p := range w.begun {
		if _, err := p.rw.exec(ctx, "ROLLBACK"); err != nil {
			w.log.Debug("rollback after a failed commit", "file", p.file, "error", err)
		}
		p.begun = false
	}
	w.begun, w.added, w.copied, w.leaving = nil, nil, nil, false
}

// copied is a row that was copied into a historical database.
type copied struct {
	part *part
	tier memd.Tier
	id   string
}

// ghost is a copy of a row in a historical database that the active one does
// not know of, since its commit failed: it is dead, and deleted from the file as
// soon as can be. At a start, untangle does so.
type ghost struct{ id, file string }

// haunt makes ghosts of what a historical database has committed, until the
// active one commits.
func (w *writer) haunt(p *part) {
	for _, c := range w.copied {
		if c.part == p {
			w.set.ghosts[ghost{c.id, p.file}] = c.tier
			w.set.owing.Store(true)
		}
	}
}

// addedHash is a content hash that a row of a historical database gets.
type addedHash struct {
	part *part
	hash string
}

// settleGone deletes the rows that have left historical databases from their
// files. No View may be at work, and no transaction open.
func (w *writer) settleGone(ctx context.Context) error {
	w.set.owing.Store(true) // until it is known better, however this ends
	left := map[string][]goneRow{}
	err := w.conn.each(ctx, `SELECT file, tier, memory_id FROM gone ORDER BY file, memory_id`, nil, func(rows *sql.Rows) error {
		var file string
		var g goneRow
		err := rows.Scan(&file, &g.tier, &g.id)
		left[file] = append(left[file], g)
		return err
	})
	if err != nil {
		return fail("read what has left a historical database", err)
	}
	for g, tier := range w.set.ghosts {
		left[g.file] = append(left[g.file], goneRow{tier, g.id})
	}
	var settled []*part
	owing := false
	for file, rows := range left {
		p := w.part(file)
		if p == nil {
			continue
		}
		failed := p.alone(ctx, nil, func(c *conn) error { return deleteGone(ctx, c, rows) })
		if failed != nil {
			owing = true
			err = errors.Join(err, failed)
			delete(left, file)
			continue
		}
		settled = append(settled, p)
		maps.DeleteFunc(w.set.ghosts, func(g ghost, _ memd.Tier) bool { return g.file == file })
	}
	if len(left) > 0 {
		reached(ctx, "across/deleted")
		if failed := w.plainly(ctx, func() error { return w.forgetGone(ctx, left, settled) }); failed != nil {
			return errors.Join(err, failed)
		}
	}
	w.set.owing.Store(owing)
	return err
}

// forgetGone takes what was deleted off the list of what has left.
func (w *writer) forgetGone(ctx context.Context, left map[string][]goneRow, settled []*part) error {
	for file := range left {
		if _, err := w.conn.exec(ctx, `DELETE FROM gone WHERE file = ?`, file); err != nil {
			return fail("note what has left a historical database", err)
		}
	}
	for _, p := range settled {
		if err := recount(ctx, w.conn, p, p.rw); err != nil {
			return err
		}
	}
	return nil
}

// goneRow is a row that has left a historical database.
type goneRow struct {
	tier memd.Tier
	id   string
}

// deleteGone deletes rows from one historical database.
func deleteGone(ctx context.Context, c *conn, rows []goneRow) error {
	for _, g := range rows {
		if _, err := c.exec(ctx, on(g.tier, `DELETE FROM {t} WHERE id = ?`), g.id); err != nil {
			return err
		}
	}
	return markDue(ctx, c)
}

// alone runs fn as one transaction on a historical database, which commits
// under lock: no View may be at work then. It is nil where the caller holds it.
func (p *part) alone(ctx context.Context, lock sync.Locker, fn func(*conn) error) error {
	c, err := p.own(ctx)
	if err != nil {
		return err
	}
	if _, err = c.exec(ctx, "BEGIN IMMEDIATE"); err == nil {
		if err = fn(c); err == nil {
			if lock != nil {
				lock.Lock()
				defer lock.Unlock()
			}
			_, err = c.exec(ctx, "COMMIT")
			p.gen.Add(1)
		}
		if err != nil {
			_, rollback := c.exec(ctx, "ROLLBACK")
			_ = rollback // SQLite may have rolled back by itself
		}
	}
	return fail("change "+p.file, p.failed(err))
}

// recount brings the catalogue up to date with a historical database.
func recount(ctx context.Context, active *conn, p *part, c *conn) error {
	n, err := countUse(ctx, c)
	if err != nil {
		return err
	}
	_, err = active.exec(ctx, `UPDATE history SET bytes = ?2, short = ?3, long = ?4, archive = ?5, vectors = ?6, vector_bytes = ?7
 WHERE file = ?1 AND (bytes, short, long, archive, vectors, vector_bytes) IS NOT (?2, ?3, ?4, ?5, ?6, ?7)`,
		p.file, n.bytes, n.short, n.long, n.archive, n.vectors, n.vectorBytes)
	return fail("bring the catalogue up to date", err)
}

// use is what a historical database adds to the use of budgets.
type use struct {
	bytes                int64
	short, long, archive int
	vectors              int
	vectorBytes          int64
}

func countUse(ctx context.Context, c *conn) (use, error) {
	var u use
	err := c.row(ctx, `SELECT p.page_count * s.page_size,
 (SELECT rows FROM tally WHERE tier = 'short'), (SELECT rows FROM tally WHERE tier = 'long'),
 (SELECT rows FROM tally WHERE tier = 'archive'),
 (SELECT count(*) FROM embedding), (SELECT coalesce(sum(length(vec)), 0) FROM embedding)
 FROM pragma_page_count p, pragma_page_size s`, nil,
		&u.bytes, &u.short, &u.long, &u.archive, &u.vectors, &u.vectorBytes)
	return u, fail("count what a database holds", err)
}
