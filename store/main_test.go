package store_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"memd"
)

// openChild makes the test binary a program that opens a store and says how
// that went: for what only another user or another process can show.
var openChild = flag.String("store.open", "", "internal: open the store in this folder, print the error and exit")

// doomed makes it a program that backs up or restores the store in the folder
// and dies by SIGKILL at a named half-step: "backup STEP", "restore STEP FROM".
// Without the step's name it prints every step it reaches.
var doomed = flag.String("store.doomed", "", "internal: what to do in the folder of -store.in, and the step to die at")

var doomedIn = flag.String("store.in", "", "internal: the data folder")

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
	if *doomed != "" {
		if err := meetDoom(*doomedIn, strings.Fields(*doomed)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
