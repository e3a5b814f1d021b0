package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"modernc.org/sqlite"
	_ "modernc.org/sqlite/vec" // registers sqlite-vec with every connection

	"memd/store/terms"
)

// This file is all that names the SQLite driver: a build on another driver
// replaces it.

const driverName = "sqlite"

// The pair that was tested together: sqlite pins this libc, and a dependency
// that raises libc past it would unpin it in silence.
const (
	sqlitePin = "v1.62.0"
	libcPin   = "v1.80.1"
)

// SQLite result codes (sqlite.org/rescode.html).
const (
	codeBusy     = 5
	codeLocked   = 6
	codeNoMem    = 7
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// prepareDriver sets what the driver keeps per process, once, before the
// first open: file locks that survive another close of the same file, and
// fdatasync, as durable as fsync for a log whose size does not change.
var prepareDriver = sync.OnceValue(func() error {
	if _, err := sqlite.OFDLocking(true); err != nil {
		return fmt.Errorf("open file description locks: %w", err)
	}
	if _, err := sqlite.Fdatasync(true); err != nil {
		return fmt.Errorf("fdatasync: %w", err)
	}
	if err := sqlite.RegisterDeterministicScalarFunction("memd_fold", 1, fold); err != nil {
		return fmt.Errorf("memd_fold: %w", err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return checkPins(info)
})

// fold is the SQL function memd_fold, which brings a text to the form in which
// substrings are compared. Queries of memd alone use it: no trigger, view or
// index may, since the stock shell lacks it.
func fold(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	if text, ok := args[0].(string); ok {
		return terms.Fold(text), nil
	}
	return args[0], nil
}

// checkPins refuses a binary built with another pair of sqlite and libc.
func checkPins(info *debug.BuildInfo) error {
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if dep.Path == "modernc.org/sqlite" && dep.Version != sqlitePin ||
			dep.Path == "modernc.org/libc" && dep.Version != libcPin {
			return fmt.Errorf("built with %s %s; this release was tested with sqlite %s and libc %s alone",
				dep.Path, dep.Version, sqlitePin, libcPin)
		}
	}
	return nil
}

// openDriver opens a handle on dsn; it touches no file yet.
func openDriver(dsn string) (*sql.DB, error) {
	if err := prepareDriver(); err != nil {
		return nil, err
	}
	return sql.Open(driverName, dsn)
}

// sqliteCode returns the primary result code of a driver error, 0 for others.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
