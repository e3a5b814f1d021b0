package store

import (
	"errors"
	"io/fs"
	"os"

	"memd"
)

// files tells the database's own files from others put in their place. SQLite
// goes on writing to a file that was moved or deleted under it, and what it
// answers then is lost with the process; a log that is left beside another
// database is replayed into it.
type files struct {
	path    string
	db, log fs.FileInfo // nil: was not there
}

func identifyFiles(path string) (*files, error) {
	db, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	log, err := os.Stat(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &files{path: path, db: db, log: log}, nil
}

// same reports whether the file at path is still the one that was there.
func same(path string, was fs.FileInfo) bool {
	now, err := os.Stat(path)
	return was == nil || err == nil && os.SameFile(was, now)
}

// check refuses to go on over a file that was replaced or removed.
func (f *files) check() error {
	switch {
	case !same(f.path, f.db):
		return memd.Errorf(memd.CodeStoreFailed, "the database file was moved or replaced under the running daemon").
			WithHint("stop memd, put one whole database at %s, and start it again", f.path)
	case !same(f.path+"-wal", f.log):
		return memd.Errorf(memd.CodeStoreFailed, "the write-ahead log was removed under the running daemon").
			WithHint("stop memd with SIGTERM: it then saves what the log held")
	}
	return nil
}

// part keeps the log, once the database is closed, from meeting a file that
// took the database's place: it would be replayed into it.
func (f *files) part() error {
	log := f.path + "-wal"
	if f.log == nil || same(f.path, f.db) {
		return nil
	}
	if now, err := os.Stat(log); err != nil || !os.SameFile(now, f.log) {
		return nil
	}
	return os.Rename(log, log+".displaced")
}
