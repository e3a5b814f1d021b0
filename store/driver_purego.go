//go:build !memd_cgo

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
)

// The pair that was tested together: sqlite pins this libc, and a dependency
// that raises libc past it would unpin it in silence.
const (
	sqlitePin = "v1.62.0"
	libcPin   = "v1.80.1"
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
	err := sqlite.RegisterDeterministicScalarFunction("memd_fold", 1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return fold(args[0]), nil })
	if err != nil {
		return fmt.Errorf("memd_fold: %w", err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return checkPins(info)
})

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

func handle(dsn string) (*sql.DB, error) { return sql.Open("sqlite", dsn) }

func sqliteCode(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}
