package api

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"memd"
)

// maxConns is how many connections of one listener are served at a time; more
// wait, so that whoever opens them in numbers takes no more than these.
const maxConns = 256

// ListenUnix listens on a socket that its owner alone can open, under any
// umask. A socket left behind by a daemon that died is replaced, but only after
// nobody answered on it.
func ListenUnix(path string) (net.Listener, error) {
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
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		_ = l.Close()
		return nil, &memd.Error{Code: memd.CodeStoreFailed, Message: "the socket " + path + " cannot be made private", Err: err}
	}
	own := &socket{Listener: l, path: path, file: file}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove whatever has the name by then
	}
	return newCapped(own, maxConns), nil
}

// socket is a unix listener that removes its file when it is closed, and no
// other: a folder may have been moved away and made anew meanwhile, and the
// path then names another daemon's socket.
type socket struct {
	net.Listener
	path string
	file fs.FileInfo // what was bound
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

// ListenTCP listens on an address such as 127.0.0.1:6363. For TLS the caller
// wraps the listener with tls.NewListener.
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
	return newCapped(l, maxConns), nil
}

// capped is a listener with at most as many open connections as it has
// tickets; others wait in the kernel's queue.
type capped struct {
	net.Listener
	tickets chan struct{}
	done    chan struct{}
	close   func() error
}

func newCapped(l net.Listener, n int) *capped {
	c := &capped{Listener: l, tickets: make(chan struct{}, n), done: make(chan struct{})}
	c.close = sync.OnceValue(func() error {
		close(c.done)
		return l.Close()
	})
	return c
}

// Accept waits for a ticket and a connection.
func (c *capped) Accept() (net.Conn, error) {
	select {
	case c.tickets <- struct{}{}:
	case <-c.done:
		return nil, net.ErrClosed
	}
	conn, err := c.Listener.Accept()
	if err != nil {
		<-c.tickets
		return nil, err
	}
	return &ticketed{Conn: conn, release: sync.OnceFunc(func() { <-c.tickets })}, nil
}

// Close also ends an Accept that waits for a ticket.
func (c *capped) Close() error { return c.close() }

// ticketed gives its ticket back when it is closed.
type ticketed struct {
	net.Conn
	release func()
}

// CloseWrite ends the answer while the rest of a refused request still comes
// in. net/http asks for it, or the client would see a reset instead.
func (t *ticketed) CloseWrite() error {
	if conn, ok := t.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// Close closes the connection.
func (t *ticketed) Close() error {
	defer t.release()
	return t.Conn.Close()
}
