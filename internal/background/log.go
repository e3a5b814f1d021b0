package background

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"memd"
)

// LogName is the file within a data folder to which a daemon that was started in
// the background writes its log.
const LogName = "memd.log"

// maxLog is the size in bytes beyond which a log is put aside, as LogName.1, when
// a daemon is started.
const maxLog = 1 << 20

// openLog opens the log for a daemon that is started, at 0600 under any umask. The
// caller holds the folder, so that nobody else does the same.
func openLog(dir string) (*os.File, error) {
	path := filepath.Join(dir, LogName)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a link would have another file written, a pipe would have us wait
		return nil, memd.Errorf(memd.CodeStoreFailed, "%s is in the way of the log and is no file", path)
	case info.Size() > maxLog:
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
