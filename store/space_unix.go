//go:build linux || darwin

package store

import "golang.org/x/sys/unix"

// freeSpace returns the bytes that this user may still write to the file
// system of path.
func freeSpace(path string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil
}
