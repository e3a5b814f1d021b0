package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
	"memd/groom"
)

// audits is a box with a project whose root folder is configured, and two rows of
// which one fails a few boxes.
func audits(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	home := filepath.Dir(b.dir)
	root := filepath.Join(home, "project")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"project/AGENTS.md": "# Rules\n\ntext\n",
		"memd.yaml":         "roots:\n  project/x: " + root + "\nowners: {rule: me, practice: me}\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.env = append(b.env, "MEMD_CONFIG="+filepath.Join(home, "memd.yaml"))
	b.must("remember-long-term", "always release on tuesdays", "--key", "release/day", "--source", "AGENTS.md#rules", "--kind", "rule", "--namespace", "project/x")
	b.must("groom")
	return b
}

// The exit code is 0 while the store is well, and 1 where it is not; with --strict
// one box is enough.
func TestAuditExitCodes(t *testing.T) {
	b := audits(t)
	for _, args := range [][]string{{"audit"}, {"audit", "--strict"}, {"audit", "--json"}, {"audit", "--markdown", "--strict"}} {
		if r := b.run(args...); r.code != memd.ExitDone || r.out == "" {
			t.Errorf("%q of a store in order: exit code %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	b.must("remember-long-term", "a practice that names no scenario", "--key", "vague", "--source", "AGENTS.md#rules", "--kind", "practice", "--namespace", "project/x")
	if r := b.run("audit"); r.code != memd.ExitDone || !strings.Contains(r.out, "✗ 2.1") || !strings.Contains(r.out, "fix: memd ") {
		t.Errorf("one box failed: exit code %d: %s%s", r.code, r.out, r.err)
	}
	if r := b.run("audit", "--strict"); r.code != memd.ExitFailed || !strings.Contains(r.out, "✗ 2.1") {
		t.Errorf("one box failed: exit code %d: %s%s", r.code, r.out, r.err)
	}
	for _, args := range [][]string{{"audit", "--sample", "201"}, {"audit", "--sample", "-1"}, {"audit", "x"}, {"audit", "--sample", "x"}} {
		if r := b.run(args...); r.code != memd.ExitUsage {
			t.Errorf("%q: exit code %d: %s", args, r.code, r.err)
		}
	}
}

// A store is drifting where ten boxes or more apply and fewer than seven pass.
func TestDriftingAudit(t *testing.T) {
	for _, c := range []struct {
		passed, applicable int
		drifting           bool
	}{{6, 10, true}, {7, 10, false}, {6, 9, false}, {0, 25, true}, {7, 25, false}, {0, 0, false}} {
		if a := (groom.Audit{Passed: c.passed, Applicable: c.applicable}); a.Drifting() != c.drifting {
			t.Errorf("%d of %d: %v", c.passed, c.applicable, a.Drifting())
		}
	}
}

// The report names every section and box, in Markdown that shows stored names as
// they are, and holds no memory's text.
func TestAuditForPeople(t *testing.T) {
	b := audits(t)
	b.must("remember-long-term", "a practice that names no scenario", "--key", "vague", "--source", "docs/_odd_[x].md", "--kind", "practice", "--namespace", "project/x")
	var a groom.Audit
	if err := json.Unmarshal([]byte(b.must("audit", "--json", "--sample", "10")), &a); err != nil {
		t.Fatal(err)
	}
	report, text := b.must("audit", "--markdown", "--sample", "10"), b.must("audit", "--sample", "10")
	for _, box := range a.Boxes {
		number, _, _ := strings.Cut(box.Box, " ")
		for name, out := range map[string]string{"report": report, "text": text} {
			if !strings.Contains(out, number+" ") || !strings.Contains(out, box.Section) {
				t.Errorf("the %s lacks %s: %s", name, number, out)
			}
		}
		for _, id := range box.IDs {
			if !strings.Contains(report, id) || !strings.Contains(text, id) {
				t.Errorf("%s: %s is not named", number, id)
			}
		}
	}
	sum := fmt.Sprintf("%d of %d boxes that apply pass", a.Passed, a.Applicable)
	for name, out := range map[string]string{"report": report, "text": text} {
		for _, want := range []string{sum, "vague", "memd forget"} {
			if !strings.Contains(out, want) {
				t.Errorf("the %s lacks %q: %s", name, want, out)
			}
		}
		if strings.Contains(out, "names no scenario") || strings.Contains(out, "tuesdays") {
			t.Errorf("the %s holds a memory's text: %s", name, out)
		}
	}
	for _, want := range []string{"# Memory audit\n", "\n## 1. Rules (long-term)\n", "\n- [x] **", "\n- [ ] **2.1 ", "\n## Sample\n", `docs/\_odd\_\[x].md`} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q: %s", want, report)
		}
	}
}
