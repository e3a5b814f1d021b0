//go:build !unix

package main

// private does nothing where there is no umask.
func private() {}
