package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes files below the home folder of a box, whose links are resolved.
func (b *box) put(files map[string]string) (home string) {
	b.t.Helper()
	home, err := filepath.EvalSymlinks(filepath.Dir(b.dir))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return home
}

func TestInstructions(t *testing.T) {
	b := newBox(t)
	home := b.put(map[string]string{
		".agent/CLAUDE.md": "of the user\n", ".config/memd/AGENTS.md": "of the user, too \u202e\n",
		"p/.git/HEAD": "x", "p/.git/objects/x": "", "p/.git/refs/x": "",
		"p/AGENTS.md": "of the project\n", "p/sub/TEAM.md": "by another name\n", "p/sub/.agent/rules/go.md": "---\npaths: ['**/*.go']\n---\nfor Go\n",
	})
	text := b.must("instructions", "--cwd", "p/sub", "--path", "deep/x.go")
	last := -1
	for _, part := range []string{"user " + home + "/.agent/CLAUDE.md\n\nof the user\n", "of the user, too <U+202E>", "project " + home + "/p/AGENTS.md", "for Go"} {
		at := strings.Index(text, part)
		if at <= last {
			t.Errorf("%q is not in its place in\n%s", part, text)
		}
		last = at
	}
	if text := b.must("instructions", "--cwd", "p/sub"); strings.Contains(text, "for Go") {
		t.Errorf("a rule for Go holds without a file:\n%s", text)
	}

	b.env = append(b.env, "MEMD_INSTRUCTIONS_NAMES=TEAM.md")
	var found struct {
		Project, Top string
		Parts        []struct {
			Origin, Layer, Path, Text string
			Paths                     []string
			Applies                   bool
		}
		Skipped []any
	}
	if err := json.Unmarshal([]byte(b.must("instructions", "--json", "--cwd", home+"/p/sub")), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Parts) != 2 || found.Parts[0].Text != "by another name\n" || found.Parts[0].Layer != "project" || !found.Parts[0].Applies {
		t.Fatalf("%+v", found)
	}
	if rule := found.Parts[1]; rule.Layer != "rules" || rule.Applies || rule.Path != "sub/.agent/rules/go.md" || !slices.Equal(rule.Paths, []string{"**/*.go"}) {
		t.Errorf("%+v", rule)
	}
	if found.Top != home+"/p" || found.Skipped == nil {
		t.Errorf("%+v", found)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("it made a data folder: %v", err)
	}
	if r := b.run("instructions", "--cwd", "gone"); r.code != 2 || !strings.Contains(r.err, "--cwd: the folder cannot be read") {
		t.Errorf("a folder that is not there: %d, %s", r.code, r.err)
	}
}

// A project that sets autoMemoryDirectory to ~/.ssh, in every form that some program
// reads, has nothing written there (seed 000, its story of a feature that was refused).
func TestAutoMemoryDirectoryOfAProject(t *testing.T) {
	b := newBox(t)
	home := b.put(map[string]string{".ssh/id_rsa": "key"})
	ssh := filepath.Join(home, ".ssh")
	const front = "---\ndir: ~/.ssh\nautoMemoryDirectory: ~/.ssh\nproject: other\n---\n"
	setting := "dir: " + ssh + "\nautoMemoryDirectory: " + ssh + "\nroots: {project/other: " + ssh + "}\n"
	b.put(map[string]string{
		"p/.git/HEAD": "x", "p/.git/objects/x": "", "p/.git/refs/x": "", "p/.git/config": "[memd]\n\tdir = " + ssh + "\n",
		"p/.agent/settings.json": `{"autoMemoryDirectory": "~/.ssh", "env": {"MEMD_DIR": "` + ssh + `", "XDG_DATA_HOME": "` + ssh + `"}}`,
		"p/memd.yaml":            setting, "p/.memd.yaml": setting, "p/.memd/memd.yaml": setting, "p/.config/memd/memd.yaml": setting, "p/.agent/memd.yaml": setting,
		"p/.env":      "MEMD_DIR=" + ssh + "\nMEMD_CONFIG=memd.yaml\n",
		"p/AGENTS.md": front + "MEMD_DIR=" + ssh + "\n@include memd.yaml\nof the project\n", "p/.agent/rules/r.md": front + "rule\n",
	})
	inProject := func(args ...string) string {
		t.Helper()
		cmd := b.command(args...)
		cmd.Dir = filepath.Join(home, "p")
		r := b.finish(cmd)
		if r.code != 0 {
			t.Fatalf("%q exits %d: %s", args, r.code, r.err)
		}
		return r.out
	}
	var found struct {
		Project string
		Parts   []struct{ Path string }
	}
	if err := json.Unmarshal([]byte(inProject("instructions", "--json")), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Parts) != 1 || !strings.HasPrefix(found.Project, "p-") {
		t.Errorf("%+v", found)
	}
	for _, env := range [][]string{b.env, append(slices.Clone(b.env), "MEMD_DIR=")} { // with a folder of its own, and the default
		b.env = env
		if config := inProject("config"); strings.Contains(config, ".ssh") {
			t.Errorf("the configuration names it:\n%s", config)
		}
		inProject("remember", "The staging database is db7 since the move.")
	}
	for _, folder := range []string{b.dir, filepath.Join(home, ".local/share/memd")} {
		if _, err := os.Stat(filepath.Join(folder, "agent_memory.db")); err != nil {
			t.Errorf("the memories are elsewhere: %v", err)
		}
	}
	entries, err := os.ReadDir(ssh)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v in ~/.ssh, %v", entries, err)
	}
}
