package main

import "github.com/spf13/cobra"

func (c *cli) archive() *cobra.Command {
	return &cobra.Command{
		Use:               "archive ID",
		Short:             "Move a short memory or a resolved pitfall to the archive",
		Args:              oneID("id"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Archive(cmd.Context(), args[0])
				return show(c, reply, err, written("archived"))
			})
		},
	}
}
