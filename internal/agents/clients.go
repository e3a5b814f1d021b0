package agents

import (
	"path/filepath"
	"slices"

	"memd"
)

// Scope says for whom a client starts a server.
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"    // in all projects of this user
	ScopeProject Scope = "project" // for all who open the project
)

// Machine is where files are looked for.
type Machine struct {
	OS      string                       // as in runtime.GOOS
	Home    string                       // the home folder, absolute
	Project string                       // the folder of the project, "" for none
	Folder  func(variable string) string // the absolute folder a variable names, "" for none
}

// config is the folder of the user's configuration files. The system's own is that of
// programs with windows on macOS, which those of the command line do not use.
func (m Machine) config(systems bool) string {
	switch {
	case m.OS == "windows" && systems:
		if dir := m.Folder("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(m.Home, "AppData", "Roaming")
	case m.OS == "darwin" && systems:
		return filepath.Join(m.Home, "Library", "Application Support")
	}
	if dir := m.Folder("XDG_CONFIG_HOME"); dir != "" && m.OS != "darwin" {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// or is the folder that variable names, else the one below home.
func (m Machine) or(variable string, below ...string) string {
	if dir := m.Folder(variable); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{m.Home}, below...)...)
}

// Client is a program that starts servers of the protocol.
type Client struct {
	Name  string // as it is called on memd's command line
	Title string
	Note  string // what its user should know, "" for nothing

	program string                 // its command, which shows that it is installed
	user    func(Machine) []string // the file of a user's servers; the first that exists, else the last
	project []string               // the same below a project's folder; nil where it has none
	key     []string               // where servers stand in the file
	entry   func(Server) object    // how one is written; nil for TOML
}

// Clients lists the known clients. ADR 12 names where each one's file is described.
func Clients() []Client {
	servers := []string{"mcpServers"}
	return []Client{
		{Name: "claude-code", Title: "Claude Code", program: "claude", key: servers, entry: typed,
			user:    func(m Machine) []string { return []string{filepath.Join(m.or("CLAUDE_CONFIG_DIR"), ".claude.json")} },
			project: []string{".mcp.json"},
			Note:    "Claude Code writes this file too: do this while none runs, or use `claude mcp add`"},
		{Name: "claude-desktop", Title: "Claude Desktop", program: "claude-desktop", key: servers, entry: plain,
			user: func(m Machine) []string {
				return []string{filepath.Join(m.config(true), "Claude", "claude_desktop_config.json")}
			},
			Note: "Claude Desktop reads it at its start"},
		{Name: "cursor", Title: "Cursor", program: "cursor", key: servers, entry: plain,
			user:    func(m Machine) []string { return []string{filepath.Join(m.Home, ".cursor", "mcp.json")} },
			project: []string{filepath.Join(".cursor", "mcp.json")}},
		{Name: "vscode", Title: "Visual Studio Code", program: "code", key: []string{"servers"}, entry: typed,
			user:    func(m Machine) []string { return []string{filepath.Join(m.config(true), "Code", "User", "mcp.json")} },
			project: []string{filepath.Join(".vscode", "mcp.json")}},
		{Name: "codex", Title: "Codex", program: "codex", key: []string{"mcp_servers"},
			user:    func(m Machine) []string { return []string{filepath.Join(m.or("CODEX_HOME", ".codex"), "config.toml")} },
			project: []string{filepath.Join(".codex", "config.toml")}},
		{Name: "zed", Title: "Zed", program: "zed", key: []string{"context_servers"}, entry: plain,
			user: func(m Machine) []string {
				if m.OS == "windows" {
					return []string{filepath.Join(m.config(true), "Zed", "settings.json")}
				}
				return []string{filepath.Join(m.config(false), "zed", "settings.json")}
			}},
		{Name: "windsurf", Title: "Windsurf", program: "windsurf", key: servers, entry: plain,
			user: func(m Machine) []string {
				return []string{filepath.Join(m.Home, ".codeium", "windsurf", "mcp_config.json")}
			}},
		{Name: "gemini-cli", Title: "Gemini CLI", program: "gemini", key: servers, entry: plain,
			user:    func(m Machine) []string { return []string{filepath.Join(m.Home, ".gemini", "settings.json")} },
			project: []string{filepath.Join(".gemini", "settings.json")}},
		{Name: "opencode", Title: "opencode", program: "opencode", key: []string{"mcp"}, entry: listed,
			user: func(m Machine) []string {
				dir := filepath.Join(m.config(false), "opencode")
				return []string{filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")}
			},
			project: []string{"opencode.jsonc", "opencode.json"}},
	}
}

// Find returns the client of that name.
func Find(name string) (Client, bool) {
	all := Clients()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// File is where the client keeps its servers in a scope, whether it exists or not.
func (c Client) File(m Machine, scope Scope) (string, error) {
	var candidates []string
	switch {
	case scope == ScopeUser:
		candidates = c.user(m)
	case scope != ScopeProject:
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "scope", "scope is not one of %s, %s", ScopeUser, ScopeProject)
	case c.project == nil:
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "scope", "%s has no file of a project for servers", c.Title).
			WithHint("leave --scope out")
	case m.Project == "" || m.Project == m.Home || m.Project == filepath.Dir(m.Project):
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "scope", "the working folder lies in no project").
			WithHint("change to the project's folder, or leave --scope out")
	default:
		for _, file := range c.project {
			candidates = append(candidates, filepath.Join(m.Project, file))
		}
	}
	for _, file := range candidates {
		if exists(file) {
			return file, nil
		}
	}
	return candidates[len(candidates)-1], nil
}

// Installed reports whether the client seems to be on the machine: look finds its
// command, or the folder of its own files is there.
func (c Client) Installed(m Machine, look func(program string) (string, error)) bool {
	if _, err := look(c.program); err == nil {
		return true
	}
	for _, file := range c.user(m) {
		if dir := filepath.Dir(file); exists(file) || dir != m.Home && exists(dir) {
			return true
		}
	}
	return false
}
