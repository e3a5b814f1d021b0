//go:build unix

package main

import "golang.org/x/sys/unix"

// private keeps whatever this process creates from everyone else, SQLite's
// own files included.
func private() { unix.Umask(0o077) }
