//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeStdout returns the real stdout, which nothing else in this process can
// write to any more: it finds stderr in its place.
func takeStdout() (*os.File, error) {
	out, err := unix.FcntlInt(uintptr(unix.Stdout), unix.F_DUPFD_CLOEXEC, unix.Stderr+1)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup2(unix.Stderr, unix.Stdout); err != nil {
		return nil, err
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(out), "stdout"), nil
}
