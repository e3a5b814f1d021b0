//go:build memd_cgo

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	"github.com/mattn/go-sqlite3"
)

// prepareDriver registers sqlite-vec with every connection opened from now on.
//
// What the pure-Go driver also sets has no counterpart here. SQLite in C locks
// by process (fcntl): closing any other descriptor of the database file, such
// as one of a copy made by os.ReadFile, drops the locks held on it, so that
// nothing in memd may open a database file that it has open through SQLite.
// And it syncs by fsync, which is as durable and may be slower.
var prepareDriver = sync.OnceValue(func() error {
	vec.Auto()
	return nil
})

// connector opens the connections of one handle. It stands in for
// sql.Register, which would need a name per process.
type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

// Connect opens a connection; database/sql closes it.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver is the driver behind the handle.
func (c connector) Driver() driver.Driver { return c.driver }

func handle(dsn string) (*sql.DB, error) {
	return sql.OpenDB(connector{dsn, &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error { return c.RegisterFunc("memd_fold", fold, true) },
	}}), nil
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return int(e.Code)
	}
	return 0
}

func extendedCode(err error) int {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return int(e.ExtendedCode)
	}
	return 0
}
