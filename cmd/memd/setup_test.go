package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/internal/agents"
)

// entryOf is memd's entry in a file of Cursor's form.
func entryOf(t *testing.T, file string) (command string, args []string) {
	t.Helper()
	var root struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal([]byte(readAbsolute(t, file)), &root); err != nil {
		t.Fatal(err)
	}
	return root.MCPServers[agents.Name].Command, root.MCPServers[agents.Name].Args
}

func TestSetup(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	file := filepath.Join(home, ".cursor", "mcp.json")
	if out := b.must("setup", "cursor"); !strings.Contains(out, file) {
		t.Errorf("it says %q", out)
	}
	command, args := entryOf(t, file)
	if command != os.Getenv(binaryVariable) || !slices.Equal(args, []string{"mcp", "--dir", b.dir}) { // which MEMD_DIR says
		t.Errorf("the command is %s %q", command, args)
	}
	before := readAbsolute(t, file)
	if out := b.must("setup", "cursor"); !strings.Contains(out, "already") || readAbsolute(t, file) != before {
		t.Errorf("a second time it says %q", out)
	}
	var answer struct {
		Client, Scope, File, Backup string
		Changed                     bool
	}
	out := b.must("--json", "setup", "--agent", "reviewer", "cursor")
	if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Client != "cursor" || answer.Scope != "user" || answer.File != file || !answer.Changed {
		t.Errorf("--json: %v: %s", err, out)
	}
	if readAbsolute(t, answer.Backup) != before {
		t.Errorf("%s is not what the file was", answer.Backup)
	}
	if _, args := entryOf(t, file); !slices.Equal(args, []string{"mcp", "--dir", b.dir, "--agent", "reviewer"}) {
		t.Errorf("for an agent the arguments are %q", args)
	}
	if err := os.WriteFile(file, []byte("{\n  \"a\": hunter2\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.run("setup", "cursor"); r.code != memd.ExitUsage || !strings.Contains(r.err, file+":2") || strings.Contains(r.err, "hunter2") {
		t.Errorf("a broken file: %d %s", r.code, r.err)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("setup made the data folder (%v)", err)
	}
}

func TestSetupPrints(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	for _, client := range agents.Clients() {
		if out := b.must("setup", "--print", client.Name); !strings.Contains(out, home) || !strings.Contains(out, os.Getenv(binaryVariable)) {
			t.Errorf("%s: %q", client.Name, out)
		}
		var answer struct{ Client, Scope, File, Snippet string }
		if err := json.Unmarshal([]byte(b.must("setup", client.Name, "--print", "--json")), &answer); err != nil || answer.File == "" || !strings.Contains(answer.Snippet, agents.Name) {
			t.Errorf("%s: %v: %+v", client.Name, err, answer)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("--print wrote %v, %v", left, err)
	}
}

func TestSetupLists(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	b.env = append(b.env, "PATH="+t.TempDir(), "CODEX_HOME="+filepath.Join(home, "cx"))
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.must("setup", "codex")
	b.must("setup", "zed", "--agent", "a")
	var answer struct {
		Clients []struct {
			Client, State, File string
			Found               bool
		}
	}
	if err := json.Unmarshal([]byte(b.must("setup", "--json")), &answer); err != nil || len(answer.Clients) != len(agents.Clients()) {
		t.Fatalf("%v: %+v", err, answer)
	}
	states := map[string]string{"codex": "yes", "zed": "other", "claude-code": "unreadable"}
	text := b.must("setup")
	for _, one := range answer.Clients {
		want, found := states[one.Client]
		if want == "" {
			want = "no"
		}
		if one.State != want || one.Found != found || !strings.Contains(text, one.File) {
			t.Errorf("%+v, want %s and %v in %s", one, want, found, text)
		}
	}
	if !strings.Contains(text, filepath.Join(home, "cx", "config.toml")) {
		t.Errorf("CODEX_HOME does not lead anywhere: %s", text)
	}
}

// What a client cannot know is part of the command, and no more.
func TestSetupNamesTheFolder(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	file := filepath.Join(home, ".cursor", "mcp.json")
	yaml := filepath.Join(home, "m.yaml")
	if err := os.WriteFile(yaml, []byte("dir: "+filepath.Join(home, "e")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.env = slices.DeleteFunc(b.env, func(pair string) bool { return strings.HasPrefix(pair, "MEMD_DIR=") })
	for _, c := range []struct{ flags, want string }{
		{"", "mcp"},
		{"--dir " + b.dir, "mcp --dir " + b.dir},
		{"--dir d", "mcp --dir " + b.dir},
		{"--dir ~/.local/share/memd", "mcp"},
		{"--config " + yaml, "mcp --config " + yaml},
		{"--config m.yaml", "mcp --config " + yaml},
		{"--config m.yaml --dir d", "mcp --config " + yaml + " --dir " + b.dir},
		{"--allow-network-fs", "mcp --allow-network-fs"},
	} {
		b.must(append([]string{"setup", "cursor"}, strings.Fields(c.flags)...)...)
		if _, args := entryOf(t, file); strings.Join(args, " ") != c.want {
			t.Errorf("with %q the arguments are %q, want %q", c.flags, args, c.want)
		}
	}
	b.env = append(b.env, "MEMD_CONFIG="+yaml, "XDG_DATA_HOME="+home)
	b.must("setup", "cursor")
	if _, args := entryOf(t, file); strings.Join(args, " ") != "mcp --config "+yaml {
		t.Errorf("with MEMD_CONFIG the arguments are %q", args)
	}
	b.dir = filepath.Join(home, "memd")
	b.env = slices.DeleteFunc(b.env, func(pair string) bool { return strings.HasPrefix(pair, "MEMD_CONFIG=") })
	b.must("setup", "cursor")
	if _, args := entryOf(t, file); strings.Join(args, " ") != "mcp --dir "+b.dir {
		t.Errorf("with XDG_DATA_HOME the arguments are %q", args)
	}
}

// What a session is to take for granted is written as it is given, and checked first.
func TestSetupOfASession(t *testing.T) {
	b := newBox(t)
	file := filepath.Join(filepath.Dir(b.dir), ".cursor", "mcp.json")
	for _, c := range []struct{ flags, want string }{
		{"--profile core", "--profile core"},
		{"--project widgets", "--project widgets"},
		{"--project=", "--project="},
		{"--access hr --access it", "--access hr --access it"},
		{"--access it --profile full --project p --agent a", "--agent a --project p --access it --profile full"},
		{"", ""},
	} {
		b.must(append([]string{"setup", "cursor"}, strings.Fields(c.flags)...)...)
		if _, args := entryOf(t, file); !slices.Equal(args, append([]string{"mcp", "--dir", b.dir}, strings.Fields(c.want)...)) {
			t.Errorf("with %q the arguments are %q", c.flags, args)
		}
	}
	before := readAbsolute(t, file)
	for _, flags := range []string{"--profile x", "--project ../x", "--agent A", "--access=", strings.Repeat("--access a ", memd.MaxTags+1)} {
		if r := b.run(append([]string{"setup", "cursor"}, strings.Fields(flags)...)...); r.code != memd.ExitUsage || readAbsolute(t, file) != before {
			t.Errorf("%.40q: %d %s", flags, r.code, r.err)
		}
	}
	for _, flag := range []string{"--profile=core", "--project=p", "--access=a"} {
		if r := b.run("setup", flag); r.code != memd.ExitUsage {
			t.Errorf("%s for no client: %d", flag, r.code)
		}
	}
}

// A project's file stands at its top, wherever below the command is given.
func TestSetupOfAProject(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	top := filepath.Join(home, "src")
	below := filepath.Join(top, "pkg")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", top).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	cmd := b.command("setup", "--scope", "project", "claude-code")
	cmd.Dir = below
	if r := b.finish(cmd); r.code != 0 {
		t.Fatalf("%d: %s", r.code, r.err)
	}
	if command, _ := entryOf(t, filepath.Join(top, ".mcp.json")); command != os.Getenv(binaryVariable) {
		t.Errorf("the command is %q", command)
	}
	if r := b.run("setup", "--scope", "project", "claude-code"); r.code != memd.ExitUsage || !strings.Contains(r.err, "no project") {
		t.Errorf("in the home folder: %d %s", r.code, r.err)
	}
}

// The path by which the program was called stays, where the file behind it changes.
func TestSetupNamesTheLink(t *testing.T) {
	b := newBox(t)
	home := filepath.Dir(b.dir)
	link := filepath.Join(home, "memd-link")
	if err := os.Symlink(os.Getenv(binaryVariable), link); err != nil {
		t.Fatal(err)
	}
	for _, called := range []string{link, "./memd-link", "memd-link"} {
		cmd := b.command("setup", "cursor")
		cmd.Path, cmd.Args[0] = link, called
		cmd.Env = append(slices.Clone(b.env), "PATH="+home)
		if r := b.finish(cmd); r.code != 0 {
			t.Fatalf("%d: %s", r.code, r.err)
		}
		if command, _ := entryOf(t, filepath.Join(home, ".cursor", "mcp.json")); command != link {
			t.Errorf("called as %s the command is %s", called, command)
		}
	}
}

// A program that is gone when it ends is written nowhere.
func TestSetupOfGoRun(t *testing.T) {
	b := newBox(t)
	dir := filepath.Join(filepath.Dir(b.dir), "go-build12", "b001", "exe")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data := readAbsolute(t, os.Getenv(binaryVariable))
	if err := os.WriteFile(filepath.Join(dir, "memd"), []byte(data), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := b.command("setup", "cursor")
	cmd.Path, cmd.Args[0] = filepath.Join(dir, "memd"), filepath.Join(dir, "memd")
	if r := b.finish(cmd); r.code != memd.ExitUsage || !strings.Contains(r.err, "go build") {
		t.Errorf("%d %s", r.code, r.err)
	}
}
