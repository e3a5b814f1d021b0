package main

import (
	"os"
	"strings"
	"testing"

	"memd"
)

// A daemon that nobody uses leaves in order; what was written stays.
func TestIdleDaemonLeaves(t *testing.T) {
	b := newBox(t)
	for range 2 {
		d := b.serve("--idle", "50ms")
		if code := d.wait(); code != 0 {
			t.Errorf("exit code %d: %s", code, d.log.String())
		}
		if log := d.log.String(); !strings.Contains(log, `"msg":"memd leaves, for nobody used it"`) || !strings.Contains(log, `"msg":"memd ends"`) {
			t.Errorf("the log does not say so: %s", log)
		}
		if _, err := os.Lstat(b.socket()); !os.IsNotExist(err) {
			t.Errorf("the socket is still there (%v)", err)
		}
		b.must("remember", "written after an idle daemon")
	}
}

// Asking for health again and again does not keep it.
func TestHealthKeepsNoDaemon(t *testing.T) {
	b := newBox(t)
	d := b.serve("--idle", "200ms")
	c := b.client()
	for c.Alive(t.Context()) == nil { // were it use, this would not end
	}
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, d.log.String())
	}
}

func TestIdleIsATime(t *testing.T) {
	b := newBox(t)
	for _, idle := range []string{"-1s", "10", "soon"} {
		if r := b.run("serve", "--idle", idle); r.code != memd.ExitUsage || r.out != "" {
			t.Errorf("--idle %s: exit code %d: %s", idle, r.code, r.err)
		}
	}
}
