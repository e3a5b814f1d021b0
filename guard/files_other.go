//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package guard

import "io/fs"

// lock does nothing: no daemon runs on a system without flock.
func lock(string) (func(), error) { return func() {}, nil }

func inode(fs.FileInfo) uint64 { return 0 }
