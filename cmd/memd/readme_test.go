package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the module's folder, as seen from this package's tests.
const root = "../.."

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// commands are the README's shell blocks, in order.
func commands(t *testing.T) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readFile(t, "README.md"), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestReadmeRuns does what a stranger does: starts the daemon by the README's
// first command, from source and with an empty home, and types the rest.
func TestReadmeRuns(t *testing.T) {
	blocks := commands(t)
	if len(blocks) < 4 || blocks[0] != "go run ./cmd/memd serve\n" {
		t.Fatalf("the README begins with %q", blocks)
	}
	b := newBox(t)
	home := filepath.Dir(b.dir)
	b.dir = filepath.Join(home, ".local", "share", "memd")
	b.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "MEMD_LOG_FORMAT=json", "MEMD_LISTEN=127.0.0.1:0"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS"} { // these lie in the real home
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		b.env = append(b.env, name+"="+strings.TrimSpace(string(value)))
	}
	tree := t.TempDir() // bin/ is built beside the sources
	if out, err := exec.Command("cp", "-R", root+"/.", tree).CombinedOutput(); err != nil {
		t.Fatalf("copy the tree: %v: %s", err, out)
	}
	compile := exec.Command("go", "build", "-o", os.DevNull, "./cmd/memd") // takes as long as it takes
	compile.Dir, compile.Env = tree, b.env
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compile: %v: %s", err, out)
	}
	serve := b.command()
	serve.Path, serve.Args = sh(t), []string{"sh", "-c", "exec " + strings.TrimSpace(blocks[0])}
	serve.Dir = tree
	d := b.start(serve)
	defer endTree(t, b, d)

	for _, block := range blocks[1:] {
		if strings.HasPrefix(block, "go test") { // this test would run itself
			continue
		}
		cmd := b.command()
		cmd.Path, cmd.Args, cmd.Dir = sh(t), []string{"sh", "-euc", block}, tree
		r := b.finish(cmd)
		if r.code != 0 || strings.Contains(r.out, `"code":`) {
			t.Fatalf("exit %d from\n%s\n%s%s", r.code, block, r.out, r.err)
		}
		if strings.Contains(block, "v1/recall") && !strings.Contains(r.out, "billing batch") {
			t.Errorf("recall does not find what was remembered: %s", r.out)
		}
	}
}

// endTree ends the daemon that `go run` started, which does not pass signals
// on to what it runs.
func endTree(t *testing.T, b *box, d *daemon) {
	pid := strings.TrimSpace(readAbsolute(t, filepath.Join(b.dir, "memd.lock")))
	if out, err := exec.Command("kill", "-TERM", pid).CombinedOutput(); err != nil {
		t.Errorf("end the daemon: %v: %s", err, out)
	}
	<-d.done
}

func readAbsolute(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sh(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCIRunsTheReadmesTests: CI proves the README's own words.
func TestCIRunsTheReadmesTests(t *testing.T) {
	ci := "\n" + readFile(t, ".ci/run")
	for _, block := range commands(t) {
		if strings.HasPrefix(block, "go test") {
			if !strings.Contains(ci, "\n"+block) {
				t.Errorf(".ci/run does not run %q", block)
			}
			return
		}
	}
	t.Error("the README names no test command")
}

// TestDocsNameWhatExists: every path of the tree that the documents name is
// there.
func TestDocsNameWhatExists(t *testing.T) {
	documents := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			rel, _ := filepath.Rel(root, path)
			documents = append(documents, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:cmd|api|recall|groom|tiers|store|guard|configs|migrations|internal|bench|docs)(?:/[A-Za-z0-9_./-]+)?|[a-z]+\\.go|docker-compose\\.yml|Dockerfile|\\.ci/run)`")
	for _, doc := range documents {
		text := readFile(t, doc)
		found := named.FindAllStringSubmatch(text, -1)
		for _, m := range found {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", doc, m[1])
			}
		}
		if doc == "README.md" && len(found) < 10 {
			t.Errorf("the README's map names %d places", len(found))
		}
	}
}
