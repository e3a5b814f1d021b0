package secrets

import (
	"os"
	"os/exec"
	"testing"
)

// unscanned is set for a process of TestNothingCompiles that has scanned
// nothing.
const unscanned = "TEST_SECRETS_UNSCANNED"

// A process that starts, makes Scanners and is given no text compiles no rules;
// the first text makes them.
func TestNothingCompiles(t *testing.T) {
	if os.Getenv(unscanned) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNothingCompiles$")
		cmd.Env = append(os.Environ(), unscanned+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	s := New(Options{Key: []byte("k")})
	New(Options{}).Scan("")
	s.ScanFields("a.md", []Field{{Name: "summary"}, {Name: "tags", Label: true}})
	if compiled.made.Load() {
		t.Error("there are rules, and no text was scanned")
	}
	if s.Scan("x"); !compiled.made.Load() {
		t.Error("the first text makes no rules")
	}
}
