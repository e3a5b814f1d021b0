//go:build unix

package confine

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags open a file for reading; should it have become a pipe or a terminal
// meanwhile, without waiting and without making it memd's own.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// linked reports whether a file has more than one name.
func linked(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
