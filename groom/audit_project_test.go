package groom

import (
	"os"
	"path/filepath"
	"testing"
)

// projectOf is a project of files, by name.
func projectOf(t *testing.T, files map[string]string) *project {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &project{root: root}
}

var manifests = map[string]string{
	"go.mod": "module x\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.5.0\n\tgolang.org/x/text v0.44.0\n\tgithub.com/google/uuid v1.6.0\n)\n",
	"package.json": `{"dependencies":{"react":"^18.2.0","next":"14.1.0","lodash":"~4.17.21","@types/node":"20.1.0","vue":"2.x || 3.x","local":"file:../x"},
 "devDependencies":{"vite":"workspace:*"},"engines":{"node":">=20"}}`,
	"pyproject.toml": `[project]
requires-python = ">=3.11"
dependencies = ["django[argon2]~=4.2", "httpx>=0.27,<1", "numpy==1.26.4", "attrs"]
[project.optional-dependencies]
dev = ["pytest (>=8.1)"]
[tool.poetry.dependencies]
rich = "^13.7"
[tool.poetry.group.docs.dependencies]
sphinx = {version = "7.2.6", optional = true}
`,
	"Cargo.toml": "[package]\nrust-version = \"1.75\"\n[dependencies]\nserde = \"1.0.200\"\nrand = \"0.8\"\n[dev-dependencies]\ntokio = { version = \"1.37\" }\nmine = { path = \"../mine\" }\n",
}

// A version that is named and not in force is found, in every manifest's way of
// writing ranges; what only looks like one is not.
func TestOutdatedVersions(t *testing.T) {
	p := projectOf(t, manifests)
	for _, text := range []string{
		"Mount handlers the chi v4 way", "chi/v4 routers", "github.com/go-chi/chi/v4", "chi v5.4 has it", "Go 1.22 is enough", "golang 1.25",
		"golang.org/x/text v0.3", "uuid@v1.5.0", "use react 17", "react@17.0.2", "React 17 hooks", "react version 16", "next 13", "lodash 4.16", "@types/node 18",
		"node 18 runs it", "Django 3.2", "django==4.1", "django 5", "numpy 1.25", "pytest 7", "python 3.9", "rich 12", "sphinx 7.1", "serde 0.9", "rand 0.7", "tokio 0.2",
		"Next.js 12 pages", "httpx 0.25", "rust 1.60", "首选 react 17", "使用 chi v4 路由", "react 版本 17",
	} {
		if !outdated(text, p.inForce()) {
			t.Errorf("not found outdated: %q", text)
		}
	}
	for _, text := range []string{
		"chi v5", "chi v5.5", "chi/v5", "chi v5.5.0.", "go 1.26", "Go 1.26.0", "go 3 steps back", "the go 1 promise", "react 18", "react 18.3", "react@18.2.0", "React 18.x",
		"next 14", "next 14.1", "lodash 4.17.30", "node 22", "Django 4.2", "Django 4.2.9", "django 4.3", "numpy 1.26", "python 3.12", "rich 13.9", "serde 1.0.203", "rand 0.8.5",
		"Go 1.21 added slices", "React 17 introduced it", "react 17 移除 了它", "httpx 0.28", "tokio 1.40", "vue 1", "vite 2", "attrs 19", "local 3", "mine 7", "Go 1.21 or later", "go 1.20+", "python 3.9 以上", "moved from react 17", "do not use react 17", "don't pin react 17", "不要使用react 17",
		"next 3 days", "rich 10 times", "requests 2", "preact 10", "build 41", "p95 was 120 ms", "", "chi", "5", "no django 3", "react >= 16",
	} {
		if outdated(text, p.inForce()) {
			t.Errorf("found outdated: %q", text)
		}
	}
}

// A manifest that is broken, a folder, too large or not there says nothing.
func TestBrokenManifests(t *testing.T) {
	for _, files := range []map[string]string{
		{}, {"go.mod": "\x00\xff", "package.json": "{", "pyproject.toml": "[[", "Cargo.toml": "= 1"},
		{"go.mod/x": "", "package.json/x": "", "pyproject.toml/x": "", "Cargo.toml/x": ""},
		{"package.json": `{"dependencies": ["react"]}`, "pyproject.toml": "project = 3", "Cargo.toml": "dependencies = 1"},
		{"package.json": `{"dependencies":{"react":"` + string(make([]byte, maxRead)) + `"}}`},
	} {
		if found := projectOf(t, files).inForce(); len(found) != 0 {
			t.Errorf("%v", found)
		}
	}
}

// Two manifests that do not agree tell nothing.
func TestManifestsThatDisagree(t *testing.T) {
	p := projectOf(t, map[string]string{"package.json": `{"dependencies":{"thing":"2.0.0"}}`, "Cargo.toml": "[dependencies]\nthing = \"3.0.0\"\n"})
	if outdated("thing 1", p.inForce()) {
		t.Error("found outdated")
	}
}

var tree = map[string]string{
	"AGENTS.md": "x", "docs/adr/0007.md": "x", "internal/http/server.go": "x", "web/src/App.tsx": "x", "cmd/app/main": "x", ".github/workflows/ci.yml": "x",
}

// What names a file or a folder is looked for, and what only looks like a path is
// not.
func TestPathsOfFacts(t *testing.T) {
	p := projectOf(t, tree)
	for text, want := range map[string]bool{ // whether all of them stand
		"see AGENTS.md.": true, "see agents.md": true, "the server is internal/http/server.go": true, "server.go serves": true,
		"it is in internal/http/": true, "(docs/adr)": true, "`cmd/app/main` starts": true, "./docs/adr/0007.md#why": true, "internal/http/server.go:12": true,
		"代码在internal/http里": true, ".github/workflows/ci.yml": true, "see App.tsx": true,

		"see CLAUDE.md": false, "internal/grpc/server.go": false, "internal/grpc serves": false, "lives in `pkg/queue`": false, "in pkg/": false, "docs/adr/0008.md": false,
		"代码在internal/grpc里": false, "deploy.yaml holds it": false, "AGENTS.md and docs/none.md": false, "AGENTS.md/x.md": false, "client.go。": false,
	} {
		stand := p.paths(text)
		all := true
		for _, holds := range stand {
			all = all && holds
		}
		if len(stand) == 0 || all != want {
			t.Errorf("%q: %v, want %v", text, stand, want)
		}
	}
	for _, text := range []string{
		"v1.2.3", "node.js", "Next.js apps", "e.g. this", "i.e. that", "at 9 a.m.", "and/or", "TCP/IP", "24/7", "1/2", "he/she", "I/O", "n/a", "2026/05/07", "km/h",
		"https://x.test/a/b.md", "http://a/b.go and so on", "me@example.com/x.md", "github.com/x/y", "github.com/x/y.go", "text/plain", "`application/json`", "`origin/main`", "`@scope/pkg`",
		"/etc/hosts.conf", "~/x/y.md", "../up/x.md", "docs/../../x.md", "`src/*.none`", "src/${NAME}.go", "<root>/x.md", "server.log grows", "U.S. law", "",
		"There is no setup.py", "old.md was removed", "setup.py 已删除", "moved from lib/x.go", "a//b.go",
	} {
		if stand := p.paths(text); len(stand) != 0 {
			t.Errorf("%q is taken for a path: %v", text, stand)
		}
	}
}

// A link out of the root is not followed, and nothing outside is looked at.
func TestPathsStayInTheRoot(t *testing.T) {
	p := projectOf(t, tree)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "package.json"), []byte(`{"dependencies":{"react":"18.0.0"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "package.json"), filepath.Join(p.root.Name(), "package.json")); err != nil {
		t.Fatal(err)
	}
	if len(p.inForce()) != 0 {
		t.Error("a manifest outside of the root was read")
	}
}

// The default branch is that of origin, else one of the branches there are.
func TestDefaultBranch(t *testing.T) {
	origin := map[string]string{".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/main\n", ".git/refs/heads/master": "x"}
	packed := map[string]string{".git/packed-refs": "# pack-refs\n0123 refs/heads/trunk\n", ".git/refs/heads/main": "x"}
	for _, c := range []struct {
		files map[string]string
		text  string
		want  []bool
	}{
		{origin, "The default branch is main.", []bool{true}},
		{origin, "default branch: `master`", []bool{false}},
		{origin, "`main` is the default branch", []bool{true}},
		{origin, "默认分支是 main", []bool{true}},
		{origin, "默认分支为 `master`。", []bool{false}},
		{origin, "a branch is made for each release", nil},
		{packed, "The default branch is trunk", []bool{true}},
		{packed, "The default branch is main", []bool{true}},
		{packed, "The default branch is master", []bool{false}},
		{map[string]string{".git": "gitdir: /elsewhere"}, "The default branch is master", nil},
		{map[string]string{}, "The default branch is master", nil},
	} {
		got := projectOf(t, c.files).branches(c.text)
		if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

// The two parts of a pitfall are known by their labels.
func TestPartsOfPitfalls(t *testing.T) {
	for text, want := range map[string][2]bool{
		"Symptom: x. Fix: y":                      {true, true},
		"**Symptom**: x\n**Solution:** y":         {true, true},
		"## Problem\nx\n## Workaround\ny":         {true, true},
		"症状：卡住。修复：重启":                             {true, true},
		"现象: x；解决办法：y":                            {true, true},
		"问题：x。对策：y":                               {true, true},
		"Symptom: x. Fix:":                        {true, false},
		"The fix is simple and the problem known": {false, false},
		"prefix: x; postfix: y":                   {false, false},
		"it hangs":                                {false, false},
	} {
		if got := [2]bool{symptomPart.MatchString(text), fixPart.MatchString(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
