package store

import (
	"database/sql"

	"memd/store/terms"
)

// The SQLite driver is named in driver_purego.go, which is what memd is built
// on unless the build tag memd_cgo asks for driver_cgo.go. Each has
//
//	prepareDriver  what the driver keeps per process
//	handle         a handle on a database, with sqlite-vec and memd_fold
//	sqliteCode     the primary result code of a driver error, 0 for others
//	extendedCode   its extended result code
//
// and nothing else of memd knows which one it runs on.

// SQLite result codes (sqlite.org/rescode.html).
const (
	codeSQL      = 1 // such as no such table
	codeBusy     = 5
	codeLocked   = 6
	codeNoMem    = 7
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26

	codeCorruptIndex = codeCorrupt | 1<<8 // of a virtual table: all are keyword indexes
)

// openDriver opens a handle on dsn; it touches no file yet.
func openDriver(dsn string) (*sql.DB, error) {
	if err := prepareDriver(); err != nil {
		return nil, err
	}
	return handle(dsn)
}

// fold is the SQL function memd_fold, which brings a text to the form in which
// substrings are compared. Queries of memd alone use it: no trigger, view or
// index may, since the stock shell lacks it.
func fold(v any) any {
	if text, ok := v.(string); ok {
		return terms.Fold(text)
	}
	return v
}
