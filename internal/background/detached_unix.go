//go:build unix

package background

import "syscall"

// detached has a process lead a session of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
