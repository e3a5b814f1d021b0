package main

import (
	"github.com/spf13/cobra"
)

// form is a form in which memories leave or enter: the flag that asks for it, and
// what runs with that flag's value.
type form struct {
	flag, usage string
	run         func(cmd *cobra.Command, place string) error
}

func (c *cli) export() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write memories out, for people or for another store",
		Long: `Write memories out: --notes makes a Markdown file of every long-term memory, and
MEMORY.md, their index, for people to read, edit and review; --jsonl writes the whole
store as lines of JSON, for another store to take in. Run again it writes what changed.

It fails (1) if a note was refused, and exits with 4 if notes are in conflict alone.`,
		Example: "  memd export --notes notes\n  memd export --notes notes --namespace user --dry-run\n  memd export --jsonl store.jsonl",
	}
	return exchanging(cmd, c.exportNotes(cmd), c.exportJSONL(cmd))
}

func (c *cli) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take memories in, from people or from another store",
		Long: `Take memories in, as often as you like and never twice: notes that people edited, an
export of another store, or what other programs keep. Guards and budgets hold as for
any write; what is refused is reported, and the rest goes on.

It fails (1) if a file, line or entry was refused, or a line is in conflict; notes and
entries in conflict alone make it exit with 4.`,
		Example: "  memd import --notes notes\n  memd import --jsonl store.jsonl\n  memd import --claude ~/.claude/projects/-src-memd/memory",
	}
	return exchanging(cmd, append([]form{c.importNotes(cmd), c.importJSONL(cmd)}, c.importOthers(cmd)...)...)
}

// exchanging makes the command of some forms, of which a run takes one.
func exchanging(cmd *cobra.Command, forms ...form) *cobra.Command {
	cmd.Args = cobra.NoArgs
	var names []string
	for _, f := range forms {
		cmd.Flags().String(f.flag, "", f.usage)
		names = append(names, f.flag)
	}
	cmd.MarkFlagsOneRequired(names...)
	cmd.MarkFlagsMutuallyExclusive(names...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, f := range forms {
			if flag := cmd.Flags().Lookup(f.flag); flag.Changed {
				return f.run(cmd, flag.Value.String())
			}
		}
		return nil // one is required
	}
	return cmd
}
