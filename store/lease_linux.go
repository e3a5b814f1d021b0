package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openedAlone reports whether nobody has the file at path open, this process
// included: the kernel grants a write lease to no other. The error is that it
// cannot be told, as on some file systems.
func openedAlone(path string) (alone bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	if errors.Is(err, unix.EAGAIN) {
		return false, nil
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err == nil, err
}
