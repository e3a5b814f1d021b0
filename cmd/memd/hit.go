package main

import "github.com/spf13/cobra"

func (c *cli) hit() *cobra.Command {
	return &cobra.Command{
		Use:               "hit ID",
		Short:             "Record that a pitfall occurred again",
		Args:              oneID("id"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Hit(cmd.Context(), args[0])
				return show(c, reply, err, written("recorded"))
			})
		},
	}
}
