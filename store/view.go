package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"memd"
)

// View is one consistent reading of all databases. It must not outlive the
// function it was given to.
//
// The active database is read in one transaction. The historical ones are
// opened when asked for: none of them changes while any View is at work, since
// the writer commits to them alone (see Set.views).
type View struct {
	ctx     context.Context
	parts   []*part   // the active one first, then the historical ones, newest first
	conns   []*conn   // beside parts; nil: not asked for yet
	missed  []error   // beside parts: why one could not be read
	extents []*extent // beside parts, nil: not looked for yet
	owing   bool      // whether rows may stand in a file that they have left
	ghosts  map[ghost]memd.Tier
	heads   map[headKey]Head

	vectors bool     // whether sqlite-vec can compare any
	indexer *indexer // nil: no index in memory is to be used
	signs   *signs
	mark    mark
}

// View runs fn over a consistent state that holds every write answered before
// the call. It waits for a free reader, which callers get in turn (see As), and while
// databases are exchanged, never for a commit to the active one. fn calls no View.
func (s *Set) View(ctx context.Context, fn func(*View) error) (err error) {
	leave, err := s.turns.take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s.views.RLock()
	defer s.views.RUnlock()
	switch {
	case s.closed.Load():
		return errClosing
	case s.active == nil:
		return s.lost
	}
	v := &View{ctx: ctx, parts: s.parts(), owing: s.owing.Load(), ghosts: s.ghosts, heads: map[headKey]Head{},
		vectors: s.vectors, signs: &s.signs, mark: s.signs.mark()}
	if !s.noIndex {
		v.indexer = &s.indexer
	}
	v.conns, v.missed, v.extents = make([]*conn, len(v.parts)), make([]error, len(v.parts)), make([]*extent, len(v.parts))
	if v.conns[0], err = s.active.lend(ctx); err != nil {
		return err
	}
	defer func() {
		for i, c := range v.conns {
			if c != nil {
				err = errors.Join(err, v.parts[i].end(ctx, c))
			}
		}
	}()
	return fn(v)
}

// active is the connection to the active database.
func (v *View) active() *conn { return v.conns[0] }

// conn is the connection to a database, nil where it cannot be read: the rest
// is served without it, and Unavailable tells.
func (v *View) conn(i int) *conn {
	if v.conns[i] == nil && v.missed[i] == nil {
		if v.missed[i] = v.parts[i].broken(); v.missed[i] == nil {
			v.missed[i] = v.parts[i].failed(v.open(i))
		}
	}
	return v.conns[i]
}

// open opens a historical database for reading and looks at how far it goes, so
// that whatever bars it shows here and not in the middle of a search.
func (v *View) open(i int) error {
	c, err := v.parts[i].lend(v.ctx)
	if err != nil {
		return err
	}
	ctx := context.WithoutCancel(v.ctx)
	if v.extents[i], err = readExtent(ctx, c, v.parts[i]); damage(err) { // it may be of pages that nobody asks for
		v.extents[i] = nil
		err = c.row(ctx, `SELECT count(*) FROM sqlite_schema WHERE rowid = 1`, nil, new(int))
	}
	if err != nil {
		return errors.Join(fail("read "+v.parts[i].file, err), c.close())
	}
	v.conns[i] = c
	return nil
}

// each calls fn with every database that can be read, the active one first,
// then the historical ones, newest first. A historical one that turns out to
// be damaged meanwhile is set aside.
func (v *View) each(fn func(i int, c *conn) error) error {
	for i := range v.parts {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		c := v.conn(i)
		if c == nil {
			continue
		}
		if err := v.bear(i, fn(i, c)); err != nil {
			return err
		}
	}
	return nil
}

// only is each for one database; nothing if it has left or cannot be read.
func (v *View) only(p *part, fn func(i int, c *conn) error) error {
	i := slices.Index(v.parts, p)
	if i < 0 {
		return nil
	}
	if c := v.conn(i); c != nil {
		return v.bear(i, fn(i, c))
	}
	return nil
}

// bear sets a historical database aside that turned out to be damaged, and
// returns every other error.
func (v *View) bear(i int, err error) error {
	p := v.parts[i]
	switch {
	case p.file == "":
		return err
	case damage(err):
		v.missed[i] = p.failed(err)
	case indexFault(err):
		v.missed[i] = fail("search "+p.file, err)
	default:
		return err
	}
	return nil
}

// Unavailable names the databases that could not be read by what was asked so
// far, with the rows that the catalogue counts in each; [] for none.
func (v *View) Unavailable() ([]string, error) {
	names := []string{}
	for i, p := range v.parts {
		if v.missed[i] == nil {
			continue
		}
		var rows int
		err := v.active().row(v.ctx, `SELECT short + long + archive FROM history WHERE file = ?`, []any{p.file}, &rows)
		if _, err := none(err); err != nil {
			return nil, fail("read the catalogue", err)
		}
		names = append(names, fmt.Sprintf("%s/%s: %d rows unavailable", HistoryDir, p.file, rows))
	}
	return names, nil
}

// Unread is why historical databases cannot be read, by file. It asks every one.
func (v *View) Unread() map[string]error {
	failed := map[string]error{}
	for i, p := range v.parts {
		if v.conn(i) == nil {
			failed[p.file] = v.missed[i]
		}
	}
	return failed
}

// absent is the answer to a search for one row that no database has: an error
// where one could not be read.
func (v *View) absent() error {
	for _, err := range v.missed {
		if err != nil {
			return err
		}
	}
	return nil
}

// Err is the error of the request that the View serves, nil while it runs.
func (v *View) Err() error { return v.ctx.Err() }

// Get returns the whole row with the given id. Where a database cannot be
// read, a row that no other has is an error.
func (v *View) Get(id string) (m memd.Memory, ok bool, err error) {
	err = v.each(func(i int, c *conn) error {
		if ok {
			return nil
		}
		found, has, err := get(v.ctx, c, id, v.parts[i].tiers())
		if err != nil || !has {
			return err
		}
		if ok, err = v.stands(i, found.ID); ok {
			m = found
		}
		return err
	})
	if err == nil && !ok {
		err = v.absent()
	}
	return m, ok, err
}

// Head returns the state of a key.
func (v *View) Head(namespace, key string) (Head, bool, error) {
	return headOf(v.ctx, v.active(), namespace, key)
}

// Row returns the whole row that a head names; not ok where it was deleted or
// archived by hand.
func (v *View) Row(h Head) (m memd.Memory, ok bool, err error) {
	if h.ID == "" {
		return m, false, nil
	}
	for i, p := range v.parts {
		if p.file != h.File {
			continue
		}
		c := v.conn(i)
		if c == nil {
			return m, false, v.missed[i]
		}
		m, ok, err = get(v.ctx, c, h.ID, []memd.Tier{memd.Long})
		return m, ok, p.failed(err)
	}
	return m, false, nil
}

// Versions returns every row of a key over all databases, newest first and
// without raw_content. That none is found is an error where a database cannot be
// read.
func (v *View) Versions(namespace, key string) ([]memd.Memory, error) {
	var all []memd.Memory
	err := v.each(func(i int, c *conn) error {
		return versionsOf(v.ctx, c, namespace, key, false, func(m memd.Memory) error {
			ok, err := v.stands(i, m.ID)
			if ok {
				all = append(all, m)
			}
			return err
		})
	})
	if err == nil && len(all) == 0 {
		err = v.absent()
	}
	return sortVersions(all), err
}

// stands reports whether a row that was found in a database has not left it.
func (v *View) stands(i int, id string) (bool, error) {
	if i == 0 || !v.owing {
		return true, nil
	}
	return stands(v.ctx, v.active(), v.ghosts, id, v.parts[i].file)
}

// current reports whether a row that was found in a database has not left it,
// and is no superseded version. In the active database the search itself sees
// to that.
func (v *View) current(i int, m *memd.Memory) (bool, error) {
	if i == 0 {
		return true, nil
	}
	if ok, err := v.stands(i, m.ID); !ok || err != nil || m.MemoryKey == "" {
		return ok, err
	}
	key := headKey{m.Namespace, m.MemoryKey}
	h, known := v.heads[key]
	if !known {
		var err error
		if h, _, err = v.Head(m.Namespace, m.MemoryKey); err != nil {
			return false, err
		}
		v.heads[key] = h
	}
	return h.has(m, v.parts[i].file), nil
}

func sortVersions(found []memd.Memory) []memd.Memory {
	slices.SortStableFunc(found, func(a, b memd.Memory) int { return b.Version - a.Version })
	return found
}

// SessionOwner returns the identity of who opened a session, "" when nobody has.
func (v *View) SessionOwner(session string) (string, error) {
	var owner string
	err := v.active().row(v.ctx, `SELECT owner FROM session WHERE session_id = ?`, []any{session}, &owner)
	_, err = none(err)
	return owner, fail("read a session", err)
}

// Notes returns a session's live transient rows, oldest first.
func (v *View) Notes(session string, now memd.Time) ([]memd.Memory, error) {
	var found []memd.Memory
	err := v.active().each(v.ctx, on(memd.Transient, `SELECT `+fullColumns+` FROM {t}
 WHERE {t}.session_id = ? AND ({t}.expires_at IS NULL OR {t}.expires_at > ?) ORDER BY {t}.rid`),
		[]any{session, now.String()}, collect(memd.Transient, true, &found))
	return found, fail("read a session's notes", err)
}

// Meta returns the value under a key of the meta table, "" when absent.
func (v *View) Meta(key string) (string, error) {
	var value string
	err := v.active().row(v.ctx, `SELECT value FROM meta WHERE key = ?`, []any{key}, &value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, fail("read meta", err)
}
