package store_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"memd"
)

// openChild makes the test binary a program that opens a store and says how
// that went: for what only another user or another process can show.
var openChild = flag.String("store.open", "", "internal: open the store in this folder, print the error and exit")

func errorHint(err error) string {
	if e, ok := errors.AsType[*memd.Error](err); ok {
		return e.Hint
	}
	return ""
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *openChild != "" {
		s, err := open(*openChild)
		if err != nil {
			fmt.Print(err, "\n", errorHint(err))
			os.Exit(3)
		}
		s.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}
