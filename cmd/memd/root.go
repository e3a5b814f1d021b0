package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memd"
)

// cli is one run of the program: its streams and what its global flags say.
type cli struct {
	in   io.Reader
	out  *bufio.Writer // flushed at the end of the run, where a full disk shows
	errs io.Writer

	configFile string
	settings   map[string]string // configuration keys set by flags
	json       bool
	wait       time.Duration

	started bool // a command took over: errors are no longer about usage
}

// run is the program: it parses args, runs the command and returns the exit
// code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	c := &cli{in: in, out: bufio.NewWriter(out), errs: errs, settings: map[string]string{}}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(c.out)
	root.SetErr(errs)
	strict(root)
	cmd, err := root.ExecuteContextC(ctx)
	if flushErr := c.out.Flush(); err == nil {
		err = flushErr
	}
	if err != nil && !c.started {
		err = usage(cmd, err)
	}
	return c.diagnose(err)
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "memd",
		Short: "Memory for AI agents, kept in SQLite on this machine",
		Long: `memd keeps what AI agents should remember: notes of a session, recent events,
and long-term knowledge with a key, a source and a date of verification.

Commands use the running daemon, or open the store themselves where none runs.
With --json they print the REST answer, a refusal's problem document included.

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 refused by a
guard, 6 store locked or busy.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: c.begin,
	}
	flags := root.PersistentFlags()
	flags.Var(setting{c.settings, "dir", "string"}, "dir", "data folder (MEMD_DIR; default $XDG_DATA_HOME/memd)")
	flags.StringVar(&c.configFile, "config", "", "configuration file (MEMD_CONFIG)")
	flags.BoolVar(&c.json, "json", false, "print the answer as JSON")
	flags.DurationVar(&c.wait, "wait", 5*time.Second, "how long to wait for a data folder in use")
	network := flags.VarPF(setting{c.settings, "allow_network_fs", "bool"}, "allow-network-fs", "",
		"accept a data folder on a network file system")
	network.NoOptDefVal = "true"
	for _, add := range []func() *cobra.Command{
		c.serve, c.mcp,
		c.remember, c.rememberLongTerm, c.note, c.session,
		c.recall, c.context, c.why, c.get, c.list,
		c.edit, c.forget, c.promote, c.archive, c.verify, c.hit,
		c.groom, c.audit, c.logCommand, c.stats, c.doctor, c.backup, c.restore, c.compact, c.rollover, c.token, c.guard, c.model, c.instructions, c.export, c.importCommand, c.watch, c.index, c.setup, c.config, c.version,
	} {
		root.AddCommand(add())
	}
	return root
}

// begin ends the reading of the command line. It refuses text that is not
// UTF-8, for which JSON would silently carry another.
func (c *cli) begin(cmd *cobra.Command, args []string) error {
	if err := cmd.ValidateFlagGroups(); err != nil {
		return err
	}
	var bad error
	paths := []string{"dir", "config", "raw-file", "to", "cwd", "path", "notes", "jsonl"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if bad == nil && !utf8.ValidString(f.Value.String()) && !slices.Contains(paths, f.Name) {
			bad = memd.FieldErrorf(memd.CodeInvalidRequest, f.Name, "--%s is not valid UTF-8", f.Name)
		}
	})
	if bad == nil && !utf8.ValidString(join(args)) {
		bad = memd.Errorf(memd.CodeInvalidRequest, "the argument is not valid UTF-8")
	}
	c.started = bad == nil
	return bad
}

// setting is a flag that sets a key of the configuration. Its text is checked
// where the file's and the environment's is: in package configs.
type setting struct {
	into map[string]string
	key  string
	kind string
}

func (s setting) Set(text string) error { s.into[s.key] = text; return nil }
func (s setting) String() string        { return s.into[s.key] }
func (s setting) Type() string          { return s.kind }
