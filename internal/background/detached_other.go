//go:build !unix

package background

import "syscall"

func detached() *syscall.SysProcAttr { return nil }
