//go:build darwin || linux

package static

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the content of f, size bytes and not none, and what gives it
// back. It is read from the disk as it is used, and shared with other processes.
func mapFile(f *os.File, size int) (data []byte, release func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
