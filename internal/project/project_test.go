package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"memd"
	"memd/internal/project"
)

// git runs the real git, apart from the configuration of who runs the tests.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// place is an empty folder, its links resolved, apart from the home folder.
func place(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", folder(t, dir, "home"))
	return dir
}

func folder(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// committed is a repository with one commit, which worktrees need.
func committed(t *testing.T, parts ...string) string {
	t.Helper()
	dir := folder(t, parts...)
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func id(t *testing.T, dir string, configured map[string]string) string {
	t.Helper()
	got, err := project.ID(dir, configured)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func same(t *testing.T, what, a, b string) {
	t.Helper()
	if x, y := id(t, a, nil), id(t, b, nil); x != y || x == "" {
		t.Errorf("%s: %s is %q, %s is %q", what, a, x, b, y)
	}
}

func apart(t *testing.T, what, a, b string) {
	t.Helper()
	if x, y := id(t, a, nil), id(t, b, nil); x == y || x == "" || y == "" {
		t.Errorf("%s: %s and %s are %q and %q", what, a, b, x, y)
	}
}

func TestFolders(t *testing.T) {
	dir := place(t)
	plain := folder(t, dir, "My Notes")
	if got := id(t, plain, nil); !regexp.MustCompile(`^my-notes-[0-9a-f]{8}$`).MatchString(got) {
		t.Errorf("a plain folder is %q", got)
	}
	apart(t, "folders without git", plain, folder(t, plain, "below"))
	apart(t, "one name at two places", folder(t, dir, "a", "web"), folder(t, dir, "b", "web"))
	link(t, plain, filepath.Join(dir, "link"))
	same(t, "a link", plain, filepath.Join(dir, "link"))
	t.Chdir(plain)
	same(t, "a relative path", plain, ".")
	if _, err := project.ID(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a folder that is not there has an id")
	}
}

func TestNobodysFolders(t *testing.T) {
	dir := place(t)
	home := filepath.Join(dir, "home")
	link(t, home, filepath.Join(dir, "h"))
	for _, d := range []string{home, filepath.Join(dir, "h"), "/"} {
		if got := id(t, d, nil); got != "" {
			t.Errorf("%s is the project %q", d, got)
		}
	}
	if got := id(t, home, map[string]string{"project/all": home}); got != "all" {
		t.Errorf("the home folder that the configuration names is %q", got)
	}
	git(t, home, "init", "-q") // dotfiles
	if got := id(t, folder(t, home, "notes"), nil); got != "" {
		t.Errorf("a folder of the repository of dotfiles is %q", got)
	}
	t.Setenv("HOME", filepath.Join(dir, "h"))
	if got := id(t, home, nil); got != "" {
		t.Errorf("with a link for a home it is %q", got)
	}
}

func TestRepositories(t *testing.T) {
	dir := place(t)
	repo := committed(t, dir, "src", "api")
	same(t, "a folder below", repo, folder(t, repo, "pkg", "x"))
	same(t, "the inside of .git", repo, filepath.Join(repo, ".git", "hooks"))
	apart(t, "a repository within", repo, committed(t, repo, "third_party", "lib"))

	link(t, repo, filepath.Join(dir, "api"))
	same(t, "a link to the repository", repo, filepath.Join(dir, "api", "pkg"))

	tree := filepath.Join(dir, "trees", "fix")
	git(t, repo, "worktree", "add", "-q", tree)
	same(t, "a worktree", repo, tree)
	same(t, "a folder of a worktree", repo, folder(t, tree, "pkg", "y"))
	link(t, tree, filepath.Join(dir, "fix"))
	same(t, "a link to a worktree", repo, filepath.Join(dir, "fix"))
	if top, err := project.Top(filepath.Join(tree, "pkg")); err != nil || top != tree {
		t.Errorf("the tree of a worktree is %s, %v", top, err)
	}

	// Paths relative to the files, as git writes them if so configured.
	entry := filepath.Join(repo, ".git", "worktrees", "fix")
	write(t, filepath.Join(tree, ".git"), "gitdir: ../../src/api/.git/worktrees/fix\n")
	write(t, filepath.Join(entry, "gitdir"), "../../../../../trees/fix/.git\n")
	same(t, "a worktree by relative paths", repo, tree)

	elsewhere := folder(t, dir, "elsewhere")
	git(t, elsewhere, "init", "-q", "--separate-git-dir", filepath.Join(dir, "kept.git"))
	apart(t, "a repository kept elsewhere", elsewhere, repo)
	same(t, "a folder of one kept elsewhere", elsewhere, folder(t, elsewhere, "x"))
}

func TestBareRepositories(t *testing.T) {
	dir := place(t)
	repo := committed(t, dir, "api")
	bare := filepath.Join(dir, "api.git")
	git(t, dir, "clone", "-q", "--bare", repo, bare)
	apart(t, "a bare clone", repo, bare)
	same(t, "a folder of a bare one", bare, filepath.Join(bare, "objects"))
	tree := filepath.Join(dir, "tree")
	git(t, bare, "worktree", "add", "-q", tree)
	same(t, "a worktree of a bare one", bare, tree)

	hidden := folder(t, dir, "hub") // the bare repository as hub/.git, its worktrees beside it
	git(t, dir, "clone", "-q", "--bare", repo, filepath.Join(hidden, ".git"))
	one, two := filepath.Join(hidden, "one"), filepath.Join(hidden, "two")
	git(t, hidden, "worktree", "add", "-q", one)
	git(t, hidden, "worktree", "add", "-q", two)
	same(t, "two worktrees of a hub", one, two)
}

func TestSubmodules(t *testing.T) {
	dir := place(t)
	lib, repo := committed(t, dir, "lib"), committed(t, dir, "app")
	git(t, repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "vendored")
	sub := filepath.Join(repo, "vendored")
	apart(t, "a submodule and what holds it", sub, repo)
	apart(t, "a submodule and its origin", sub, lib)
	same(t, "a folder of a submodule", sub, folder(t, sub, "x"))
	if top, err := project.Top(folder(t, sub, "x")); err != nil || top != sub {
		t.Errorf("the tree of a submodule is %s, %v", top, err)
	}
}

// Who writes a folder cannot make it part of another's project.
func TestForgedLinks(t *testing.T) {
	dir := place(t)
	repo := committed(t, dir, "bank")
	tree := filepath.Join(dir, "tree")
	git(t, repo, "worktree", "add", "-q", tree)
	entry := filepath.Join(repo, ".git", "worktrees", "tree")
	forged := folder(t, dir, "forged")
	file := filepath.Join(forged, ".git")
	for _, text := range []string{
		"gitdir: " + entry + "\n",
		"gitdir: " + filepath.Join(repo, ".git") + "\n",
		"gitdir: ../bank/.git/worktrees/tree",
		"gitdir: " + filepath.Join(entry, "..", "tree") + "\r\n",
		"gitdir: " + filepath.Join(repo, ".git", "worktrees", "none") + "\n",
		"gitdir: " + entry + "\ngitdir: " + entry + "\n",
		"gitdir: /\n", "gitdir:\n", "gitdir: \x00\n", "nothing", "",
		"gitdir: " + strings.Repeat("x/", 1<<20),
	} {
		write(t, file, text)
		apart(t, "forged by "+text[:min(len(text), 100)], forged, repo)
	}
	// Its own entry that points back lends it no name but its own.
	own := folder(t, forged, "worktrees", "x")
	write(t, filepath.Join(own, "gitdir"), file+"\n")
	write(t, file, "gitdir: "+own+"\n")
	apart(t, "an entry of its own", forged, repo)
	// A link to the worktree's .git is the folder that holds the link.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	link(t, filepath.Join(tree, ".git"), file)
	apart(t, "a link to a worktree's .git", forged, repo)

	same(t, "the true worktree", repo, tree)
	moved := filepath.Join(dir, "moved")
	if err := os.Rename(tree, moved); err != nil {
		t.Fatal(err)
	}
	apart(t, "a worktree that was moved by hand", repo, moved)

	empty := folder(t, repo, "sub", ".git") // no repository: the one above counts
	same(t, "an empty .git", repo, filepath.Dir(empty))
}

// Nothing in a project names it, whatever its files say.
func TestFilesNameNothing(t *testing.T) {
	dir := place(t)
	repo := committed(t, dir, "app")
	before := id(t, repo, nil)
	for _, name := range []string{".memd", "memd.yaml", ".memd.yaml", "package.json", "go.mod", ".mcp.json"} {
		write(t, filepath.Join(repo, name), "project: other\nroots:\n  project/other: .\n")
	}
	git(t, repo, "remote", "add", "origin", "https://example.org/other.git")
	git(t, repo, "config", "core.worktree", folder(t, dir, "other"))
	if after := id(t, repo, nil); after != before {
		t.Errorf("%q became %q", before, after)
	}
}

func TestConfiguredRoots(t *testing.T) {
	dir := place(t)
	repo := committed(t, dir, "mono")
	service := folder(t, repo, "services", "pay")
	tree := filepath.Join(dir, "tree")
	git(t, repo, "worktree", "add", "-q", tree)
	link(t, repo, filepath.Join(dir, "m"))
	roots := map[string]string{
		"project/mono":  filepath.Join(dir, "m"), // through a link
		"project/n":     repo,
		"project/pay":   service,
		"project/gone":  filepath.Join(dir, "gone"),
		"project/above": dir,
		"team/x":        repo,
	}
	for d, want := range map[string]string{
		repo:                                    "mono",
		folder(t, repo, "docs"):                 "mono",
		service:                                 "pay",
		folder(t, service, "db"):                "pay",
		tree:                                    "mono",
		folder(t, tree, "services", "pay"):      "pay", // the same folder in another tree
		filepath.Join(dir, "m", "services"):     "mono",
		filepath.Join(dir, "m", ".git", "refs"): "mono",
		dir:                                     "above",
	} {
		if got := id(t, d, roots); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
	other := committed(t, dir, "other")
	if got := id(t, other, roots); !strings.HasPrefix(got, "other-") {
		t.Errorf("a repository below a configured folder is %q", got)
	}
	if got := id(t, repo, map[string]string{"team/x": repo}); !strings.HasPrefix(got, "mono-") {
		t.Errorf("a namespace of a team named the project %q", got)
	}
}

// Whatever a folder is called, its project is a namespace.
func TestIDIsANamespace(t *testing.T) {
	dir := place(t)
	check := func(name string) string {
		d := filepath.Join(dir, name)
		if os.MkdirAll(d, 0o755) != nil {
			return "" // the file system takes no such name
		}
		got, err := project.ID(d, nil)
		if err != nil || !memd.ValidNamespace("project/"+got) || strings.Contains(got, "/") {
			t.Errorf("%q is %q, %v", name, got, err)
		}
		return got
	}
	for name, want := range map[string]string{
		"修复": "project-", "-": "project-", "...": "project-", "a--b": "a-b-", "Ünï": "n-", "A B": "a-b-", ".config": "config-", "v1.2_x": "v1.2_x-",
		strings.Repeat("long", 50): strings.Repeat("long", 10) + "-",
	} {
		if got := check(name); !strings.HasPrefix(got, want) || len(got) != len(want)+8 {
			t.Errorf("%q is %q, want %s and 8 digits", name, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.StringN(1, 60, 200).Filter(func(s string) bool { return !strings.ContainsAny(s, "/\x00") && s != "." && s != ".." }).Draw(r, "name")
		check(name)
	})
}
