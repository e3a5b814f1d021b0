//go:build unix

package api

import "syscall"

// private takes a socket's file away from all but its owner before it has a
// name: Linux gives the file the mode of the socket, less the umask. Where the
// system does not, the mode is set right after.
func private(_, _ string, conn syscall.RawConn) error {
	return conn.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}
