package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd/exchange/artefacts"
)

// index runs memd index and returns its report, and how it ended.
func (b *box) index(args ...string) (artefacts.Report, int) {
	b.t.Helper()
	r := b.run(append([]string{"--json", "index"}, args...)...)
	var report artefacts.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		b.t.Fatalf("%q: %v: %s%s", args, err, r.out, r.err)
	}
	return report, r.code
}

// git runs git in a folder below the home of the box.
func (b *box) git(folder, at string, args ...string) {
	b.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		b.t.Skip("there is no git here")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = filepath.Join(filepath.Dir(b.dir), folder)
	cmd.Env = append(slices.Clone(b.env), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// What a repository says is remembered as of its commits, follows its edits, and a run
// without an edit changes nothing, with and without a daemon.
func TestIndexOfARepository(t *testing.T) {
	const first, second = "2026-02-01T08:00:00Z", "2026-04-01T08:00:00Z"
	b := newBox(t)
	b.put(map[string]string{
		"p/AGENTS.md":                   "# Guide\n\n## Commands\n\n- Run make test before a commit\n- Run make all before a release\n- Ask before a deploy\n",
		"p/docs/adr/0001.md":            "# 1. Use SQLite\n\nStatus: accepted\n\n## Context\n\nOne machine.\n\n## Decision\n\nSQLite in one file.\n",
		"p/.agent/skills/ship/SKILL.md": "---\nname: ship\ndescription: Ship a release\n---\n# Shipping\n\n## Gotchas\n\n- the port is 80\n",
		"p/docs/runbooks/disk.md":       "# Disk full\n\n## Steps\n\n1. look\n2. delete\n",
		"p/node_modules/x/AGENTS.md":    "- of somebody else\n",
		"p/sub/.git":                    "gitdir: elsewhere\n",
		"p/sub/AGENTS.md":               "- of another checkout\n",
		"secret.md":                     "- a secret outside\n",
		"conf.yaml":                     "{}\n",
	})
	home := filepath.Dir(b.dir)
	for link, target := range map[string]string{"CLAUDE.md": "AGENTS.md", "docs/CLAUDE.md": "../../secret.md", "loop": "."} {
		if err := os.Symlink(target, filepath.Join(home, "p", link)); err != nil {
			t.Fatal(err)
		}
	}
	b.git("p", first, "init", "-q", "-b", "main")
	b.git("p", first, "add", "AGENTS.md", "docs", ".agent")
	b.git("p", first, "commit", "-q", "-m", "one")
	b.put(map[string]string{"p/AGENTS.md": "# Guide\n\n## Commands\n\n- Run make test before a commit\n- Run make all before every release\n- Ask before a deploy\n"})
	b.git("p", second, "commit", "-q", "-a", "-m", "two")

	report, code := b.index("p")
	if code != 0 || report.Created != 7 || report.Files != 4 || len(report.Skipped) != 1 || report.Skipped[0].File != "docs/CLAUDE.md" ||
		!strings.HasPrefix(report.Namespace, "project/p-") {
		t.Fatalf("exit %d, %+v", code, report)
	}
	ns := report.Namespace
	field := func(key, name string) string {
		t.Helper()
		return b.field(name, "get", "--key", key, "--namespace", ns)
	}
	const test, all, ask = "AGENTS.md/commands/run-make-test-before-a-commit", "AGENTS.md/commands/run-make-all-before-every-release", "AGENTS.md/commands/ask-before-a-deploy"
	for key, want := range map[string]string{
		test: first, all: second, "docs/adr/0001.md/decision/sqlite-in-one-file": first,
	} {
		if got := field(key, "created_at"); got != strings.Replace(want, "Z", ".000Z", 1) {
			t.Errorf("%s is of %s, want %s", key, got, want)
		}
	}
	if why := field("docs/adr/0001.md/decision/sqlite-in-one-file", "why"); why != "One machine." {
		t.Errorf("why: %q", why)
	}
	if out := b.must("recall", "what comes before a release?", "--namespace", ns); !strings.Contains(out, all) {
		t.Errorf("recall finds %s", out)
	}
	before := b.must("--json", "list", "--namespace", ns)
	if report, _ = b.index("p"); report.Unchanged != 7 || report.Verified != 0 || b.must("--json", "list", "--namespace", ns) != before {
		t.Errorf("a second run: %+v", report)
	}

	// With a daemon, and a root in its configuration.
	b.put(map[string]string{"conf.yaml": "roots:\n  " + ns + ": " + home + "/p\n"})
	b.env = append(b.env, "MEMD_CONFIG="+home+"/conf.yaml")
	d := b.serve()
	b.put(map[string]string{"p/AGENTS.md": "# Guide\n\n## Commands\n\n- Run make test before each commit\n- Say so\n- Run make all before every release\n"})
	later := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(home, "p/AGENTS.md"), later, later); err != nil {
		t.Fatal(err)
	}
	report, code = b.index("p", "--dry-run")
	if code != 0 || !report.DryRun || report.Created != 1 || report.Updated != 1 || report.Stale != 1 || field(ask, "stale_reason") != "" {
		t.Errorf("a dry run: exit %d, %+v", code, report)
	}
	report, code = b.index("p")
	if code != 0 || report.Created != 1 || report.Updated != 1 || report.Stale != 1 || report.Unchanged != 5 || len(report.Warnings) != 0 {
		t.Errorf("after an edit: exit %d, %+v", code, report)
	}
	if field(ask, "stale_reason") != "source_missing" || field(test, "summary") != "Commands: Run make test before each commit" || field(all, "source_status") != "ok" {
		t.Errorf("%s, %s, %s", field(ask, "stale_reason"), field(test, "summary"), field(all, "source_status"))
	}
	if got := field(test, "created_at"); got < time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) {
		t.Errorf("what is not committed is of %s", got)
	}
	b.must("groom")
	if out := b.must("list", "--stale", "--namespace", ns); !strings.Contains(out, ask) || strings.Contains(out, all) {
		t.Errorf("stale after a groom: %s", out)
	}
	d.stop()
}

func TestIndexUsage(t *testing.T) {
	b := newBox(t)
	token := "ghp_" + "Zk3vQ9xT7mLw2RbN8sYd4HcJ6fPa1GeU0iXo"
	b.put(map[string]string{"p/AGENTS.md": "## Rules\n\n- push with " + token + "\n- lint first\n", "p/docs/x.md": "- of a guide\n", "other/x": ""})
	r := b.run("index", "p", "--namespace", "team/x", "--include", "docs/*.md")
	if r.code != 1 || !strings.Contains(r.out, "2 created") || !strings.Contains(r.out, "1 refused") || !strings.Contains(r.out, "AGENTS.md:3") ||
		!strings.Contains(r.out, "secret_detected") || strings.Contains(r.out+r.err, token) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"index", "none"}, 2, "the folder cannot be read"},
		{[]string{"index", "p", "other"}, 2, ""},
		{[]string{"index", "p", "--include", "["}, 2, "--include"},
		{[]string{"index", "."}, 2, "--namespace"},
		{[]string{"index", "p", "--namespace", "No Such"}, 2, "namespace"},
	} {
		if r := b.run(c.args...); r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
}
