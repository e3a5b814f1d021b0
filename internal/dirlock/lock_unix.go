//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dirlock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

type lockKind int

const (
	exclusive lockKind = unix.LOCK_EX
	shared    lockKind = unix.LOCK_SH

	noFollow = unix.O_NOFOLLOW
)

// maxSocketPath is 107 by contract, and less where the kernel takes less.
const maxSocketPath = min(107, len(unix.RawSockaddrUnix{}.Path)-1)

// tryLock locks f without waiting, and reports whether it could.
func tryLock(f *os.File, kind lockKind) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), int(kind)|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
