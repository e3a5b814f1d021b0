package confine

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file, its mode or its links last changed.
func changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(stat.Ctim.Unix())
}
