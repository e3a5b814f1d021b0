// Package dirlock gives one process at a time a data folder.
//
// The lock is the kernel's (flock on memd.lock), so it ends with the process
// that holds it however that process ends. The pid written into the file is
// for people: it names the holder, it does not make one.
package dirlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memd"
	"memd/internal/regular"
)

// FileName is the lock file within a data folder. It is never removed: a new
// file of the same name would be a second lock.
const FileName = "memd.lock"

const (
	// poll is how often a wanted lock is tried again.
	poll = 20 * time.Millisecond
	// blink is how long an attempt insists even when it was told not to wait.
	// Holder takes the lock for an instant to look at it, and a holder needs
	// one to write its pid.
	blink = 60 * time.Millisecond
)

// Options bend the rules of Acquire.
type Options struct {
	AllowNetworkFS bool // take a folder on a network file system, with a warning
}

// Lock is a held data folder.
type Lock struct {
	file    *os.File
	warning string
}

// Warning tells what the operator should know about the folder's file system,
// "" if nothing.
func (l *Lock) Warning() string { return l.warning }

// Release gives the folder up. Calls after the first do nothing.
func (l *Lock) Release() error {
	// Emptied while still held: a pid in the file is then the holder's, or
	// that of one who died holding it.
	if err := l.file.Truncate(0); errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return l.file.Close()
}

// HeldError says that another process has the folder. It carries a memd.Error
// with CodeStoreBusy.
type HeldError struct {
	Dir string
	PID int // 0 if the holder could not be told
}

// Error names the folder and its holder.
func (e *HeldError) Error() string { return e.message() }

func (e *HeldError) message() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("%s is in use by process %d", e.Dir, e.PID)
}

// Unwrap returns the error as callers of the daemon see it.
func (e *HeldError) Unwrap() error {
	return memd.Errorf(memd.CodeStoreBusy, "%s", e.message()).
		WithHint("use the running daemon or end it; --wait says how long to wait for it")
}

// Acquire takes the folder dir for this process, creating it with 0700 if it
// is missing. While another process has it Acquire tries again until wait has
// passed, then returns a *HeldError; a ctx that ends cuts the wait short. A
// folder whose socket path is too long, that lies on a network file system, or
// that others may enter for what else is in it is refused before anything is
// created.
func Acquire(ctx context.Context, dir string, wait time.Duration, o Options) (*Lock, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := CheckSocketPath(dir); err != nil {
		return nil, err
	}
	warning, err := checkFS(dir, o)
	if err != nil {
		return nil, err
	}
	loose, err := ensureDir(dir)
	if err != nil {
		return nil, err
	}
	f, err := openLockFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	if err := lockWithin(ctx, f, dir, max(wait, blink)); err != nil {
		_ = f.Close()
		return nil, err
	}
	if loose { // by its holder alone, who may have opened it to others
		err = os.Chmod(dir, 0o700)
	}
	if err == nil {
		err = writePID(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("make %s one's own: %w", dir, err)
	}
	return &Lock{file: f, warning: warning}, nil
}

// lockWithin tries to lock f until wait has passed.
func lockWithin(ctx context.Context, f *os.File, dir string, wait time.Duration) error {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	again := time.NewTicker(poll)
	defer again.Stop()
	for {
		got, err := tryLock(f, exclusive)
		if err != nil {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if got {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", dir, context.Cause(ctx))
		case <-deadline.C:
			return &HeldError{Dir: dir, PID: readPID(f)}
		case <-again.C:
		}
	}
}

// Holder tells who has the folder dir, without taking it. The pid is 0 where
// the holder has not written it yet. A folder or lock file that is missing is
// held by nobody.
func Holder(dir string) (pid int, held bool, err error) {
	f, err := regular.Open(filepath.Join(dir, FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close() // ends the shared lock, if it was got
	free, err := tryLock(f, shared)
	if err != nil || free {
		return 0, false, err
	}
	return readPID(f), true, nil
}

// openLockFile opens the lock file at 0600 under any umask. A link in its
// place is refused: the pid would be written to where it leads.
func openLockFile(path string) (*os.File, error) {
	f, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// writePID writes before it cuts, so that a reader never finds the file empty
// once it named someone.
func writePID(f *os.File) error {
	n, err := f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	if err != nil {
		return err
	}
	return f.Truncate(int64(n))
}

// readPID returns the pid in f, 0 if there is none.
func readPID(f *os.File) int {
	text := make([]byte, 24)
	n, _ := f.ReadAt(text, 0) // io.EOF is the rule
	var pid int
	if _, err := fmt.Sscan(string(text[:n]), &pid); err != nil || pid < 1 {
		return 0
	}
	return pid
}
