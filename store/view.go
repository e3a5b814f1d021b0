package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"

	"memd"
)

// readers is how many connections serve reads of one database.
const readers = 4

// part is one database as readers see it.
type part struct {
	file    string // "" for the active database
	pool    chan *conn
	opened  int           // connections there are, in the pool or lent
	closing chan struct{} // closed when no reader gets a connection any more
	close   func() error  // once, however often it is called
}

func openPart(ctx context.Context, path, file string) (*part, error) {
	p := &part{file: file, pool: make(chan *conn, readers), closing: make(chan struct{})}
	p.close = sync.OnceValue(p.shut)
	for range readers {
		c, err := connect(ctx, path, "ro", readerPragmas)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.opened++
		p.pool <- c
	}
	return p, nil
}

// shut waits for every connection to come back and closes it.
func (p *part) shut() error {
	close(p.closing)
	var errs error
	for range p.opened {
		errs = errors.Join(errs, (<-p.pool).close())
	}
	return errs
}

// View is one consistent reading of all databases: a read transaction on
// each. It must not outlive the function it was given to.
type View struct {
	ctx   context.Context
	conns []*conn // one a database, the active one first
}

// View runs fn over a consistent state that holds every write answered before
// the call. It waits for a free reader, never for the writer.
func (s *Set) View(ctx context.Context, fn func(*View) error) (err error) {
	parts := s.parts()
	v := &View{ctx: ctx, conns: make([]*conn, 0, len(parts))}
	defer func() {
		for i, c := range v.conns {
			// The transaction only read: ending it cannot lose anything, and
			// a connection that cannot end it is no use to the next reader.
			if _, end := c.exec(context.WithoutCancel(ctx), "COMMIT"); end != nil {
				err = errors.Join(err, fail("end a read", end))
			}
			parts[i].pool <- c
		}
	}()
	for _, p := range parts {
		select {
		case c := <-p.pool:
			// It takes no lock, so it is not worth interrupting; and begun but
			// reported as cancelled it would spoil the connection for good.
			if _, err := c.exec(context.WithoutCancel(ctx), "BEGIN"); err != nil {
				p.pool <- c
				return fail("begin a read", err)
			}
			v.conns = append(v.conns, c)
		case <-p.closing:
			return errClosing
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fn(v)
}

// Err is the error of the request that the View serves, nil while it runs.
func (v *View) Err() error { return v.ctx.Err() }

// Get returns the whole row with the given id.
func (v *View) Get(id string) (memd.Memory, bool, error) {
	for _, c := range v.conns {
		if m, ok, err := get(v.ctx, c, id); ok || err != nil {
			return m, ok, err
		}
	}
	return memd.Memory{}, false, nil
}

// Head returns the state of a key.
func (v *View) Head(namespace, key string) (Head, bool, error) {
	return headOf(v.ctx, v.conns[0], namespace, key)
}

// Versions returns every row of a key over all databases, newest first and
// without raw_content.
func (v *View) Versions(namespace, key string) ([]memd.Memory, error) {
	var all []memd.Memory
	for _, c := range v.conns {
		found, err := versionsOf(v.ctx, c, namespace, key, false)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return sortVersions(all), nil
}

func sortVersions(found []memd.Memory) []memd.Memory {
	slices.SortStableFunc(found, func(a, b memd.Memory) int { return b.Version - a.Version })
	return found
}

// SessionOwner returns the caller that opened a session, "" when nobody has.
func (v *View) SessionOwner(session string) (string, error) {
	var owner string
	err := v.conns[0].row(v.ctx, `SELECT owner FROM session WHERE session_id = ?`, []any{session}, &owner)
	_, err = none(err)
	return owner, fail("read a session", err)
}

// Notes returns a session's live transient rows, oldest first.
func (v *View) Notes(session string, now memd.Time) ([]memd.Memory, error) {
	var found []memd.Memory
	err := v.conns[0].each(v.ctx, on(memd.Transient, `SELECT `+fullColumns+` FROM {t}
 WHERE {t}.session_id = ? AND ({t}.expires_at IS NULL OR {t}.expires_at > ?) ORDER BY {t}.rid`),
		[]any{session, now.String()}, collect(memd.Transient, true, &found))
	return found, fail("read a session's notes", err)
}

// Meta returns the value under a key of the meta table, "" when absent.
func (v *View) Meta(key string) (string, error) {
	var value string
	err := v.conns[0].row(v.ctx, `SELECT value FROM meta WHERE key = ?`, []any{key}, &value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, fail("read meta", err)
}
