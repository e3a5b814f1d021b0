package main

import (
	"strings"
	"testing"
)

// The reason stands first, then the seven questions with what bears them out.
func TestWhyForPeople(t *testing.T) {
	b := newBox(t)
	id := b.field("id", "remember-long-term", "deploys go through make release", "--key", "deploy/how", "--source", "AGENTS.md#deploy")
	out := b.must("why", "how do deploys go", "--key", "deploy/how")
	lines := strings.Split(out, "\n")
	if lines[0] != "returned: it comes back at place 1 of 1" || lines[1] != "deploy/how ("+id+") in default" {
		t.Errorf("it begins with\n%s", out)
	}
	for _, want := range []string{
		"\n1. Is it in an authoritative artefact?\n   unknown: ", "\n   - source AGENTS.md#deploy\n", "\n4. Would this query recall it?\n   yes: ",
		"\n7. Which guard should have refused it?\n   no: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "make release") {
		t.Errorf("a body is told:\n%s", out)
	}
	for _, args := range [][]string{
		{"why", "--namespace", "default", "how do deploys go", "--key", "deploy/how", "--json"},
		{"--json", "why", "--key", "deploy/how", "--", "how do deploys go"},
	} {
		if out := b.must(args...); !strings.Contains(out, `"reason":"returned"`) || !strings.Contains(out, `"rank":1`) {
			t.Errorf("%q: %s", args, out)
		}
	}
	// An answer is an answer: what was never written exits with 0 as well.
	if out := b.must("why", "x", "--key", "no/such"); !strings.HasPrefix(out, "never_written: ") || !strings.Contains(out, "\nno/such\n") {
		t.Errorf("of nothing:\n%s", out)
	}
}
