//go:build !linux

package confine

import (
	"io/fs"
	"time"
)

// changed is when a file's links last changed, which is not told here.
func changed(fs.FileInfo) time.Time { return time.Time{} }
