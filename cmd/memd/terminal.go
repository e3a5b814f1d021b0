package main

import (
	"os"

	"github.com/mattn/go-isatty"
)

// onTerminal reports whether a stream is one that a person sits at.
func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
