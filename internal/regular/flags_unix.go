//go:build unix

package regular

import "syscall"

// atOnce has an open wait for nobody, nor take a terminal.
const atOnce = syscall.O_NONBLOCK | syscall.O_NOCTTY
