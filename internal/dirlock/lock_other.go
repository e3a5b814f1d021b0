//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package dirlock

import (
	"errors"
	"io/fs"
	"os"
)

type lockKind int

const (
	exclusive lockKind = iota
	shared

	noFollow      = 0
	maxSocketPath = 107
)

// tryLock fails: without a lock that the kernel frees no folder is taken.
func tryLock(*os.File, lockKind) (bool, error) { return false, errors.ErrUnsupported }

func ownedByUs(fs.FileInfo) bool { return false }
