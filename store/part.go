package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"

	"memd"
)

// Connections that serve reads. Every View holds one to the active database,
// so that their number bounds the Views at work; those to a historical one are
// opened when asked for, and few are kept.
const (
	readers     = 4
	keptReaders = 1
)

// part is one database of a Set. Whoever reads it holds Set.views.
type part struct {
	file string // name below history/, "" for the active database
	path string
	by   string     // who has it made by a rollover, for the log
	pool chan *conn // connections that read and are not lent

	state  string // of a historical database in the catalogue
	hashes hashes // of contents that a write may repeat

	index atomic.Pointer[index] // nil until it is made

	unready atomic.Bool // whether makeReady is still to be done; the writer sets it

	rw    *conn        // the writer's connection to a historical database, nil until needed
	begun bool         // whether a transaction is open on rw
	gen   atomic.Int64 // grows with each change of a historical database

	mu    sync.Mutex
	fault error // why it cannot be read, nil while it can
}

// openActive opens the connections that read the active database.
func openActive(ctx context.Context, path string) (*part, error) {
	p := &part{path: path, pool: make(chan *conn, readers)}
	for range readers {
		c, err := connect(ctx, path, "ro", readerPragmas)
		if err != nil {
			return nil, errors.Join(err, p.closeReaders())
		}
		p.pool <- c
	}
	return p, nil
}

// newPart is a historical database; no file is opened yet.
func newPart(dir, file, state string) *part {
	return &part{file: file, path: historyPath(dir, file), state: state, pool: make(chan *conn, keptReaders)}
}

// historyPath is where a historical database lies.
func historyPath(dir, file string) string { return filepath.Join(dir, HistoryDir, file) }

// lend returns a connection in a read transaction. The first statement takes the
// lock.
func (p *part) lend(ctx context.Context) (c *conn, err error) {
	if p.file == "" {
		select {
		case c = <-p.pool:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	} else {
		select {
		case c = <-p.pool:
		default:
			// One that may write: if another program dies in the middle of a
			// commit, only such a one undoes that.
			if c, err = connect(ctx, p.path, "rw", historyReaderPragmas); err != nil {
				return nil, fail("open "+p.file, err)
			}
		}
	}
	// It takes no lock, so it is not worth interrupting; and begun but reported
	// as cancelled it would spoil the connection for good.
	if _, err := c.exec(context.WithoutCancel(ctx), "BEGIN"); err != nil {
		p.giveBack(c)
		return nil, fail("begin a read", err)
	}
	return c, nil
}

// end ends the read transaction of a lent connection and takes it back. It
// only read: ending it cannot lose anything, and one to a historical database
// that cannot is let go.
func (p *part) end(ctx context.Context, c *conn) error {
	_, err := c.exec(context.WithoutCancel(ctx), "COMMIT")
	if err != nil && p.file != "" {
		c.close()
		return nil
	}
	p.giveBack(c)
	return fail("end a read", err)
}

func (p *part) giveBack(c *conn) {
	select {
	case p.pool <- c:
	default:
		c.close()
	}
}

// closeReaders closes every connection that reads. None may be lent.
func (p *part) closeReaders() (err error) {
	for {
		select {
		case c := <-p.pool:
			err = errors.Join(err, c.close())
		default:
			return err
		}
	}
}

// close closes every connection. None may be lent, and the writer at rest.
func (p *part) close() error {
	err := p.closeReaders()
	if p.rw != nil {
		err = errors.Join(err, p.rw.close())
		p.rw = nil
	}
	return err
}

// own is the writer's connection to a historical database.
func (p *part) own(ctx context.Context) (*conn, error) {
	if err := p.broken(); err != nil {
		return nil, err
	}
	if p.rw == nil {
		c, err := connect(ctx, p.path, "rw", historyPragmas)
		if err != nil {
			return nil, fail("open "+p.file, p.failed(err))
		}
		p.rw = c
	}
	return p.rw, nil
}

// broken is why the database cannot be read, nil while it can.
func (p *part) broken() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// failed sets a historical database aside whose pages SQLite cannot read, or
// that is none any more: from then on the rest is served without it. Any other
// error may pass and only is returned.
func (p *part) failed(err error) error {
	if p.file == "" || !damage(err) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil {
		p.fault = setAside(p.file, err)
	}
	return p.fault
}

// damage reports whether SQLite found that a file is no database, or no whole
// one. A keyword index at fault is no damage: it can be made anew of the rows.
func damage(err error) bool {
	code := sqliteCode(err)
	return code == codeCorrupt && !indexFault(err) || code == codeNotADB
}

// indexFault reports whether SQLite found a keyword index at fault.
func indexFault(err error) bool { return extendedCode(err) == codeCorruptIndex }

func setAside(file string, err error) error {
	return &memd.Error{Code: memd.CodeStoreFailed, Message: "the historical database " + file + " cannot be read", Err: err,
		Hint: "the rest is served without it; bring it back from a backup with `memd restore`, or see `memd doctor`"}
}
