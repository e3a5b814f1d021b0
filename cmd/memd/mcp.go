package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"memd"
	"memd/api/client"
	"memd/api/mcp"
	"memd/configs"
	"memd/guard/fence"
	"memd/internal/background"
	"memd/internal/project"
)

const (
	// idleDaemon is how long a daemon that memd mcp starts stays without use.
	idleDaemon = 10 * time.Minute
	// lastWords bounds how long memd mcp runs when its client is gone.
	lastWords = 1900 * time.Millisecond
)

// speaker is a run of memd mcp.
type speaker struct {
	*cli
	mcp.Defaults
	ownProject bool // Defaults.Project was given
	profile    string
	noStart    bool
	idle       time.Duration
}

func (c *cli) mcp() *cobra.Command {
	s := speaker{cli: c}
	var describe bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol on stdin and stdout",
		Long: `Serve the Model Context Protocol on stdin and stdout, for a client that starts it
so (memd setup tells clients to). It ends with stdin, and with it the notes of its
session.

It speaks to the daemon of the data folder. Where none runs it starts one in the
background, which logs to memd.log in that folder and leaves when nobody used it
for a while.

Memories are read from agent/NAME, the project's namespace, user and default, of
which the first wins, and written to the first of agent/NAME, the project's and
default. The project is that of the working folder, or where this has none the first
of the client's roots that has one.`,
		Example:           "  memd mcp\n  memd mcp --agent reviewer --profile core\n  memd mcp --describe",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.ownProject = cmd.Flags().Changed("project")
			if describe {
				return s.describe()
			}
			return s.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.Agent, "agent", "", "the agent whose memories come first, and which writes to agent/NAME")
	flags.StringVar(&s.Project, "project", "", `the project, "" for none (default that of the working folder)`)
	repeatedVar(cmd, &s.Access, "access", "an access tag to read under")
	flags.StringVar(&s.profile, "profile", mcp.ProfileFull, "the tools: all, or the few of core")
	flags.BoolVar(&s.noStart, "no-start", false, "start no daemon")
	flags.DurationVar(&s.idle, "idle", idleDaemon, "how long a daemon that it starts stays without use")
	flags.BoolVar(&describe, "describe", false, "print what the tools cost a client, and serve nothing")
	names(cmd, "profile", []string{mcp.ProfileFull, mcp.ProfileCore})
	return cmd
}

// run serves one session.
func (s *speaker) run(ctx context.Context) error {
	stdout, err := takeStdout()
	if err != nil {
		return fmt.Errorf("take stdout for the protocol: %w", err)
	}
	cfg, err := s.load()
	if err != nil {
		return err
	}
	log := s.logger(cfg, slog.LevelWarn)
	if err := s.check(cfg, log); err != nil {
		return err
	}
	daemon, err := s.daemon(cfg)
	if err != nil {
		return err
	}
	c := client.New(client.Dialled(daemon.Dial)).Insisting()
	server := mcp.New(mcp.Options{
		Client:   func(context.Context) *client.Client { return c },
		Defaults: s.Defaults, ProjectOf: s.projectOf(cfg), Profile: s.profile,
		Fence:   fence.Rules{KeepLinks: cfg.Guard.Links == configs.LinksKeep},
		Version: thisBuild().Version, Log: log,
	})
	return s.serveUntil(ctx, server, mcp.NewStdio(s.in, stdout), log)
}

// check refuses what the flags cannot say, and settles the project.
func (s *speaker) check(cfg *configs.Loaded, log *slog.Logger) error {
	if s.idle < 0 {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "idle", "--idle is a time such as 10m, or 0 for never")
	}
	if !s.ownProject {
		id, err := project.ID(".", cfg.Roots)
		if err != nil { // a folder that is gone belongs to no project
			log.Warn("no project", "error", err)
		}
		s.Project = id
	}
	return errors.Join(mcp.CheckProfile(s.profile), s.Check())
}

// projectOf finds the project of a folder that the client names, unless one was given.
func (s *speaker) projectOf(cfg *configs.Loaded) func(folder string) string {
	if s.ownProject {
		return nil
	}
	return func(folder string) string {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return ""
		}
		id, err := project.ID(folder, cfg.Roots)
		if err != nil { // it is gone again
			return ""
		}
		return id
	}
}

// daemon is the folder's daemon, which this program can start.
func (s *speaker) daemon(cfg *configs.Loaded) (*background.Daemon, error) {
	o := background.Options{Dir: cfg.Dir, Wait: s.wait, AllowNetworkFS: cfg.AllowNetworkFS}
	if s.noStart {
		return background.New(o), nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start a daemon with: %w", err)
	}
	o.Command = []string{
		program, "serve", "--idle", s.idle.String(), "--listen", configs.ListenOff, "--dir", cfg.Dir,
		"--allow-network-fs=" + strconv.FormatBool(cfg.AllowNetworkFS),
	}
	if cfg.File != "" { // it runs in the data folder
		file, err := filepath.Abs(cfg.File)
		if err != nil {
			return nil, err
		}
		o.Command = append(o.Command, "--config", file)
	}
	return background.New(o), nil
}

// serveUntil serves the session until its client or a signal ends it, and not much
// longer than that, whatever is under way.
func (s *speaker) serveUntil(ctx context.Context, server *mcp.Server, stdio *mcp.Stdio, log *slog.Logger) error {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	defer stop()
	// A stderr that nobody reads any more must not end the process before the
	// session; what is started must not ignore the signal either.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, stdio) }()
	select {
	case err := <-done:
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			return nil // a client that is gone is the usual end
		}
		return err
	case <-ctx.Done():
	case <-stdio.Ended():
	}
	select {
	case <-done: // whatever could not be said any more
	case <-time.After(lastWords):
		log.Warn("the session was cut off")
	}
	return nil
}

// describe prints what the tools of a profile cost a client.
func (s *speaker) describe() error {
	d, err := mcp.Describe(s.profile)
	if err != nil {
		return err
	}
	if s.json {
		return s.document(d)
	}
	rows := [][]string{{"TOOL", "CHARACTERS", "TOKENS", "LISTED"}}
	add := func(name string, shown, listed mcp.Size) {
		rows = append(rows, []string{name, strconv.Itoa(shown.Chars), strconv.Itoa(shown.Tokens), strconv.Itoa(listed.Chars)})
	}
	for _, t := range d.Tools {
		add(t.Name, t.Shown, t.Listed)
	}
	add("all", d.Shown, d.Listed)
	return s.print(func(w io.Writer) {
		table(w, rows...)
		fmt.Fprintf(w, "\nprofile %s; tokens are estimated as a quarter of the characters of name, description and\ninput schema, which clients show the model; listed are those of all of tools/list\n", d.Profile)
	})
}
