package agents

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"memd"
)

var now = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)

// machine is an empty home with a project beside it.
func machine(t *testing.T) Machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := Machine{OS: "linux", Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Folder: func(string) string { return "" }}
	for _, d := range []string{m.Home, m.Project} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// listing is every path below dir, with modes.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && path != dir {
			list = append(list, strings.TrimPrefix(path, dir)+" "+info.Mode().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func setUp(t *testing.T, c Client, m Machine, scope Scope, s Server) (changed bool, backup string) {
	t.Helper()
	p, err := c.Plan(m, scope, s)
	if err != nil {
		t.Fatal(err)
	}
	backup, err = p.Write(now)
	if err != nil {
		t.Fatal(err)
	}
	return p.Changes(), backup
}

// Every client, every scope: the file is made, made again as it is, kept where its
// entry changes, and only then.
func TestSetUp(t *testing.T) {
	for _, c := range Clients() {
		for _, scope := range []Scope{ScopeUser, ScopeProject} {
			if scope == ScopeProject && c.project == nil {
				continue
			}
			t.Run(c.Name+" "+string(scope), func(t *testing.T) {
				defer syscall.Umask(syscall.Umask(0o077))
				m := machine(t)
				file, err := c.File(m, scope)
				if err != nil {
					t.Fatal(err)
				}
				if changed, backup := setUp(t, c, m, scope, server); !changed || backup != "" {
					t.Errorf("a new file: %v %q", changed, backup)
				}
				want, err := c.Snippet(server)
				if got := read(t, file); err != nil || got != want {
					t.Errorf("the file holds %q, printed is %q, %v", got, want, err)
				}
				mode := map[Scope]fs.FileMode{ScopeUser: 0o600, ScopeProject: 0o644}[scope]
				if info, err := os.Stat(file); err != nil || info.Mode() != mode {
					t.Errorf("its mode is %v, %v", info.Mode(), err)
				}
				before := listing(t, filepath.Dir(m.Home))
				if changed, backup := setUp(t, c, m, scope, server); changed || backup != "" {
					t.Errorf("a second time: %v %q", changed, backup)
				}
				if after := listing(t, filepath.Dir(m.Home)); !slices.Equal(before, after) || read(t, file) != want {
					t.Errorf("a second time made %q of %q", after, before)
				}
				other := Server{Command: "/new/memd", Args: []string{"mcp"}}
				changed, backup := setUp(t, c, m, scope, other)
				if !changed || backup != file+".memd-20261130T020000Z.bak" || read(t, backup) != want {
					t.Errorf("another command: %v %q", changed, backup)
				}
				if info, err := os.Stat(backup); err != nil || info.Mode() != mode {
					t.Errorf("the mode of the copy is %v, %v", info.Mode(), err)
				}
				if _, backup = setUp(t, c, m, scope, server); backup != file+".memd-20261130T020000Z-2.bak" || read(t, file) != want {
					t.Errorf("back: %q, %s", backup, read(t, file))
				}
			})
		}
	}
}

func TestPlaces(t *testing.T) {
	folders := map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/cx", "CLAUDE_CONFIG_DIR": "/cl", "APPDATA": "/ad"}
	for _, c := range []struct{ client, os, plain, set string }{
		{"claude-code", "linux", "/h/.claude.json", "/cl/.claude.json"},
		{"claude-desktop", "linux", "/h/.config/Claude/claude_desktop_config.json", "/x/Claude/claude_desktop_config.json"},
		{"claude-desktop", "darwin", "/h/Library/Application Support/Claude/claude_desktop_config.json", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", "/h/AppData/Roaming/Claude/claude_desktop_config.json", "/ad/Claude/claude_desktop_config.json"},
		{"cursor", "darwin", "/h/.cursor/mcp.json", "/h/.cursor/mcp.json"},
		{"vscode", "linux", "/h/.config/Code/User/mcp.json", "/x/Code/User/mcp.json"},
		{"vscode", "darwin", "/h/Library/Application Support/Code/User/mcp.json", "/h/Library/Application Support/Code/User/mcp.json"},
		{"codex", "linux", "/h/.codex/config.toml", "/cx/config.toml"},
		{"zed", "linux", "/h/.config/zed/settings.json", "/x/zed/settings.json"},
		{"zed", "darwin", "/h/.config/zed/settings.json", "/h/.config/zed/settings.json"},
		{"zed", "windows", "/h/AppData/Roaming/Zed/settings.json", "/ad/Zed/settings.json"},
		{"windsurf", "linux", "/h/.codeium/windsurf/mcp_config.json", "/h/.codeium/windsurf/mcp_config.json"},
		{"gemini-cli", "linux", "/h/.gemini/settings.json", "/h/.gemini/settings.json"},
		{"opencode", "linux", "/h/.config/opencode/opencode.json", "/x/opencode/opencode.json"},
	} {
		m := Machine{OS: c.os, Home: "/h", Folder: func(string) string { return "" }}
		if got, err := find(t, c.client).File(m, ScopeUser); err != nil || got != c.plain {
			t.Errorf("%s on %s: %s, %v", c.client, c.os, got, err)
		}
		m.Folder = func(variable string) string { return folders[variable] }
		if got, err := find(t, c.client).File(m, ScopeUser); err != nil || got != c.set {
			t.Errorf("%s on %s with variables: %s, %v", c.client, c.os, got, err)
		}
	}
	m := machine(t)
	for client, want := range map[string]string{
		"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json", "codex": ".codex/config.toml",
		"gemini-cli": ".gemini/settings.json", "opencode": "opencode.json",
	} {
		if got, err := find(t, client).File(m, ScopeProject); err != nil || got != filepath.Join(m.Project, want) {
			t.Errorf("%s of a project: %s, %v", client, got, err)
		}
	}
	write(t, filepath.Join(m.Project, "opencode.jsonc"), "{}", 0o644)
	if got, err := find(t, "opencode").File(m, ScopeProject); err != nil || !strings.HasSuffix(got, "opencode.jsonc") {
		t.Errorf("with comments: %s, %v", got, err)
	}
	for _, bad := range []struct {
		client, project string
		scope           Scope
	}{{"zed", m.Project, ScopeProject}, {"cursor", "", ScopeProject}, {"cursor", m.Home, ScopeProject}, {"cursor", "/", ScopeProject}, {"cursor", m.Project, "team"}} {
		m := m
		m.Project = bad.project
		if got, err := find(t, bad.client).File(m, bad.scope); memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Errorf("%s in %q for %q: %s, %v", bad.client, bad.project, bad.scope, got, err)
		}
	}
}

func TestInstalled(t *testing.T) {
	m := machine(t)
	nothing := func(string) (string, error) { return "", exec.ErrNotFound }
	for _, c := range Clients() {
		if c.Installed(m, nothing) {
			t.Errorf("%s is found in an empty home", c.Name)
		}
		if !c.Installed(m, func(program string) (string, error) { return "/bin/" + program, nil }) {
			t.Errorf("%s is not found by its command", c.Name)
		}
		write(t, c.user(m)[0], "{}", 0o600)
		if !c.Installed(m, nothing) {
			t.Errorf("%s is not found by its file", c.Name)
		}
	}
}

// The mode, the byte order mark and the link are those that were there.
func TestFileStaysWhatItIs(t *testing.T) {
	m, c := machine(t), find(t, "cursor")
	file, _ := c.File(m, ScopeUser)
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o660, 0o777} {
		write(t, file, bom+"{\r\n}\r\n", mode)
		setUp(t, c, m, ScopeUser, server)
		info, err := os.Stat(file)
		if err != nil || info.Mode() != mode {
			t.Errorf("mode %v became %v, %v", mode, info.Mode(), err)
		}
		if got := read(t, file); !strings.HasPrefix(got, bom+"{\r\n  \"mcpServers\": {\r\n") || strings.Count(got, bom) != 1 {
			t.Errorf("it became %q", got)
		}
	}

	dotfiles := filepath.Join(filepath.Dir(m.Home), "dotfiles")
	write(t, filepath.Join(dotfiles, "mcp.json"), "{}", 0o640)
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	write(t, file, "", 0o600)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../dotfiles/mcp.json", file); err != nil {
		t.Fatal(err)
	}
	if changed, _ := setUp(t, c, m, ScopeUser, server); !changed {
		t.Error("nothing has changed behind the link")
	}
	if to, err := os.Readlink(file); err != nil || to != "../../dotfiles/mcp.json" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	want := []string{"/mcp.json -rw-r-----", "/mcp.json.memd-20261130T020000Z.bak -rw-r-----"}
	if got := listing(t, dotfiles); !slices.Equal(got, want) || !strings.Contains(read(t, filepath.Join(dotfiles, "mcp.json")), "/opt/memd") {
		t.Errorf("behind the link is %q", got)
	}
	if changed, _ := setUp(t, c, m, ScopeUser, server); changed {
		t.Error("a second time something has changed")
	}
}

// What is refused is left alone, and nothing is left beside it.
func TestRefused(t *testing.T) {
	m, c := machine(t), find(t, "cursor")
	file, _ := c.File(m, ScopeUser)
	for says, make := range map[string]func(){
		file + ":2: it is no JSON": func() { write(t, file, "{\n \"hunter2\": x\n}", 0o600) },
		"not in UTF-8":             func() { write(t, file, "{\"a\": \"\xff\"}", 0o600) },
		"UTF-8":                    func() { write(t, file, "\xff\xfe{\x00}\x00", 0o600) },
		"may not write":            func() { write(t, file, "{}", 0o444) },
		"too deeply":               func() { write(t, file, strings.Repeat("[", 200_000), 0o600) },
		"passes 33554432 bytes":    func() { write(t, file, strings.Repeat(" ", maxFileBytes+1), 0o600) },
		"no regular file":          func() { write(t, filepath.Join(file, "x"), "{}", 0o600) },
		"leads nowhere": func() {
			write(t, file+"x", "", 0o600)
			if err := os.Symlink("none", file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
		make()
		before := listing(t, m.Home)
		_, err := c.Plan(m, ScopeUser, server)
		if memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("want %q: %v", says, err)
		}
		if after := listing(t, m.Home); !slices.Equal(before, after) {
			t.Errorf("%s: %q became %q", says, before, after)
		}
	}
	for _, bad := range []string{"/opt/\xff", "/opt/a\nb", "/opt/\x1b[31m"} {
		if _, err := c.Snippet(Server{Command: bad}); memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A file that is written for another user stays that user's.
func TestAnotherUsersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	m, c := machine(t), find(t, "cursor")
	file, _ := c.File(m, ScopeUser)
	if err := os.Chown(m.Home, 1234, -1); err != nil {
		t.Fatal(err)
	}
	for range 2 { // without the file, and with it
		if _, err := c.Plan(m, ScopeUser, server); memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), "another user") {
			t.Errorf("%v", err)
		}
		write(t, file, "{}", 0o644)
		if err := os.Chown(file, 1234, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// What a checkout brings along leads memd to no file outside of it.
func TestProjectLeadsNowhereElse(t *testing.T) {
	m, c := machine(t), find(t, "codex")
	mine := filepath.Join(m.Home, ".codex", "config.toml")
	write(t, mine, "a = 1\n", 0o600)
	for link, to := range map[string]string{".codex": filepath.Dir(mine), ".codex/config.toml": mine} {
		path := filepath.Join(m.Project, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Plan(m, ScopeProject, server); memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), "out of it") {
			t.Errorf("%s: %v", link, err)
		}
		if err := os.RemoveAll(filepath.Join(m.Project, ".codex")); err != nil {
			t.Fatal(err)
		}
	}
	// The folder alone leads out, and holds no file yet.
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(mine), filepath.Join(m.Project, ".codex")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Plan(m, ScopeProject, server); memd.CodeOf(err) != memd.CodeInvalidRequest {
		t.Errorf("a folder that leads out: %v", err)
	}
	// A project that itself lies behind a link is one like others.
	link := filepath.Join(filepath.Dir(m.Home), "link")
	if err := os.Remove(filepath.Join(m.Project, ".codex")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.Project, link); err != nil {
		t.Fatal(err)
	}
	m.Project = link
	if changed, _ := setUp(t, c, m, ScopeProject, server); !changed {
		t.Error("nothing was written behind the link")
	}
}

// A client that writes between reading and writing loses nothing.
func TestClientWritesMeanwhile(t *testing.T) {
	m, c := machine(t), find(t, "cursor")
	file, _ := c.File(m, ScopeUser)
	for _, before := range []string{"", "{}"} {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
		if before != "" {
			write(t, file, before, 0o600)
		}
		p, err := c.Plan(m, ScopeUser, server)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, "{\"mine\": 1}", 0o600)
		if backup, err := p.Write(now); memd.CodeOf(err) != memd.CodeVersionConflict || backup != "" {
			t.Errorf("%q: %q, %v", before, backup, err)
		}
		if got := listing(t, filepath.Dir(file)); read(t, file) != "{\"mine\": 1}" || len(got) != 1 {
			t.Errorf("%q: %s, %q", before, read(t, file), got)
		}
	}
}

// Where the folder takes no file the old one stays, and no copy of it is left.
func TestFolderTakesNoFile(t *testing.T) {
	m, c := machine(t), find(t, "cursor")
	file, _ := c.File(m, ScopeUser)
	write(t, filepath.Dir(file), "a file where the folder belongs", 0o600)
	if p, err := c.Plan(m, ScopeUser, server); err == nil {
		if _, err := p.Write(now); err == nil {
			t.Error("it was written below a file")
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	if err := os.Remove(filepath.Dir(file)); err != nil {
		t.Fatal(err)
	}
	write(t, file, "{}", 0o600)
	if err := os.Chmod(filepath.Dir(file), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(file), 0o700)
	p, err := c.Plan(m, ScopeUser, server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(now); err == nil || read(t, file) != "{}" || len(listing(t, filepath.Dir(file))) != 1 {
		t.Errorf("%v, %q", err, listing(t, filepath.Dir(file)))
	}
}

// TestKilled ends the program at any moment of a change: the file is wholly old or
// wholly new, and where it is new there is a copy of the old one.
func TestKilled(t *testing.T) {
	if os.Getenv("TEST_SET_UP_HOME") != "" {
		m := Machine{OS: "linux", Home: os.Getenv("TEST_SET_UP_HOME"), Folder: func(string) string { return "" }}
		for n := 0; ; n++ {
			setUp(t, find(t, "cursor"), m, ScopeUser, Server{Command: "/opt/memd", Args: []string{strings.Repeat("x", 1+n%2)}})
		}
	}
	m, c := machine(t), find(t, "cursor")
	file, _ := c.File(m, ScopeUser)
	rest := "{\"padding\": \"" + strings.Repeat("p", 1<<18) + "\"}\n"
	for round := range 4 {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
		write(t, file, rest, 0o600)
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), "TEST_SET_UP_HOME="+m.Home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for copies := 0; copies <= 2*round; { // then it is in the midst of another change
			matches, err := filepath.Glob(file + "*.bak")
			if err != nil {
				t.Fatal(err)
			}
			copies = len(matches)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		got := []byte(read(t, file))
		if string(got) != rest && !bytes.Contains(got, []byte("\"/opt/memd\"")) {
			t.Errorf("round %d: the file has %d bytes", round, len(got))
		}
		if root, err := decodeJSON(got); err != nil || len(root["padding"].(string)) != 1<<18 {
			t.Errorf("round %d: %v", round, err)
		}
		if first := read(t, file+".memd-20261130T020000Z.bak"); first != rest {
			t.Errorf("round %d: the first copy has %d bytes", round, len(first))
		}
		if changed, _ := setUp(t, c, m, ScopeUser, server); !changed || !strings.Contains(read(t, file), "--agent") {
			t.Errorf("round %d: it cannot be set up afterwards", round)
		}
	}
}
