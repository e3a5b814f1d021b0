package dirlock

import (
	"strings"

	"golang.org/x/sys/unix"
)

// NetworkFS names the file system that dir lies on, or would lie on, if it is
// one to beware of, and reports whether it is a network one. A FUSE file
// system is named "fuse" and not counted as one, for it may be local.
func NetworkFS(dir string) (name string, isNetwork bool, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(existing(dir), &stat); err != nil {
		return "", false, err
	}
	name = unix.ByteSliceToString(stat.Fstypename[:])
	switch {
	case strings.Contains(name, fuse): // macfuse, osxfuse
		return fuse, false, nil
	case stat.Flags&unix.MNT_LOCAL == 0:
		return name, true, nil
	}
	return "", false, nil
}
