package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/mcp"
	"memd/configs"
	"memd/internal/agents"
	"memd/internal/project"
)

func (c *cli) setup() *cobra.Command {
	var show bool
	var given mcpFlags
	scope := agents.ScopeUser
	cmd := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Have a client of the Model Context Protocol start memd",
		Long: `Have a client of the Model Context Protocol start memd: write this program among
the servers of the client's own configuration, or print what belongs there. Without
a client, list those that memd knows and which are found on this machine.

The rest of the file stays byte for byte as it is, and a copy of the file is kept
beside it. Done again, it changes nothing.`,
		Example: `  memd setup
  memd setup --print zed
  memd setup claude-code --agent reviewer`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef("memd setup lists the clients", "it is set up for one client at a time")
			case len(args) == 0 && slices.ContainsFunc([]string{"print", "scope", "agent", "project", "access", "profile"}, cmd.Flags().Changed):
				return usagef("memd setup lists the clients", "for which client?")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return clientNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			given.ownProject = cmd.Flags().Changed("project")
			server, err := c.server(given)
			if err != nil {
				return err
			}
			machine, err := thisMachine()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return c.listClients(machine, server)
			}
			client, ok := agents.Find(args[0])
			if !ok {
				return usagef("it is one of "+strings.Join(clientNames(), ", "), "memd knows no client %.40q", args[0])
			}
			if show {
				return c.printSetup(client, machine, scope, server)
			}
			return c.writeSetup(client, machine, scope, server)
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "print what belongs in the file, and write nothing")
	cmd.Flags().StringVar(&given.Agent, "agent", "", "the agent that memories are kept for, in the namespace agent/NAME")
	cmd.Flags().StringVar(&given.Project, "project", "", `the project of every session, "" for none (default that of each one's working folder)`)
	repeatedVar(cmd, &given.Access, "access", "an access tag that sessions read under")
	cmd.Flags().StringVar(&given.profile, "profile", "", "the tools: full, or the few of core")
	cmd.Flags().StringVar((*string)(&scope), "scope", string(scope), "for this user in all projects, or for the project of the working folder")
	names(cmd, "profile", []string{mcp.ProfileFull, mcp.ProfileCore})
	names(cmd, "scope", []agents.Scope{agents.ScopeUser, agents.ScopeProject})
	return cmd
}

// mcpFlags are flags of memd mcp that setup hands on.
type mcpFlags struct {
	mcp.Defaults
	ownProject bool // Project was given
	profile    string
}

// check refuses what memd mcp would.
func (f mcpFlags) check() error {
	if f.Agent != "" && !memd.ValidNamespace("agent/"+f.Agent) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "agent", "an agent's name is lower-case parts of [a-z0-9._-] joined by /, at most %d characters with agent/", memd.MaxNamespaceLen)
	}
	if slices.Contains(f.Access, "") {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "access", "an access tag is empty")
	}
	return errors.Join(mcp.CheckProfile(f.profile), f.Check())
}

// args are the flags as arguments.
func (f mcpFlags) args() (args []string) {
	if f.Agent != "" {
		args = append(args, "--agent", f.Agent)
	}
	switch {
	case f.Project != "":
		args = append(args, "--project", f.Project)
	case f.ownProject:
		args = append(args, "--project=")
	}
	for _, tag := range f.Access {
		args = append(args, "--access", tag)
	}
	if f.profile != "" {
		args = append(args, "--profile", f.profile)
	}
	return args
}

func clientNames() []string {
	var list []string
	for _, client := range agents.Clients() {
		list = append(list, client.Name)
	}
	return list
}

// thisMachine is where clients keep their files. Outside of a project it has none.
func thisMachine() (agents.Machine, error) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return agents.Machine{}, memd.Errorf(memd.CodeInvalidRequest, "without a home folder nobody knows where clients keep their files").WithHint("set HOME")
	}
	m := agents.Machine{OS: runtime.GOOS, Home: filepath.Clean(home), Folder: configs.Folder}
	if real, err := filepath.EvalSymlinks(m.Home); err == nil {
		home = real
	}
	if top, err := project.Top("."); err == nil && top != home {
		m.Project = top
	}
	return m, nil
}

// server is the command by which a client is to start this memd on this data folder.
// What a process finds by itself that knows no more than its home is left out: clients
// do not hand on every variable.
func (c *cli) server(given mcpFlags) (agents.Server, error) {
	s := agents.Server{Args: []string{"mcp"}}
	if err := given.check(); err != nil {
		return s, err
	}
	cfg, err := c.load()
	if err != nil {
		return s, err
	}
	if s.Command, err = thisBinary(); err != nil {
		return s, err
	}
	home, _ := os.UserHomeDir()
	bare := configs.Options{Env: []string{"HOME=" + home}}
	if plain, err := configs.Load(bare); cfg.File != "" && (err != nil || plain.File != cfg.File) {
		if bare.File, err = filepath.Abs(cfg.File); err != nil {
			return s, err
		}
		s.Args = append(s.Args, "--config", bare.File)
	}
	plain, err := configs.Load(bare)
	if err != nil || plain.Dir != cfg.Dir {
		s.Args = append(s.Args, "--dir", cfg.Dir)
	}
	if cfg.AllowNetworkFS && (err != nil || !plain.AllowNetworkFS) {
		s.Args = append(s.Args, "--allow-network-fs")
	}
	s.Args = append(s.Args, given.args()...)
	return s, nil
}

// thisBinary is the path of this program: the one by which it was called where that is
// the same file, for it stays when a package manager puts a new version behind it.
func thisBinary() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", memd.Errorf(memd.CodeInvalidRequest, "this program's file is gone").WithHint("run the memd that is to be set up")
	}
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		if called, err = filepath.Abs(called); err == nil {
			if other, err := os.Stat(called); err == nil && os.SameFile(info, other) {
				path = called
			}
		}
	}
	// /tmp/go-build1234/b001/exe/memd, or <cache>/go-build/ab/<hash>-d/memd
	dir := filepath.Base(filepath.Dir(path))
	passing := dir == "exe" || strings.HasSuffix(dir, "-d")
	if passing && slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), func(part string) bool { return strings.HasPrefix(part, "go-build") }) {
		return "", memd.Errorf(memd.CodeInvalidRequest, "this program was built by `go run` and is gone when it ends").
			WithHint("go build -o bin/memd ./cmd/memd, and run that one")
	}
	return path, nil
}

func (c *cli) printSetup(client agents.Client, m agents.Machine, scope agents.Scope, s agents.Server) error {
	file, err := client.File(m, scope)
	if err != nil {
		return err
	}
	snippet, err := client.Snippet(s)
	if err != nil {
		return err
	}
	if c.json {
		return c.document(struct {
			Client  string       `json:"client"`
			Scope   agents.Scope `json:"scope"`
			File    string       `json:"file"`
			Snippet string       `json:"snippet"`
		}{client.Name, scope, file, snippet})
	}
	return c.print(func(w io.Writer) {
		fmt.Fprintf(w, "This belongs in %s:\n\n%s", file, snippet)
	})
}

func (c *cli) writeSetup(client agents.Client, m agents.Machine, scope agents.Scope, s agents.Server) error {
	plan, err := client.Plan(m, scope, s)
	if err != nil {
		return err
	}
	changed := plan.Changes()
	backup, err := plan.Write(time.Now())
	if err != nil {
		return err
	}
	if c.json {
		return c.document(struct {
			Client  string       `json:"client"`
			Scope   agents.Scope `json:"scope"`
			File    string       `json:"file"`
			Changed bool         `json:"changed"`
			Backup  string       `json:"backup,omitempty"`
		}{client.Name, scope, plan.File, changed, backup})
	}
	return c.print(func(w io.Writer) {
		if !changed {
			fmt.Fprintf(w, "%s: memd is set up in %s already\n", client.Title, plan.File)
			return
		}
		fmt.Fprintf(w, "%s: memd is set up in %s\n", client.Title, plan.File)
		if backup != "" {
			fmt.Fprintf(w, "as it was: %s\n", backup)
		}
		if client.Note != "" {
			fmt.Fprintln(w, client.Note)
		}
	})
}

// listed is what the list says of one client.
type listed struct {
	Client string `json:"client"`
	Found  bool   `json:"found"`
	State  string `json:"state"` // yes, other, no, or unreadable
	File   string `json:"file"`
}

func (c *cli) listClients(m agents.Machine, s agents.Server) error {
	all := []listed{}
	for _, client := range agents.Clients() {
		file, err := client.File(m, agents.ScopeUser)
		if err != nil {
			return err
		}
		one := listed{Client: client.Name, Found: client.Installed(m, exec.LookPath), State: "no", File: file}
		plan, err := client.Plan(m, agents.ScopeUser, s)
		switch _, known := errors.AsType[*memd.Error](err); {
		case err != nil && (known || errors.Is(err, os.ErrPermission)):
			one.State = "unreadable"
		case err != nil:
			return err
		case plan.Replaces():
			one.State = "other"
		case !plan.Changes():
			one.State = "yes"
		}
		all = append(all, one)
	}
	if c.json {
		return c.document(struct {
			Clients []listed `json:"clients"`
		}{all})
	}
	lines := [][]string{{"CLIENT", "FOUND", "SET UP", "FILE"}}
	for _, one := range all {
		lines = append(lines, []string{one.Client, map[bool]string{true: "yes", false: "no"}[one.Found], one.State, one.File})
	}
	return c.print(func(w io.Writer) { table(w, lines...) })
}
