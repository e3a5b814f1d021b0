package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// held is the memory that a daemon holds and no file lies behind, in bytes.
func (d *daemon) held() int {
	d.box.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		d.box.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kib int
		if n, _ := fmt.Sscanf(line, "RssAnon: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	d.box.t.Skip("this system does not tell RssAnon")
	return 0
}

// A daemon that is sent no text to keep holds no rules for secrets: they come
// with the first text that is looked at, and are larger than all that one write
// takes besides.
func TestStartHoldsNoRules(t *testing.T) {
	const rules = 8 << 20 // less than they take, in bytes
	b := newBox(t)
	d := b.serve()
	b.must("recall", "anything")
	before := d.held()
	b.must("remember", "the first text that is looked at")
	if grown := d.held() - before; grown < rules {
		t.Errorf("the first text takes %d bytes: its rules were there before", grown)
	}
	before = d.held()
	b.must("remember", "another text that is looked at")
	if grown := d.held() - before; grown > rules {
		t.Errorf("the second text takes %d bytes again", grown)
	}
	d.stop()
}
