package main

import (
	"slices"
	"testing"
)

// Whatever the command line changes is in the log when it ends, also where the next
// command undoes it at once, with a daemon and without.
func TestChangesThatAreUndoneAtOnce(t *testing.T) {
	const print = "5d41402abc4b2a76b9719d911017c592"
	b := newBox(t)
	b.must("remember", "a store")
	undo := func(name string) {
		t.Helper()
		b.must("token", "new", name, "--role", "read")
		b.must("token", "revoke", name)
		b.must("guard", "allow", print, "--reason", "made up for "+name)
		b.must("guard", "revoke", print)
	}
	undo("alone")
	d := b.serve()
	undo("beside")
	d.stop()
	for action, want := range map[string][]string{
		"token_new": {"local: beside", "local: alone"}, "token_revoke": {"local: beside", "local: alone"},
		"allow_new": {"local: " + print, "local: " + print}, "allow_revoke": {"local: " + print, "local: " + print},
	} {
		if got := b.did(action); !slices.Equal(got, want) {
			t.Errorf("%s: the log says %q, want %q", action, got, want)
		}
	}
}
