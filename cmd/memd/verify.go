package main

import (
	"github.com/spf13/cobra"

	"memd"
)

func (c *cli) verify() *cobra.Command {
	var req memd.Verify
	cmd := &cobra.Command{
		Use:               "verify ID",
		Short:             "Say that a long-term memory was checked against its source",
		Args:              oneID("id"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, func(m *memory) error {
				reply, err := m.Verify(cmd.Context(), args[0], req)
				return show(c, reply, err, written("verified"))
			})
		},
	}
	instantVar(cmd.Flags(), &req.VerifiedAt, "verified-at", "when, if not now")
	return cmd
}
