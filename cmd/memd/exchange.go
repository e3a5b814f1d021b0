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
	}
	return exchanging(cmd, c.exportNotes(cmd), c.exportJSONL(cmd))
}

func (c *cli) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take memories in, from people or from another store",
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
