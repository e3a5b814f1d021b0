//go:build unix

package instructions_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Nothing waits for a pipe, and a second name of a file from elsewhere is not read.
func TestPipesAndHardLinks(t *testing.T) {
	p := newPlace(t)
	want := map[string]string{}
	for _, name := range []string{"repo/AGENTS.md", "repo/.agent/rules/pipe.md", "home/config/AGENTS.md", "etc/CLAUDE.md", "repo/CLAUDE.local.md"} {
		must(t, os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
		must(t, unix.Mkfifo(p.at(name), 0o600))
		want[name] = "no regular file"
	}
	must(t, os.MkdirAll(p.at("repo/sub/.agent"), 0o755))
	must(t, unix.Mkfifo(p.at("repo/sub/.agent/rules"), 0o600)) // no folder of rules
	p.write("secret", "secret")
	must(t, os.Link(p.at("secret"), p.at("repo/AGENT.md")))
	want["repo/AGENT.md"] = "the file has another name (a hard link)"
	p.write("home/config/CLAUDE.md", "@include /dev/zero\nmine")
	want["/dev/zero"] = "no regular file"
	p.o.Folder = p.at("repo/sub")
	p.want(p.find(), []string{"home/config/CLAUDE.md"}, want)
}
