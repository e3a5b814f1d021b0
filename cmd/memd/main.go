package main

import (
	"context"
	"os"
)

// main leaves signals to the kernel: a command that is interrupted ends at
// once, which the store survives. Only serve has something to bring to an end.
func main() {
	private()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
