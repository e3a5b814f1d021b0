package api

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"memd"
)

// ListenUnix listens on a socket that its owner alone can open, under any
// umask. A socket left behind by a daemon that died is replaced, but only after
// nobody answered on it.
func ListenUnix(path string) (net.Listener, error) { return listenUnix(path, 0o600) }

// ListenShared is ListenUnix for a socket that everyone can open. A Server serves
// it with Options.Peers alone.
func ListenShared(path string) (net.Listener, error) { return listenUnix(path, 0o666) }

func listenUnix(path string, mode fs.FileMode) (net.Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: private}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, &memd.Error{Code: memd.CodeStoreFailed, Message: "the socket " + path + " cannot be opened", Err: err}
	}
	file, err := os.Lstat(path)
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		_ = l.Close()
		return nil, &memd.Error{Code: memd.CodeStoreFailed, Message: "the mode of the socket " + path + " cannot be set", Err: err}
	}
	own := &socket{Listener: l, path: path, file: file, shared: mode.Perm()&0o077 != 0}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove whatever has the name by then
	}
	return own, nil
}

// socket is a unix listener that removes its file when it is closed, and no
// other: a folder may have been moved away and made anew meanwhile, and the
// path then names another daemon's socket.
type socket struct {
	net.Listener
	path   string
	file   fs.FileInfo // what was bound
	shared bool        // others than its owner can open it
}

// Close removes the file first: while the listener is open the system cannot
// give its inode to another file.
func (s *socket) Close() error {
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.file) {
		_ = os.Remove(s.path) // one that stays is replaced at the next start
	}
	return s.Listener.Close()
}

// staleTimeout is how long a socket's owner has to accept.
const staleTimeout = time.Second

// removeStale removes the socket at path if nobody listens on it.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		return memd.Errorf(memd.CodeStoreFailed, "%s is in the way of the socket and is none", path).
			WithHint("move the file away")
	}
	conn, err := net.DialTimeout("unix", path, staleTimeout)
	if err == nil {
		_ = conn.Close()
		return memd.Errorf(memd.CodeStoreBusy, "another process answers on the socket %s", path).
			WithHint("use the running daemon or end it")
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &memd.Error{Code: memd.CodeStoreFailed, Message: "the socket " + path + " cannot be replaced", Err: err}
	}
	return nil
}

// ListenTCP listens on an address such as 127.0.0.1:6363.
func ListenTCP(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, memd.FieldErrorf(memd.CodeStoreFailed, "listen", "another program holds the address %s", addr).
			WithHint("end it, or choose another address with --listen or MEMD_LISTEN (off for none)")
	case errors.Is(err, syscall.EACCES):
		return nil, memd.FieldErrorf(memd.CodeStoreFailed, "listen", "this user may not listen on %s", addr).
			WithHint("choose a port of 1024 or more with --listen or MEMD_LISTEN")
	case err != nil:
		return nil, &memd.Error{Code: memd.CodeStoreFailed, Field: "listen", Message: "cannot listen on " + addr, Err: err,
			Hint: "give an address of this machine with --listen or MEMD_LISTEN"}
	}
	return l, nil
}
