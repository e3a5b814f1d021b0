package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"memd"
)

// fail wraps err with the operation and turns what SQLite reports into the
// code a caller can act on. Errors that already carry a code pass unchanged.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*memd.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", op, err)
	}
	wrapped := &memd.Error{Code: memd.CodeStoreFailed, Message: "the store failed to " + op, Err: err}
	switch sqliteCode(err) {
	case codeBusy, codeLocked:
		wrapped.Code = memd.CodeStoreBusy
		wrapped.Message = "another program holds the database locked"
		wrapped.Hint = "close the transaction that is open in a sqlite3 shell, then try again"
	case codeFull:
		wrapped.Code = memd.CodeBudgetExceeded
		wrapped.Message = "the disk is full; nothing was written"
		wrapped.Hint = "free space on the file system of the data directory"
	case codeReadOnly, codeCantOpen:
		wrapped.Hint = unwritable
	case codeCorrupt:
		wrapped.Hint = damaged
	}
	if errors.Is(err, fs.ErrPermission) {
		wrapped.Hint = unwritable
	}
	return wrapped
}

const unwritable = "the data directory and its files must be writable by the user who runs memd"

// none turns sql.ErrNoRows into ok == false.
func none(err error) (ok bool, _ error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// errClosing answers a call to a Set that was closed.
var errClosing = memd.Errorf(memd.CodeStoreBusy, "the store is closing")
