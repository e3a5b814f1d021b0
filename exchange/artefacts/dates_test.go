package artefacts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository is a repository of git with some files.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	r := &repository{t, t.TempDir()}
	r.git("2026-01-01T00:00:00Z", "init", "-q", "-b", "main")
	return r
}

func (r *repository) put(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// git runs git at a time, with no configuration but the repository's.
func (r *repository) git(at string, args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.com",
		"GIT_AUTHOR_DATE=2020-02-02T00:00:00Z", "GIT_COMMITTER_DATE=" + at,
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func (r *repository) commit(at string) {
	r.t.Helper()
	r.git(at, "add", "-A")
	r.git(at, "commit", "-q", "-m", at)
}

// at is when the newest of some lines was committed, "" for unknown.
func (r *repository) at(name string, lines ...string) string {
	r.t.Helper()
	d := dates{top: r.dir, known: map[string]map[string]int64{}}
	at := d.of(context.Background(), name, lines)
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

func TestDates(t *testing.T) {
	r := newRepository(t)
	r.put("docs/a b.md", "\ufeff# T\r\n\r\n- one\r\n- two\r\n  more\r\n- same\r\n")
	r.put(":(glob)*.md", "- magic\n")
	r.commit("2026-03-01T10:00:00Z")
	r.put("docs/a b.md", "\ufeff# T\r\n\r\n- one\r\n- two\r\n  else\r\n- same\r\n\r\n- same\r\n")
	r.commit("2026-05-01T10:00:00Z")
	r.put("docs/a b.md", "\ufeff# T\r\n\r\n- one\r\n- two\r\n  else\r\n- same\r\n- not yet\r\n")
	r.put("new.md", "- one\n")
	for want, lines := range map[string][]string{
		"2026-03-01": {"- one", "", "---"},
		"2026-05-01": {"- two  ", "  else"},
		"":           {"- one", "- not yet"},
	} {
		if got := r.at("docs/a b.md", lines...); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
	if got := r.at("docs/a b.md", "- same"); got != "2026-05-01" {
		t.Errorf("of equal lines the newest: %q", got)
	}
	if got := r.at(":(glob)*.md", "- magic"); got != "2026-03-01" {
		t.Errorf("a name of signs: %q", got)
	}
	for _, name := range []string{"new.md", "none.md", "../x.md", "--output=x"} {
		if got := r.at(name, "- one"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "x")); err == nil {
		t.Error("a name was taken for a flag")
	}
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_CONFIG_COUNT", "x")
	if got := r.at("docs/a b.md", "- one"); got != "2026-03-01" {
		t.Errorf("with another's repository in the environment: %q", got)
	}
}

// A repository of another's names programs wherever its configuration can; none of
// them is run, and dates are found all the same.
func TestHostileRepository(t *testing.T) {
	r := newRepository(t)
	r.put("AGENTS.md", "- one\n")
	r.commit("2026-03-01T10:00:00Z")
	mark := filepath.Join(r.dir, "ran")
	run := filepath.Join(r.dir, "run.sh")
	r.put("run.sh", "#!/bin/sh\necho \"$0 $*\" >>'"+mark+"'\ncat\n")
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"core.fsmonitor": run, "core.pager": run, "pager.blame": run, "core.hooksPath": r.dir, "core.sshCommand": run, "core.editor": run,
		"filter.x.clean": run, "filter.x.smudge": run, "filter.x.process": "", "diff.x.textconv": run, "diff.x.command": run, "diff.external": run,
		"alias.blame": "!" + run, "gpg.program": run, "credential.helper": run,
		"remote.origin.url": "ext::" + run, "remote.origin.promisor": "true", "remote.origin.uploadpack": run, "remote.origin.vcs": "ext",
		"protocol.allow": "always", "protocol.ext.allow": "always", "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
	} {
		r.git("2026-03-01T10:00:00Z", "config", name, value)
	}
	r.put(".gitattributes", "*.md filter=x diff=x\n")
	ran := func() string {
		data, _ := os.ReadFile(mark)
		return string(data)
	}
	// What a careless question would do.
	careless := exec.Command("git", "blame", "--porcelain", "AGENTS.md")
	careless.Dir = r.dir
	_, _ = careless.Output()
	if ran() == "" {
		t.Fatal("the repository is not hostile at all")
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if got := r.at("AGENTS.md", "- one"); got != "2026-03-01" || ran() != "" {
		t.Errorf("at %q, ran %s", got, ran())
	}
	// An object that is to be fetched.
	objects, err := filepath.Glob(filepath.Join(r.dir, ".git/objects/??/*"))
	if err != nil || len(objects) < 3 {
		t.Fatalf("%d objects, %v", len(objects), err)
	}
	for _, object := range objects {
		if err := os.Remove(object); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.at("AGENTS.md", "- one"); got != "" || ran() != "" {
		t.Errorf("without its objects: at %q, ran %s", got, ran())
	}
}

// A file that the configuration has git read beside a blame is one that people write, or
// nothing is asked: git takes all of it into memory.
func TestEndlessConfiguration(t *testing.T) {
	for _, key := range []string{"blame.ignoreRevsFile", "mailmap.file"} {
		r := newRepository(t)
		r.put("AGENTS.md", "- one\n")
		r.put(".revs", "# none\n")
		r.commit("2026-03-01T10:00:00Z")
		for value, want := range map[string]string{"": "2026-03-01", ".revs": "2026-03-01", os.DevNull: "", ".git": ""} {
			r.git("2026-03-01T10:00:00Z", "config", key, value)
			if got := r.at("AGENTS.md", "- one"); got != want {
				t.Errorf("%s %q: %q, want %q", key, value, got, want)
			}
		}
	}
}

func FuzzBlame(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 40) + " 1 1 1\nauthor x\ncommitter-time 1700000000\n\t- one\n"))
	f.Add([]byte("committer-time -1\n\tx\n\t\n" + strings.Repeat("0", 64) + "\ncommitter-time 99999999999999999999\n\ty"))
	f.Fuzz(func(t *testing.T, out []byte) {
		for line, at := range parseBlame(out) {
			if at <= 0 || strings.ContainsAny(line, "\n") {
				t.Errorf("%q at %d", line, at)
			}
		}
	})
}
