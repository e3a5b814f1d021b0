//go:build unix

package agents

import (
	"io/fs"
	"os"
	"syscall"
)

// anothers reports whether a file belongs to another user than this process runs as.
func anothers(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}
