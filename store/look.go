package store

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"memd"
	"memd/internal/regular"
)

// untouched is a mode of connect under which SQLite takes no lock and makes no
// file beside the database, for looking once into one that nobody has open. It
// sees neither a log nor a commit that was cut short.
const untouched = "ro&immutable=1"

// inspect looks at a historical database before anything is written to it: what
// is none of memd's is not touched, nor is a file made beside it. In memd's own a
// commit that was cut short is rolled back first, for which a connection that
// only reads has no right.
func inspect(ctx context.Context, path string) error {
	logged, err := readHeader(path)
	if err != nil {
		return err
	}
	mode := "ro"
	switch {
	case logged && !exists(path+"-wal"):
		mode = untouched
	case !logged && exists(path+"-journal"):
		playBack(ctx, path)
	}
	c, err := connect(ctx, path, mode, historyReaderPragmas)
	if err != nil {
		return foreign(path, err)
	}
	defer c.close()
	if _, err := identifyBy(ctx, c, path); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, c)
	if err == nil && version == 0 {
		err = memd.Errorf(memd.CodeStoreFailed, "%s holds no memory", path)
	}
	if err != nil {
		return err
	}
	var rows int
	return c.row(ctx, `SELECT sum(rows) FROM tally`, nil, &rows)
}

// readHeader refuses what is no database of memd by its first bytes
// (sqlite.org/fileformat2.html), and reports whether it is in WAL mode. No
// connection may be open to the file: see driver_cgo.go.
func readHeader(path string) (logged bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, memd.Errorf(memd.CodeStoreFailed, "%s is no regular file", path)
	case info.Size() == 0:
		return false, memd.Errorf(memd.CodeStoreFailed, "%s is empty", path)
	}
	f, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var b [100]byte
	if _, err := io.ReadFull(f, b[:]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	switch {
	case !strings.HasPrefix(string(b[:]), "SQLite format 3\x00"):
		return false, memd.Errorf(memd.CodeStoreFailed, "%s is not a SQLite database", path)
	case binary.BigEndian.Uint32(b[68:]) != applicationID:
		return false, memd.Errorf(memd.CodeStoreFailed, "%s is a SQLite database of another program", path)
	}
	return b[18] == 2, nil
}

// lasting reports whether an error of looking into a historical database is
// one of what lies there, not one that may pass: a lock, a missing right, too
// many open files.
func lasting(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if _, system := errors.AsType[*fs.PathError](err); system || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	code := sqliteCode(err)
	return code == 0 || code == codeSQL || damage(err)
}
