package store

import (
	"context"
	"database/sql"
	"net/url"
	"strings"

	"memd"
)

// conn is one SQLite connection with its prepared statements. It belongs to
// one goroutine at a time.
type conn struct {
	db      *sql.DB
	c       *sql.Conn
	stmts   map[string]*sql.Stmt
	changes int   // statements run by exec that may have changed rows
	version int64 // of the data, when the writer last looked
}

// Pragmas of every connection, and those that only the writer needs. The
// driver's allocator rounds a cached page up to twice its size, so a cache of
// 1 MiB costs two; recalls over 50,000 rows are no faster with more.
const (
	commonPragmas = `PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY;`
	writerPragmas = `PRAGMA cache_size = -1024; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
PRAGMA journal_size_limit = 4194304; PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = ON;`
	readerPragmas = `PRAGMA cache_size = -1024; PRAGMA query_only = ON;`

	// Of a historical database, of which there are many: little is kept of each,
	// and what is changed in it is not written before its commit.
	// Nobody waits long for one that another program holds locked, which the
	// other pragmas may find out: so the time to wait comes first.
	historyWait          = `PRAGMA busy_timeout = 250;`
	historyReaderPragmas = historyWait + ` PRAGMA cache_size = -256; PRAGMA query_only = ON;`
	historyPragmas       = historyWait + ` PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = ON; PRAGMA cache_size = -256; PRAGMA cache_spill = OFF;`
)

// dsn is the URI of the database file at path; mode is ro, rw or rwc.
func dsn(path, mode string) string {
	u := url.URL{Path: path}
	return "file:" + u.EscapedPath() + "?mode=" + mode
}

// connect opens one connection and sets its pragmas.
func connect(ctx context.Context, path, mode, pragmas string) (*conn, error) {
	db, err := openDriver(dsn(path, mode))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	if _, err := c.ExecContext(ctx, commonPragmas+pragmas); err != nil {
		c.Close()
		db.Close()
		return nil, err
	}
	return &conn{db: db, c: c, stmts: map[string]*sql.Stmt{}}, nil
}

func (c *conn) close() error {
	c.dropStatements()
	c.c.Close()
	return c.db.Close()
}

// dropStatements closes the prepared statements. One left open would keep the
// connection alive behind its close, and with it the write-ahead log.
func (c *conn) dropStatements() {
	for _, s := range c.stmts {
		s.Close()
	}
	clear(c.stmts)
}

// prepare returns the statement for query, compiling it at its first use.
func (c *conn) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.c.PrepareContext(ctx, query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// exec runs query and returns the number of rows it changed.
func (c *conn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return 0, err
	}
	c.changes++
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row scans the one row of query into dest; sql.ErrNoRows when there is none.
func (c *conn) row(ctx context.Context, query string, args []any, dest ...any) error {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(ctx, args...).Scan(dest...)
}

// value runs a pragma and returns the first column of its one row.
func (c *conn) value(ctx context.Context, pragma string) (value string, err error) {
	err = c.each(ctx, pragma, nil, func(rows *sql.Rows) error {
		cols, err := rows.Columns()
		if err != nil {
			return err
		}
		rest := make([]any, len(cols))
		for i := range rest {
			rest[i] = new(any)
		}
		rest[0] = &value
		return rows.Scan(rest...)
	})
	return value, err
}

// query returns the rows of query. The caller closes them.
func (c *conn) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// each calls scan for every row of query.
func (c *conn) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := c.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// on names the table of a tier in query, where {t} stands. The tier is one of
// the four constants, never text from outside.
func on(t memd.Tier, query string) string {
	if !t.Valid() {
		panic("store: unknown tier " + string(t))
	}
	return strings.ReplaceAll(query, "{t}", string(t))
}
